"""Loading a model with everything decoding needs to know of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx

from decoder.errors import ModelError, UnknownModel
from tokalign.tokenizers import ALIASES, Source, Tokenizer


@dataclass(frozen=True)
class Loaded:
    """A model, mlx-lm's tokenizer wrapper, and the vocabulary as bytes. ``eos`` are the ids that end a text."""

    name: str
    model: Any
    wrapper: Any
    tokenizer: Tokenizer
    eos: frozenset[int]

    @property
    def rows(self) -> int:
        """The number of logits that the model gives."""
        return int(self.model(mx.array([[0]])).shape[-1])

    def encode_prompt(self, prompt: str) -> list[int]:
        """Prompt text to ids with the model's own special tokens, as mlx-lm encodes it."""
        bos = self.wrapper.bos_token
        ids = self.wrapper.encode(prompt, add_special_tokens=bos is None or not prompt.startswith(bos))
        return list(ids) or self._start()

    def encode_chat(self, messages: Sequence[dict[str, str]]) -> list[int]:
        """A conversation in the model's own chat template, up to where its reply begins.

        A model without a template gets the contents as paragraphs.
        """
        if self.has_chat_template:
            try:
                return list(self.wrapper.apply_chat_template(list(messages), add_generation_prompt=True))
            except Exception as error:  # a template may raise anything, and refuses roles that it does not know
                raise ModelError(
                    f"the chat template of {self.name!r} refuses the conversation: {_first_line(error)}; "
                    "give other messages, or the prompt as plain text."
                ) from error
        return self.encode_prompt("\n\n".join(m["content"] for m in messages) + "\n\n")

    @property
    def has_chat_template(self) -> bool:
        """Whether the model comes with a chat template."""
        return bool(getattr(self.wrapper, "has_chat_template", False))

    @property
    def end(self) -> int | None:
        """The id that usually ends a text: the tokenizer's own end of sequence, among those of the model."""
        own = self.wrapper.eos_token_id
        return own if own in self.eos else min(self.eos, default=None)

    def _start(self) -> list[int]:
        start = self.wrapper.bos_token_id
        if start is None:
            start = self.end
        if start is None:
            raise ModelError(
                f"the prompt is empty and the model {self.name!r} has no token to begin with; give some text."
            )
        return [start]


def load_model(name: str, role: str, *, float32: bool = False, lazy: bool = False) -> Loaded:
    """Load a model by path, hub id or tokalign alias; ``role`` is 'target' or 'draft', for messages.

    ``float32`` dequantizes and computes in float32: slow, and the arithmetic in which token identity is shown.
    ``lazy`` leaves the weights on disk until they are used.

    Raises:
        ModelError: the model cannot be loaded, or its tokenizer has no tokenizer.json form.
    """
    from mlx_lm import load

    where = ALIASES[name].hub if name in ALIASES else name
    if "/" not in where and not Path(where).expanduser().exists():
        raise UnknownModel(
            f"there is no {role} {name!r}: it is no folder here, no hub id (owner/name) and no alias "
            f"({', '.join(ALIASES)})."
        )
    try:
        model, wrapper = load(where, lazy=lazy)[:2]
    except Exception as error:
        raise ModelError(
            f"the {role} {name!r} cannot be loaded: {_first_line(error)}; give the folder of an MLX model or a "
            "hub id that mlx-lm can open."
        ) from error
    if float32:
        model = in_float32(model)
    backend = getattr(getattr(wrapper, "_tokenizer", wrapper), "backend_tokenizer", None)
    if backend is None:
        raise ModelError(
            f"the tokenizer of the {role} {name!r} has no fast form, from which ids could be read as bytes; "
            "put a tokenizer.json into the model's folder."
        )
    tokenizer = Tokenizer.from_json(backend.to_str(), name, Source("path", where))
    return Loaded(name, model, wrapper, tokenizer, frozenset(wrapper.eos_token_ids))


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def in_float32(model: Any) -> Any:
    """The model with dequantized float32 weights."""
    from mlx_lm.utils import dequantize_model

    model = dequantize_model(model)
    model.set_dtype(mx.float32)
    mx.eval(model.parameters())
    return model
