"""From types of words to the counts of every slice that is about words.

Types with equal counts in equal slices are of one kind. There are far fewer kinds than types, and what a unit
holds of words is how often it has each kind; from there, counts are sums of small whole arrays.
"""

from __future__ import annotations

from math import prod

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tokalign.boundaries import BOTH, DRAFT, TARGET, Ints, near_misses
from tokalign.counts import SIDES, WORD_COUNTS
from tokalign.grid import COLUMN, ENDINGS, FIRST
from tokalign.index import Index
from tokalign.lexicon import INFLECTION, LENGTH_OF, LENGTHS, PARTS_OF_SPEECH, Lexicon
from tokalign.occurrences import Words, ranges
from tokalign.words import DIACRITICS

_LETTERS = len(DIACRITICS) + 1
_CELLS = (len(INFLECTION), len(PARTS_OF_SPEECH), len(LENGTHS))
_STRICT = slice(WORD_COUNTS.index(ENDINGS[0]), None)  # what only words of a told ending count, the last ones
_AT_ONCE = 1 << 15  # pairs of unit and kind
_ENDING = INFLECTION.index("ending")
# What is about single words, and in "overall" too; bytes, characters and tokens there are those of all the text.
_OF_TEXT = ("bytes", "chars", "tokens_", "boundaries_")
_ABOUT_WORDS = [COLUMN[c] for c in WORD_COUNTS if not c.startswith(_OF_TEXT)]
_KEYS = ("inflection", "pos", "word_length", "diacritics")  # behind the counts in a row of a kind
_LETTER_BIT = np.zeros(1 << 16, dtype=np.int64)  # by the two bytes of the letter
_LETTER_BIT[[int.from_bytes(c.encode(), "big") for c in DIACRITICS]] = 1 << np.arange(len(DIACRITICS))


class Kinds:
    """The kinds of words met so far, and the kind of each type."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._index = Index()
        self._rows = np.zeros((0, len(WORD_COUNTS) + len(_KEYS)), dtype=np.int64)
        self._of_type = np.zeros(0, dtype=np.int64)
        draw = np.random.default_rng(0)
        self._random = draw.integers(0, 1 << 64, size=(self._rows.shape[1], 2), dtype=np.uint64)

    def learn(self, types: Words) -> None:
        """Add types, numbered on from those that are known."""
        if not types.sizes.size:
            return
        rows = word_rows(types, self._lexicon)
        first, second = _mixed(rows, self._random[:, 0]), _mixed(rows, self._random[:, 1])
        numbers, new = self._index.add(first, second)
        self._rows = np.concatenate([self._rows, rows[new]])
        self._of_type = np.concatenate([self._of_type, numbers])

    def fill(self, grid: NDArray[np.int64], units: Ints, types: Ints) -> None:
        """Put word occurrences, each of a unit and a type, into the units' grids (u, *``grid.SHAPE``).

        Sums are taken in floating point, which is exact for counts below 2**53.
        """
        pairs = _tallied(units, self._of_type[types], len(self._rows))
        known = _Columns(self._rows)
        at = np.searchsorted(pairs[0], np.arange(len(grid) + 1))
        first = 0
        while first < len(grid):  # so many units at a time that a processor's cache holds what is summed
            last = max(first + 1, int(np.searchsorted(at, at[first] + _AT_ONCE, side="right")) - 1)
            unit, kind, times = (part[at[first] : at[last]] for part in pairs)
            known.fill(grid[first:last], unit - first, kind, times.astype(np.float64))
            first = last
        grid[:, FIRST["overall"], _ABOUT_WORDS] = grid[:, FIRST["inside_words"], _ABOUT_WORDS]


class _Columns:
    """What is known of all kinds of words, column by column."""

    def __init__(self, rows: NDArray[np.int64]) -> None:
        self._counts = np.ascontiguousarray(rows[:, : len(WORD_COUNTS)].T, dtype=np.float64)
        keys = rows[:, len(WORD_COUNTS) :]
        self._told = keys[:, 0] == _ENDING
        self._cell = np.ravel_multi_index(tuple(keys[:, :3].T), _CELLS)
        kinds, self._letter = np.nonzero((keys[:, 3:] >> np.arange(_LETTERS)) & 1)
        self._letters = np.bincount(kinds, minlength=len(rows))  # how many of ``_letter`` each kind has
        self._at = np.cumsum(self._letters) - self._letters

    def fill(self, grid: NDArray[np.int64], unit: Ints, kind: Ints, times: NDArray[np.float64]) -> None:
        """Put what units have ``times`` of a kind, each of shape (p,), into the units' grids."""
        size = len(grid)
        cell = unit * prod(_CELLS) + self._cell[kind]
        each = self._letters[kind]
        has = np.repeat(np.arange(kind.size), each)
        spot = unit[has] * _LETTERS + self._letter[ranges(self._at[kind], each)]
        strict = times * self._told[kind]
        found = np.empty((len(WORD_COUNTS), size, prod(_CELLS)))
        letters = np.empty((len(WORD_COUNTS), size, _LETTERS))
        for i, (name, column) in enumerate(zip(WORD_COUNTS, self._counts, strict=True)):
            count = column[kind]
            values = count * times
            found[i] = np.bincount(cell, values, found[i].size).reshape(found[i].shape)
            told = count * strict if name in ENDINGS else values
            letters[i] = np.bincount(spot, told[has], letters[i].size).reshape(letters[i].shape)
        _put(grid, "diacritic", letters)
        cells = found.reshape(-1, size, *_CELLS)
        _put(grid, "inflection", cells.sum(axis=(3, 4)))
        cells[_STRICT, :, np.arange(_CELLS[0]) != _ENDING] = 0
        words = cells.sum(axis=2)
        _put(grid, "pos", words.sum(axis=3))
        _put(grid, "word_length", words.sum(axis=2))
        _put(grid, "inside_words", words.sum(axis=(2, 3))[:, :, None])


