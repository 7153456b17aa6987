"""Dense numbers for keys of 128 random bits, looked up for whole arrays at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class Index:
    """An open hash table from keys to 0, 1, 2, … in the order in which they were added.

    A key has two independent halves, of which the first says where to look and both are compared: with a
    thousand million keys, two are mixed up with a probability below 1e-19.
    """

    def __init__(self) -> None:
        self.size = 0
        self._room(1 << 12)

    def find(self, first: Keys, second: Keys) -> NDArray[np.int64]:
        """The number of each key, -1 where it is not known; int64 of shape (n,)."""
        slot = self._slot(first)
        found = self._number[slot]
        wrong = (found >= 0) & ((self._first[slot] != first) | (self._second[slot] != second))
        rest = np.flatnonzero(wrong)
        while rest.size:
            slot[rest] = (slot[rest] + 1) & self._mask
            at = slot[rest]
            found[rest] = self._number[at]
            taken = (self._first[at] != first[rest]) | (self._second[at] != second[rest])
            rest = rest[(found[rest] >= 0) & taken]
        return found

    def add(self, first: Keys, second: Keys) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The number of each key, new ones included, and where each new one is met first.

        Returns int64 of shape (n,) and (new,); the new keys are numbered in the order of the latter.
        """
        numbers = self.find(first, second)
        missing = np.flatnonzero(numbers < 0)
        if not missing.size:
            return numbers, missing
        _, at, which = np.unique(first[missing], return_index=True, return_inverse=True)
        place = missing[at]
        numbers[missing] = self.size + which
        if (second[missing] != second[place][which]).any():  # equal in the first half alone
            pairs = np.stack((first[missing], second[missing]), axis=1)
            _, at, which = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
            place = missing[at]
            numbers[missing] = self.size + which.ravel()
        while 2 * (self.size + place.size) > self._number.size:
            self._grow()
        self._insert(first[place], second[place], np.arange(self.size, self.size + place.size))
        self.size += place.size
        return numbers, place

    def _slot(self, first: Keys) -> NDArray[np.int64]:
        return ((first * _SPREAD) >> self._shift).astype(np.int64)

    def _room(self, slots: int) -> None:
        self._mask = slots - 1
        self._shift = np.uint64(64 - (slots.bit_length() - 1))
        self._first = np.zeros(slots, dtype=np.uint64)
        self._second = np.zeros(slots, dtype=np.uint64)
        self._number = np.full(slots, -1, dtype=np.int64)

    def _grow(self) -> None:
        full = np.flatnonzero(self._number >= 0)
        old = self._first[full], self._second[full], self._number[full]
        self._room(2 * self._number.size)
        self._insert(*old)

    def _insert(self, first: Keys, second: Keys, numbers: NDArray[np.int64]) -> None:
        """Put distinct keys that are not there yet into the first free slots; of several for one, one wins."""
        slot = self._slot(first)
        rest = np.arange(first.size)
        while rest.size:
            at = slot[rest]
            free = self._number[at] < 0
            self._number[at[free]] = numbers[rest[free]]
            won = self._number[at] == numbers[rest]
            self._first[at[won]], self._second[at[won]] = first[rest[won]], second[rest[won]]
            rest = rest[~won]
            slot[rest] = (slot[rest] + 1) & self._mask
