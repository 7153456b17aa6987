"""The boundaries of two segmentations as bits of each position, and what lies between those they share.

Positions are those of :class:`tokalign.words.Laid`: texts laid one behind another, each owning one position
more than it has bytes. ``TARGET`` and ``DRAFT`` are the bits of the two sides, ``BOTH`` is a shared boundary.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tokalign.tokenizers import Segmentations

TARGET, DRAFT, BOTH = 1, 2, 3
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Bits = NDArray[np.uint8]


@dataclass(frozen=True)
class Marks:
    """Two segmentations of the same texts, which begin at ``base`` (int64 of shape (t + 1,))."""

    target: Segmentations
    draft: Segmentations
    base: Ints

    @cached_property
    def reached(self) -> Bits:
        """Which sides have a token that ends at each position, uint8 of shape (size,)."""
        found, other = (np.zeros(int(self.base[-1]), dtype=np.uint8) for _ in range(2))
        found[self.target.ends] = TARGET
        other[self.draft.ends] = DRAFT
        return np.bitwise_or(found, other, out=found)

    @cached_property
    def cuts(self) -> Bits:
        """The boundaries strictly inside texts."""
        found = self.reached.copy()
        found[self.base[:-1]] = found[self.base[1:] - 1] = 0
        return found

    @cached_property
    def edges(self) -> Bits:
        """The boundaries and the edges of the texts, which both sides have."""
        found = self.reached.copy()
        found[self.base[:-1]] = found[self.base[1:] - 1] = BOTH
        return found

    @cached_property
    def chunk_ends(self) -> Ints:
        """Where both sides end a token; an end at a text's start is that of a token of zero bytes."""
        return np.flatnonzero(self._common)

    @cached_property
    def _common(self) -> Mask:
        common = self.reached == BOTH
        common[self.base[:-1]] = False
        return common

    def chunk_tokens(self, side: Segmentations) -> Ints:
        """How many tokens of one side each chunk has, those of zero bytes included: int64 of shape (c,)."""
        last = self._common[side.ends]
        bit = TARGET if side is self.target else DRAFT
        if np.count_nonzero(self.reached & bit) < side.ends.size:  # tokens of zero bytes end where others do
            last[:-1] &= side.ends[1:] != side.ends[:-1]
        return np.diff(np.flatnonzero(last), prepend=-1)

    def chunk_bytes(self) -> Ints:
        """Bytes of each chunk, int64 of shape (c,)."""
        found = np.diff(self.chunk_ends, prepend=0)
        first = np.searchsorted(self.chunk_ends, self.base[:-1], side="right")
        held = first < found.size
        found[first[held]] = self.chunk_ends[first[held]] - self.base[:-1][held]
        return found

    def per_text(self, places: Ints) -> Ints:
        """How many of some ascending positions lie in each text: int64 of shape (t,)."""
        return np.diff(np.searchsorted(places, self.base))


def near_misses(cuts: Bits) -> Ints:
    """Boundaries that the two put one byte apart, as int64 of shape (p,): the lower position of each pair.

    Only boundaries that are not shared take part, each in one pair at most; the number of pairs is the
    largest possible. This is the transposition of boundary edit distance (Fournier 2013) at n_t = 2.
    """
    lower, upper = cuts[:-1], cuts[1:]
    linked = ((lower ^ upper) == BOTH) & (((lower + 1) & 2) != 0)  # 1 beside 2, but not 0 beside 3
    places = np.flatnonzero(linked)
    opens = np.append(True, np.diff(places) != 1)[: places.size]
    at = np.arange(places.size)
    chain = np.maximum.accumulate(np.where(opens, at, 0)) if places.size else at
    return places[(at - chain) % 2 == 0]
