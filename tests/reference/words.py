"""Words of a text and the other runs of like characters, as byte ranges.

A word is a run of letters with the marks that belong to them; hyphens, apostrophes and digits are outside,
so ``biało-czerwony`` is two words. A mark (category M) is of the class of the character it follows. Several
texts are laid one behind another, each followed by one separator byte that belongs to no class, so that each
text owns the positions from its first byte up to and including its length (see ``boundaries``).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

DIACRITICS = "ąćęłńóśźżĄĆĘŁŃÓŚŹŻ"
CLASSES = ("letters", "digits", "punctuation", "whitespace")
LETTER, DIGIT, PUNCTUATION, WHITESPACE = range(4)
SEPARATOR = 255
_MARK = 254
_CODES = np.array([ord(c) for c in DIACRITICS], dtype=np.uint32)


@dataclass(frozen=True)
class Runs:
    """Byte ranges of equal class: ``start``, ``end`` (int64, half-open), ``chars`` (int64), ``text`` (int64:
    which text), ``kind`` (uint8: index into ``CLASSES``), all of shape (r,) in order of place."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    chars: NDArray[np.int64]
    text: NDArray[np.int64]
    kind: NDArray[np.uint8]

    def of(self, kind: int) -> Runs:
        """Only the runs of one class."""
        keep = self.kind == kind
        return Runs(self.start[keep], self.end[keep], self.chars[keep], self.text[keep], self.kind[keep])


@dataclass(frozen=True)
class Characters:
    """The characters of some texts laid one behind another.

    ``data``: uint8 of shape (size,), the UTF-8 of every text, each with a separator byte behind it. ``base``:
    int64 of shape (t + 1,), where each text begins; its last byte lies before ``base[i + 1] - 1``. ``codes``
    (uint32), ``starts`` (int64, the byte), ``classes`` (uint8: index into ``CLASSES``, or ``SEPARATOR``) and
    ``text`` (int64, which text): shape (c,), one per character, separators included.
    """

    data: NDArray[np.uint8]
    base: NDArray[np.int64]
    codes: NDArray[np.uint32]
    starts: NDArray[np.int64]
    classes: NDArray[np.uint8]
    text: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Bytes per text, int64 of shape (t,)."""
        return np.diff(self.base) - 1

    def runs(self) -> Runs:
        """Maximal runs of one class; none crosses from one text to the next."""
        change = np.flatnonzero(np.diff(self.classes)) + 1
        first = np.concatenate(([0], change)) if self.classes.size else change
        last = np.append(change, self.classes.size)[: first.size]
        keep = self.classes[first] != SEPARATOR
        first, last = first[keep], last[keep]
        starts = np.append(self.starts, self.data.size)
        return Runs(starts[first], starts[last], last - first, self.text[first], self.classes[first])

    def diacritics(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Every letter of ``DIACRITICS``: index into it, and index of the character; int64 of shape (d,)."""
        at = np.flatnonzero(np.isin(self.codes, _CODES))
        order = np.argsort(_CODES)
        return order[np.searchsorted(_CODES, self.codes[at], sorter=order)], at


def characters(texts: Sequence[str]) -> Characters:
    """Lay texts one behind another and class their characters."""
    joined = "".join([t + "\n" for t in texts])
    codes = np.frombuffer(joined.encode("utf-32-le"), dtype=np.uint32)
    sizes = 1 + sum((codes >= limit).astype(np.int64) for limit in (0x80, 0x800, 0x10000))
    places = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    counts = np.array([len(t) + 1 for t in texts], dtype=np.int64)
    limits = np.concatenate(([0], np.cumsum(counts)))
    classes = _classes(codes)
    classes[limits[1:] - 1] = SEPARATOR
    marks = classes == _MARK
    if marks.any():
        owner = np.maximum.accumulate(np.where(marks, 0, np.arange(codes.size)))
        classes = classes[owner]
        classes[marks & np.isin(classes, (_MARK, SEPARATOR, WHITESPACE))] = PUNCTUATION
    return Characters(
        np.frombuffer(joined.encode(), dtype=np.uint8),
        places[limits],
        codes,
        places[:-1],
        classes,
        np.repeat(np.arange(len(texts)), counts),
    )


def forms(found: Characters, words: Runs) -> list[str]:
    """The spelling of every word, in order."""
    if not words.start.size:
        return []
    keep = np.zeros(found.data.size + 1, dtype=np.int8)
    keep[words.start], keep[words.end] = 1, -1
    inside = np.cumsum(keep[:-1], dtype=np.int8).astype(bool)
    data = np.where(inside, found.data, 10).astype(np.uint8)
    inside[words.end] = True  # the byte behind a word now is a line feed that closes it
    return data[inside].tobytes().decode().split("\n")[:-1]


def word_spans(text: str) -> NDArray[np.int64]:
    """The words of one text as byte ranges, int64 of shape (w, 2)."""
    words = characters([text]).runs().of(LETTER)
    return np.stack((words.start, words.end), axis=1)


def _classes(codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    distinct, place = np.unique(codes, return_inverse=True)
    return np.array([_class(int(c)) for c in distinct], dtype=np.uint8)[place]


@lru_cache(maxsize=65_536)
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
