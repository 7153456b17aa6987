"""A faster encoder of documents, used only where it gives the ids of the reference encoder.

It knows nothing of offsets or control tokens: it gives flat arrays of ids for texts in which every spelling is
text. Whether it can be trusted with a vocabulary is tried out on texts of the corpus and on :data:`HARD`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tokalign.tokenizers.vocabulary import is_control

HARD: tuple[str, ...] = (
    "",
    " ",
    "  dom",
    "kot , pies . 'm' 'S 'll ſ's",
    " źdźbło Źródło Łódź ŻÓŁĆ „cytat” — tak… ‘x’",
    '" źrebię" leżak\u00a0— 10\u00a0000\u00a0zł 3.14159265358979 ９９ Ⅳ ²',
    "zaz\u0307o\u0301łc\u0301 İi ﬁ Å",
    "a\r\nb\r\n\r\n\t x    y \t z\n\n\n",
    "a▁b ▁▁ ▁",
    "w źdźble 🙂 👨\u200d👩\u200d👧 🏳️\u200d🌈",
    "nie\u00adpod\u00adle\u00adgłość\u200b \ufeff\u2060 \ufffd \u2028x\u2029",
    "ala <|begin_of_text|> kot <s>ala</s> tak<|im_end|>nie <tool_call> <unk> <0x41> [INST]",
    "日本語テキスト مرحبا नमस्ते Ελληνικά кириллица",
    "x\x00y \x07\x1b \ue000 \U0010ffff",
    "ż" * 2000,
    "konstantynopolitańczykowianeczka" * 40,
    " " * 3000,
    "\n" * 500,
    "</script><!-- kot",
)
"""Texts on which encoders are known to differ."""


class FastEncoder:
    """Texts to flat ids by gigatoken, which has no control tokens here: their spellings are text."""

    def __init__(self, text: str) -> None:
        """``text``: a ``tokenizer.json``, see :func:`without_control`.

        Raises:
            Exception: gigatoken is not installed or cannot read it; it has no error type of its own.
        """
        import gigatoken

        self.text = text
        self._encoder = gigatoken.Tokenizer.from_json(text)

    def encode(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Ids of all texts, int32 of shape (n,), and where those of each begin, int64 of shape (t + 1,)."""
        if not texts:
            return np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
        layout = self._encoder.encode_batch(list(texts)).layout
        ids, offsets = np.asarray(layout.content.data), np.asarray(layout.offsets.data)
        return ids.view(np.int32), offsets.astype(np.int64, copy=False)


def without_control(spec: dict[str, Any]) -> str:
    """A parsed ``tokenizer.json`` as text again, without its control tokens."""
    text = [a for a in spec.get("added_tokens") or [] if not is_control(a)]
    return json.dumps({**spec, "added_tokens": text})


def verified(
    spec: dict[str, Any], reference: Callable[[Sequence[str]], list[list[int]]], sample: Sequence[str]
) -> FastEncoder | str:
    """The fast encoder if it gives the ids of ``reference`` for ``sample`` and ``HARD``, else why not."""
    try:
        encoder = FastEncoder(without_control(spec))
    except ImportError:
        return "gigatoken is not installed"
    except Exception as error:  # whatever the Rust side raises
        return f"gigatoken cannot read it ({_told(error)})"
    texts = [*HARD, *sample]
    try:
        ids, offsets = encoder.encode(texts)
        for i, expected in enumerate(reference(texts)):
            if not np.array_equal(ids[offsets[i] : offsets[i + 1]], np.array(expected, dtype=np.int32)):
                return f"gigatoken encodes the text {_shown(texts[i])} differently"
    except Exception as error:
        return f"gigatoken fails on them ({_told(error)})"
    return encoder


def _told(error: Exception) -> str:
    lines = str(error).splitlines() or [repr(error)]
    return lines[0] if len(lines[0]) <= 90 else f"{lines[0][:90]}…"


def _shown(text: str) -> str:
    return ascii(text) if len(text) <= 40 else f"{text[:40]!a}…"
