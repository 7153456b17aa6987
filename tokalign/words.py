"""The characters of texts by class, byte by byte: letters, digits, punctuation, white space.

A word is a run of letters with the marks that belong to them; hyphens, apostrophes and digits are outside,
so ``biało-czerwony`` is two words. A mark (category M) is of the class of the character it follows. Several
texts are laid one behind another, each followed by one separator byte that belongs to no class, so that each
text owns the positions from its first byte up to and including its length (see ``boundaries``).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DIACRITICS = "ąćęłńóśźżĄĆĘŁŃÓŚŹŻ"
CLASSES = ("letters", "digits", "punctuation", "whitespace")
LETTER, DIGIT, PUNCTUATION, WHITESPACE = range(4)
SEPARATOR = 64
"""The class of the byte behind each text; its bit is free in a byte that holds a class and more."""
_MARK = 128
_UNSEEN = 255


@dataclass(frozen=True)
class Laid:
    """Texts laid one behind another.

    ``data``: uint8 of shape (size,), the UTF-8 of every text, each with a separator byte behind it. ``base``:
    int64 of shape (t + 1,), where each text begins; its last byte lies before ``base[i + 1] - 1``.
    ``classes``: uint8 of shape (size,), the class of the character that each byte belongs to. ``wide``: int64
    of shape (w,), the first bytes of the characters of more than one byte; ``codes``: int64 of shape (w,),
    their code points.
    """

    data: NDArray[np.uint8]
    base: NDArray[np.int64]
    classes: NDArray[np.uint8]
    wide: NDArray[np.int64]
    codes: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Bytes per text, int64 of shape (t,)."""
        return np.diff(self.base) - 1

    def words(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each word begins and ends, int64 of shape (w,) each; none crosses from text to text."""
        letter = self.classes == LETTER
        change = np.flatnonzero(letter[1:] != letter[:-1]) + 1
        edges = np.append(0, change) if letter.size and letter[0] else change
        return edges[0::2], edges[1::2]


def laid(texts: Sequence[bytes]) -> Laid:
    """Lay texts, each in UTF-8, one behind another and class their characters."""
    base = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(t) + 1 for t in texts], out=base[1:])
    joined = b"\n".join([*texts, b""])
    data = np.frombuffer(joined, dtype=np.uint8)
    classes = np.frombuffer(bytearray(joined.translate(_OF_BYTE)), dtype=np.uint8)
    wide = np.flatnonzero(data >= 0xC0)
    codes = _code_points(data, wide)
    _spread(classes, data, wide, _of_codes(codes))
    classes[base[1:] - 1] = SEPARATOR
    _attach_marks(classes)
    return Laid(data, base, classes, wide, codes)


def _code_points(data: NDArray[np.uint8], wide: NDArray[np.int64]) -> NDArray[np.int64]:
    """The code points of the characters of more than one byte that begin at ``wide``."""
    lead = data[wide]
    codes = ((lead & 0x1F).astype(np.int64) << 6) | (data[wide + 1] & 0x3F)
    for first, last, size in ((0xE0, 0xEF, 3), (0xF0, 0xFF, 4)):
        some = np.flatnonzero((lead >= first) & (lead <= last))
        if some.size:
            found = (lead[some] & (0xFF >> (size + 1))).astype(np.int64)
            for i in range(1, size):
                found = (found << 6) | (data[wide[some] + i] & 0x3F)
            codes[some] = found
    return codes


def _spread(
    classes: NDArray[np.uint8], data: NDArray[np.uint8], wide: NDArray[np.int64], found: NDArray[np.uint8]
) -> None:
    """Give every byte of the characters that begin at ``wide`` its class."""
    classes[wide] = found
    classes[wide + 1] = found
    for i, least in ((2, 0xE0), (3, 0xF0)):
        some = np.flatnonzero(data[wide] >= least)
        classes[wide[some] + i] = found[some]


def _attach_marks(classes: NDArray[np.uint8]) -> None:
    """Give every mark the class of the character it follows, or of punctuation where it follows none."""
    marks = np.flatnonzero(classes == _MARK)
    if marks.size:
        first = marks[np.append(True, np.diff(marks) > 1)]
        owner = np.where(first > 0, classes[first - 1], PUNCTUATION)
        owner[np.isin(owner, (SEPARATOR, WHITESPACE))] = PUNCTUATION
        classes[marks] = owner[np.searchsorted(first, marks, side="right") - 1]


def _of_codes(codes: NDArray[np.int64]) -> NDArray[np.uint8]:
    found = _OF_CODE[codes]
    if (found == _UNSEEN).any():
        for code in np.unique(codes[found == _UNSEEN]).tolist():
            _OF_CODE[code] = _class(code)
        found = _OF_CODE[codes]
    return found


def _class(code: int) -> int:
    character = chr(code)
    category = unicodedata.category(character)[0]
    if category == "L":
        return LETTER
    if category == "N":
        return DIGIT
    if category == "M":
        return _MARK
    return WHITESPACE if category == "Z" or character.isspace() else PUNCTUATION


_OF_CODE = np.full(0x110000, _UNSEEN, dtype=np.uint8)  # filled as code points are met
_OF_BYTE = bytes(_class(byte) if byte < 0x80 else PUNCTUATION for byte in range(256))
