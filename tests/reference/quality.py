"""Characters in a corpus that change its segmentation unseen, and documents that had to be handled apart."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import polars as pl

from tokalign.measurement import QUALITY_SCHEMA, SIDES

_ZERO_WIDTH = re.compile("[\u200b-\u200d\u2060\ufeff]")

CHECKS: dict[str, str] = {
    "documents": "documents given",
    "empty": "documents without text; left out",
    "not_text": "documents with a lone surrogate, which is no Unicode text; left out",
    "non_nfc": "documents that are not in Unicode normalisation form C (composed letters)",
    "soft_hyphen": "soft hyphens (U+00AD)",
    "zero_width": "characters of no width (U+200B to U+200D, U+2060, U+FEFF)",
    "literal_marker": "the character ▁ (U+2581), by which SentencePiece spells a space",
    "replacement": "the replacement character (U+FFFD), left by a wrong decoding",
    "offsets_path": "documents that the tokenizer rewrites, ends come from its offsets, not its bytes",
    "unaligned": "documents whose tokens cannot be mapped back onto their bytes; left out on both sides",
}
"""The checks and what each counts."""

_COUNTED: dict[str, Callable[[str], int]] = {
    "soft_hyphen": lambda text: text.count("\u00ad"),
    "zero_width": lambda text: len(_ZERO_WIDTH.findall(text)),
    "literal_marker": lambda text: text.count("▁"),
    "replacement": lambda text: text.count("\ufffd"),
}
_PER_SIDE = ("offsets_path", "unaligned")


class Quality:
    """Tallies documents as they pass."""

    def __init__(self) -> None:
        sides = {c: SIDES if c in _PER_SIDE else (None,) for c in CHECKS}
        self._documents = {(check, side): 0 for check in CHECKS for side in sides[check]}
        self._occurrences = dict.fromkeys(_COUNTED, 0)

    def note(self, check: str, side: str | None = None) -> None:
        """Count one document under a check."""
        self._documents[check, side] += 1

    def read(self, text: str) -> None:
        """Count what the text itself shows."""
        if not unicodedata.is_normalized("NFC", text):
            self.note("non_nfc")
        for check, count in _COUNTED.items():
            if found := count(text):
                self.note(check)
                self._occurrences[check] += found

    def frame(self) -> pl.DataFrame:
        """One row per check and side (``QUALITY_SCHEMA``), rows of 0 included."""
        rows = [(c, side, n, self._occurrences.get(c)) for (c, side), n in self._documents.items()]
        return pl.DataFrame(rows, schema=QUALITY_SCHEMA, orient="row")
