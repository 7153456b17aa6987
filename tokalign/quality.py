"""Characters in a corpus that change its segmentation unseen, and documents that had to be handled apart."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tokalign.counts import SIDES
from tokalign.measurement import QUALITY_SCHEMA
from tokalign.words import Laid

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

_COUNTED: dict[str, str] = {
    "soft_hyphen": "\u00ad",
    "zero_width": "\u200b\u200c\u200d\u2060\ufeff",
    "literal_marker": "▁",
    "replacement": "\ufffd",
}
"""The characters that each check counts."""

_COMPOSED = 0x300  # characters below it are in normalisation form C wherever they stand
_PLAIN, _SUSPECT, _FIRST_CHECK = 0, 1, 2
_UNSEEN = 255
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

    def read(self, texts: Sequence[str], found: Laid) -> None:
        """Count what the texts themselves show; ``found``: the same texts laid."""
        kinds = _kinds(found.codes)
        odd = np.flatnonzero(kinds)
        if not odd.size:
            return
        text = np.searchsorted(found.base, found.wide[odd], side="right") - 1
        for i in np.unique(text[kinds[odd] == _SUSPECT]).tolist():
            if not unicodedata.is_normalized("NFC", texts[i]):
                self.note("non_nfc")
        for number, check in enumerate(_COUNTED, _FIRST_CHECK):
            places = text[kinds[odd] == number]
            self._documents[check, None] += np.unique(places).size
            self._occurrences[check] += places.size

    def frame(self) -> pl.DataFrame:
        """One row per check and side (``QUALITY_SCHEMA``), rows of 0 included."""
        rows = [(c, side, n, self._occurrences.get(c)) for (c, side), n in self._documents.items()]
        return pl.DataFrame(rows, schema=QUALITY_SCHEMA, orient="row")


def _kinds(codes: NDArray[np.int64]) -> NDArray[np.uint8]:
    """What each code point is here: plain, a suspect in normalisation, or what a check counts."""
    kinds = _KIND[codes]
    if (kinds == _UNSEEN).any():
        for code in np.unique(codes[kinds == _UNSEEN]).tolist():
            _KIND[code] = _kind(chr(code))
        kinds = _KIND[codes]
    return kinds


def _kind(character: str) -> int:
    for number, characters in enumerate(_COUNTED.values(), _FIRST_CHECK):
        if character in characters:
            return number
    letter = unicodedata.category(character)[0] in "LMC"
    return _SUSPECT if letter or not unicodedata.is_normalized("NFC", character) else _PLAIN


_KIND = np.full(0x110000, _UNSEEN, dtype=np.uint8)  # filled as code points are met
_KIND[:_COMPOSED] = _PLAIN
_KIND[0xAD] = _FIRST_CHECK
