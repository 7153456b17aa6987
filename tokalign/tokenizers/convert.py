"""Bring SentencePiece and tiktoken files to the ``tokenizer.json`` form, once; later loads read the copy kept."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tokalign.errors import TokenizerUnusable
from tokalign.files import cache_folder, write_text
from tokalign.tokenizers.catalogue import Carrier

_FORM = 1  # raised when the conversion changes, so that copies made by an older one are not read


def sha256_of(path: Path) -> str:
    """SHA-256 (hex) of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sentencepiece_json(model: Path) -> str:
    """A SentencePiece ``.model`` as the text of a ``tokenizer.json``."""
    return _kept(sha256_of(model), lambda: _convert_sentencepiece(model))


def tiktoken_json(ranks: Path, carrier: Carrier) -> str:
    """A tiktoken rank file as the text of a ``tokenizer.json``, with the carrier's cuts and control tokens."""
    rules = json.dumps([carrier.split, carrier.normalizer, carrier.ignore_merges])
    key = hashlib.sha256((sha256_of(ranks) + rules).encode()).hexdigest()
    return _kept(key, lambda: _convert_tiktoken(ranks, carrier))


def _kept(key: str, convert: Callable[[], str]) -> str:
    path = cache_folder() / f"tokenizer-{_FORM}-{key[:32]}.json"
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8")
    text = convert()
    with suppress(OSError):  # a read-only or full home only costs the next start a conversion
        write_text(path, text)
    return text


def _convert_sentencepiece(model: Path) -> str:
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # it warns that PyTorch is absent; none is needed
    from transformers import AutoTokenizer

    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(model, Path(folder) / "tokenizer.model")
        (Path(folder) / "tokenizer_config.json").write_text('{"tokenizer_class": "LlamaTokenizer"}')
        try:
            return AutoTokenizer.from_pretrained(folder).backend_tokenizer.to_str()
        except Exception as error:
            raise TokenizerUnusable(
                f"{model} cannot be read as a SentencePiece model: {error}; check that the download is complete."
            ) from error


def _convert_tiktoken(ranks: Path, carrier: Carrier) -> str:
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    from transformers.convert_slow_tokenizer import TikTokenConverter

    try:
        spec = json.loads(TikTokenConverter(vocab_file=str(ranks), pattern=carrier.split).converted().to_str())
    except Exception as error:
        raise TokenizerUnusable(f"{ranks} cannot be read as tiktoken ranks: {error}") from error
    spec["model"]["ignore_merges"] = carrier.ignore_merges
    spec["normalizer"] = {"type": carrier.normalizer} if carrier.normalizer else None
    return json.dumps(spec, ensure_ascii=False)
