"""Words of a corpus by type, so that what a word's counts depend on is looked at once, not at every occurrence.

Two occurrences are of one type if they agree in their bytes, in the boundaries of both sides strictly inside,
and in whether each side has the word as a unit of its own: a boundary behind it, and one before it or before
the one space before it. Types are told apart by 128 bits of hash, found for all words at once by running sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from tokalign.boundaries import Ints, Marks
from tokalign.index import Index, Keys
from tokalign.words import Laid

_WINDOW, _LONG = 1 << 16, 1 << 12  # positions summed at once; longer words are hashed one by one
_SPACE = 0x20


def _tables() -> tuple[Keys, Keys, Keys, Keys]:
    """Random numbers for each byte with its boundaries, and for the edges, per half of a key."""
    draw = np.random.default_rng(20_240_229)
    sizes = (1024, 1024, 4, 4)
    first, second, edge, other = (draw.integers(0, 1 << 64, size=n, dtype=np.uint64) for n in sizes)
    return first, second, edge, other


def _powers(base: int) -> Keys:
    found = np.full(_WINDOW + _LONG, base, dtype=np.uint64)
    found[0] = 1
    return np.multiply.accumulate(found)


_FIRST, _SECOND, _EDGE, _OTHER = _tables()
_ODD = 0x9E3779B97F4A7C15
_POWER, _INVERSE = _powers(_ODD), _powers(pow(_ODD, -1, 1 << 64))


@dataclass(frozen=True)
class Words:
    """Types of words laid one behind another. ``letters``: uint16 of shape (b,), each byte with the boundaries
    before it from bit 8 on; ``sizes``: int64 of shape (t,), bytes of each type; ``alone``: uint8 of shape
    (t,), the sides that have the word as a unit of its own."""

    letters: NDArray[np.uint16]
    sizes: Ints
    alone: NDArray[np.uint8]


class Types:
    """Numbers the types of words in the order in which they are met."""

    def __init__(self) -> None:
        self._index = Index()
        self._new: list[Words] = []

    @property
    def size(self) -> int:
        """How many types have been met."""
        return self._index.size

    def number(self, found: Laid, marks: Marks) -> tuple[Ints, Ints]:
        """The type of every word in order, and how many words each text has: int64 of shapes (w,), (d,)."""
        starts, ends = found.words()
        letters = _letters(found, marks, starts)
        alone = _alone(found, marks, starts, ends)
        first, second = _hashes(letters, starts, ends)
        numbers, new = self._index.add(first ^ _EDGE[alone], second ^ _OTHER[alone])
        if new.size:
            sizes = ends[new] - starts[new]
            self._new.append(Words(letters[ranges(starts[new], sizes)], sizes, alone[new]))
        return numbers, marks.per_text(starts)

    def fresh(self) -> Words:
        """The types that were met since the last call, in the order of their numbers."""
        parts, self._new = self._new, []
        return Words(
            np.concatenate([np.zeros(0, dtype=np.uint16), *(p.letters for p in parts)]),
            np.concatenate([np.zeros(0, dtype=np.int64), *(p.sizes for p in parts)]),
            np.concatenate([np.zeros(0, dtype=np.uint8), *(p.alone for p in parts)]),
        )


def ranges(starts: Ints, sizes: Ints) -> Ints:
    """The positions of ranges of one byte or more, one behind another: int64 of shape (sum of sizes,)."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


def _letters(found: Laid, marks: Marks, starts: Ints) -> NDArray[np.uint16]:
    """Every byte with the boundaries before it; those at the start of a word are outside of it."""
    inner = marks.cuts.copy()
    inner[starts] = 0
    letters: NDArray[np.uint16] = np.left_shift(inner, 8, dtype=np.uint16)
    letters |= found.data
    return letters


def _alone(found: Laid, marks: Marks, starts: Ints, ends: Ints) -> NDArray[np.uint8]:
    """The sides that have each word as a unit of its own, apart from one space before it."""
    edges = marks.edges
    spaced = edges * (found.data == _SPACE)
    return edges[ends] & (edges[starts] | spaced[starts - 1])


def _hashes(letters: NDArray[np.uint16], starts: Ints, ends: Ints) -> tuple[Keys, Keys]:
    """Both halves of the key of the letters of each word.

    The first is a polynomial in the place of the letter. The second is a plain sum of other random numbers:
    words of the same letters in another order are told apart by the first alone, all others by both.
    """
    first, second = (np.empty(starts.size, dtype=np.uint64) for _ in range(2))
    sums = np.zeros(_WINDOW + _LONG + 1, dtype=np.uint64)
    windows = np.arange(0, letters.size + _WINDOW, _WINDOW)
    places = np.searchsorted(starts, windows).tolist()
    for low, begin, end in zip(windows.tolist(), places[:-1], places[1:], strict=False):
        part = letters[low : low + _WINDOW + _LONG]
        here = sums[1 : part.size + 1]
        left = starts[begin:end] - low
        right = np.minimum(ends[begin:end] - low, part.size)
        for table, keys, power in ((_FIRST, first, True), (_SECOND, second, False)):
            np.take(table, part, out=here, mode="clip")
            if power:
                np.multiply(here, _POWER[: part.size], out=here)
            np.cumsum(here, out=here)
            found = sums[right] - sums[left]
            keys[begin:end] = found * _INVERSE[left] if power else found
    for i in np.flatnonzero(ends - starts > _LONG).tolist():
        digest = blake2b(letters[starts[i] : ends[i]].tobytes(), digest_size=16).digest()
        first[i], second[i] = np.frombuffer(digest, dtype=np.uint64)
    return first, second
