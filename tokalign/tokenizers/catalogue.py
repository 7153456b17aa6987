"""The tokenizers known by a short name: where they are published and where their vocabulary can be had offline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal


@dataclass(frozen=True)
class Carrier:
    """A vocabulary as a data file of an installed distribution.

    ``file`` is the path inside the distribution, ``sha256`` that of the file. ``form`` is the file's format,
    ``split`` the regular expression that cuts text before byte-level BPE (None for SentencePiece).
    """

    distribution: str
    file: str
    sha256: str
    form: Literal["sentencepiece", "tiktoken"]
    split: str | None = None
    normalizer: str | None = None
    ignore_merges: bool = False


@dataclass(frozen=True)
class Alias:
    """A short name. ``carrier`` is None for vocabularies that no distribution carries (APT4); those have a
    stand-in. ``control`` gives the published ids of control tokens that the carrier's file does not hold."""

    name: str
    hub: str
    vocabulary: str
    carrier: Carrier | None
    control: Mapping[int, str] = field(default_factory=dict)


_LETTERS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

MISTRAL = Carrier(
    "mistral-common",
    "mistral_common/data/tokenizer.model.v1",
    "dadfd56d766715c61d2ef780a525ab43b8e6da4de6865bda3d95fdef5e134055",
    "sentencepiece",
)
LLAMA3 = Carrier(
    "llama-models",
    "llama_models/llama3/tokenizer.model",
    "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55",
    "tiktoken",
    split=_LETTERS % "{1,3}",
    ignore_merges=True,
)
QWEN2 = Carrier(
    "dashscope",
    "dashscope/resources/qwen.tiktoken",
    "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
    "tiktoken",
    split=_LETTERS % "",
    normalizer="NFC",
)

_CHATML = {32000: "<|im_start|>", 32001: "<|im_end|>"}
_LLAMA_NAMES = (
    "begin_of_text end_of_text reserved_special_token_0 reserved_special_token_1 finetune_right_pad_id "
    "reserved_special_token_2 start_header_id end_header_id eom_id eot_id python_tag"
).split() + [f"reserved_special_token_{i}" for i in range(3, 248)]
_LLAMA = {128000 + i: f"<|{name}|>" for i, name in enumerate(_LLAMA_NAMES)}
_QWEN_NAMES = (
    "<|endoftext|> <|im_start|> <|im_end|> <|object_ref_start|> <|object_ref_end|> <|box_start|> <|box_end|> "
    "<|quad_start|> <|quad_end|> <|vision_start|> <|vision_end|> <|vision_pad|> <|image_pad|> <|video_pad|> "
    "<tool_call> </tool_call> <|fim_prefix|> <|fim_middle|> <|fim_suffix|> <|fim_pad|> <|repo_name|> <|file_sep|>"
).split()
_QWEN = {151643 + i: name for i, name in enumerate(_QWEN_NAMES)}

ALIASES: Mapping[str, Alias] = MappingProxyType(
    {
        a.name: a
        for a in (
            Alias("bielik-11b", "speakleash/Bielik-11B-v2.3-Instruct", "Mistral v1", MISTRAL, _CHATML),
            Alias("bielik-pl-11b", "speakleash/Bielik-PL-11B-v3.0-Instruct", "APT4", None),
            Alias("bielik-1.5b", "speakleash/Bielik-1.5B-v3.0-Instruct", "APT4", None),
            Alias("bielik-4.5b", "speakleash/Bielik-4.5B-v3.0-Instruct", "APT4", None),
            Alias("mistral-7b", "mistralai/Mistral-7B-v0.1", "Mistral v1", MISTRAL),
            Alias("qwen2.5-1.5b", "Qwen/Qwen2.5-1.5B-Instruct", "Qwen2", QWEN2, _QWEN),
            Alias("llama3.2-1b", "meta-llama/Llama-3.2-1B-Instruct", "Llama 3", LLAMA3, _LLAMA),
        )
    }
)