def _put(grid: NDArray[np.int64], kind: str, counts: NDArray[np.float64]) -> None:
    """The counts of all slices of a kind, of shape (``WORD_COUNTS``, u, slices)."""
    for name, found in zip(WORD_COUNTS, counts, strict=True):
        grid[:, FIRST[kind] : FIRST[kind] + found.shape[1], COLUMN[name]] = found


def word_rows(words: Words, lexicon: Lexicon) -> NDArray[np.int64]:
    """``WORD_COUNTS`` of each type of word and its ``_KEYS``, int64 of shape (t, counts + keys).

    The counts at endings are those of words with a told or an ambiguous ending; ``diacritics`` are bits.
    """
    data, cuts = (words.letters & 0xFF).astype(np.uint8), (words.letters >> 8).astype(np.uint8)
    starts = np.cumsum(words.sizes) - words.sizes

    def within(marks: NDArray[np.bool_]) -> Ints:
        return np.add.reduceat(marks, starts, dtype=np.int64)

    near = np.zeros(cuts.size, dtype=np.bool_)
    near[near_misses(cuts)] = True
    inside = {"target": within((cuts & TARGET) > 0), "draft": within((cuts & DRAFT) > 0)}
    inside["shared"] = within(cuts == BOTH)
    chars = within((data & 0xC0) != 0x80)
    entries = lexicon.of(_forms(data, words.sizes))
    columns = {
        "bytes": words.sizes,
        "chars": chars,
        "words": np.ones_like(starts),
        **{f"tokens_{side}": 1 + inside[side] for side in SIDES},
        **{f"boundaries_{name}": count for name, count in inside.items()},
        "boundaries_near": within(near),
        **{f"continued_{side}": inside[side] > 0 for side in SIDES},
        "single_target": (inside["target"] == 0) & ((words.alone & TARGET) > 0),
        "single_draft": (inside["draft"] == 0) & ((words.alone & DRAFT) > 0),
        "same": (inside["target"] == inside["shared"]) & (inside["draft"] == inside["shared"]),
        **_endings(starts, cuts, entries["offsets"], inside),
        "inflection": entries["inflection"].to_physical().to_numpy(),
        "pos": entries["pos"].to_physical().to_numpy(),
        "word_length": LENGTH_OF[np.minimum(chars, LENGTH_OF.size - 1)],
        "diacritics": _diacritics(data, starts),
    }
    return np.stack([columns[name].astype(np.int64) for name in (*WORD_COUNTS, *_KEYS)], axis=1)


def _endings(
    starts: Ints, cuts: NDArray[np.uint8], offsets: pl.Series, inside: dict[str, Ints]
) -> dict[str, NDArray[np.bool_]]:
    """The ending counts of every word; ``offsets``: the places allowed, in bytes of the word, maybe none."""
    number = offsets.list.len().to_numpy().astype(np.int64)
    has = number > 0
    rows = np.flatnonzero(has)
    within = offsets.filter(pl.Series(has)).explode().to_numpy().astype(np.int64)
    found = cuts[np.repeat(starts[rows], number[rows]) + within]
    first = np.cumsum(number[rows]) - number[rows]
    cut = {name: np.zeros(starts.size, dtype=np.bool_) for name in ("target", "draft", "shared")}
    if rows.size:
        for name, mark in (("target", found & TARGET), ("draft", found & DRAFT), ("shared", found == BOTH)):
            cut[name][rows] = np.logical_or.reduceat(mark > 0, first)
    return {
        "endings": has,
        **{f"endings_cut_{side}": cut[side] for side in SIDES},
        "endings_cut_both": cut["target"] & cut["draft"],
        "endings_cut_shared": cut["shared"],
        **{f"endings_split_{side}": has & (inside[side] > 0) for side in SIDES},
    }


def _forms(data: NDArray[np.uint8], sizes: Ints) -> pl.Series:
    """The spelling of every word, in order."""
    lines = np.insert(data, np.cumsum(sizes), 10)
    return pl.Series("form", lines.tobytes().decode().split("\n")[:-1], dtype=pl.String)


def _diacritics(data: NDArray[np.uint8], starts: Ints) -> Ints:
    """The letters of ``DIACRITICS`` in each word as bits, or the bit behind them where there is none."""
    pairs = data.astype(np.int64) << 8
    pairs[:-1] |= data[1:]
    found = np.bitwise_or.reduceat(_LETTER_BIT[pairs], starts)
    return np.where(found > 0, found, 1 << len(DIACRITICS))


def _mixed(rows: NDArray[np.int64], random: NDArray[np.uint64]) -> NDArray[np.uint64]:
    mixed = (rows.astype(np.uint64) * random).sum(axis=1, dtype=np.uint64)
    return mixed ^ (mixed >> np.uint64(29))


def _tallied(units: Ints, kinds: Ints, size: int) -> tuple[Ints, Ints, Ints]:
    """The distinct pairs of unit and kind, ascending, and how often each occurs."""
    keys = np.sort(units * size + kinds)
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: keys.size])
    times = np.diff(np.append(first, keys.size))
    return keys[first] // size, keys[first] % size, times
