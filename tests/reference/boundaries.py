"""Token boundaries as sets of byte offsets: which ones two segmentations share, and what lies between those.

All positions are byte offsets. A token covers a half-open range that ends at its byte end; a boundary is an
offset strictly between the first and the last byte of a text, so the two edges of a text, which every
segmentation has, never count. Several texts may be laid one behind another in one coordinate if each owns one
position more than it has bytes (its own 0 up to its own length): then no two texts share a position.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Chunks:
    """The shortest stretches of text that both segmentations cover with whole tokens.

    ``ends``: int64 of shape (c,), the byte at which each chunk ends, ascending, the end of every text among
    them. ``n`` and ``m``: int64 of shape (c,), tokens of the first and of the second segmentation in the
    chunk, tokens of zero bytes included; a chunk is of type n:m.
    """

    ends: Ints
    n: Ints
    m: Ints


def interior(ends: Ints) -> Ints:
    """The boundaries of one text, int64 of shape (b,), ascending and distinct, from its tokens' byte ends.

    A token of zero bytes (a lone ▁ at the start) adds none; an empty text has none.
    """
    found = distinct(np.asarray(ends, dtype=np.int64))
    return found[(found > 0) & (found < found[-1])] if found.size else found


def distinct(places: Ints) -> Ints:
    """Positions that do not descend, each once."""
    return places[np.append(True, places[1:] != places[:-1])[: places.size]]


def shared(first: Ints, second: Ints) -> Ints:
    """The boundaries that both have; both arrays ascending and distinct."""
    return np.intersect1d(first, second, assume_unique=True)


def chunks(first: Ints, second: Ints, starts: Ints | None = None) -> Chunks:
    """Cut at every byte end that both segmentations have.

    ``first`` and ``second``: byte ends of all tokens, int64 of shape (t,), not descending, of the same texts.
    ``starts``: where the texts begin (one text beginning at 0 if left out); an end there is that of a token
    of zero bytes, which belongs to the chunk that follows.
    """
    starts = np.zeros(1, dtype=np.int64) if starts is None else starts
    common = np.setdiff1d(shared(distinct(first), distinct(second)), starts, assume_unique=True)
    n, m = (
        np.bincount(np.searchsorted(common, ends), minlength=common.size).astype(np.int64)
        for ends in (first, second)
    )
    return Chunks(common, n, m)


def near_misses(first: Ints, second: Ints) -> Ints:
    """Boundaries that the two put one byte apart, as int64 of shape (p,): the lower byte of each pair.

    Only boundaries that are not shared take part, each in one pair at most; the number of pairs is the
    largest possible. This is the transposition of boundary edit distance (Fournier 2013) at n_t = 2.
    """
    alone = [np.setdiff1d(a, b, assume_unique=True) for a, b in ((first, second), (second, first))]
    places = np.concatenate(alone)
    order = np.argsort(places, kind="stable")
    places, side = places[order], np.repeat([0, 1], [a.size for a in alone])[order]
    linked = (np.diff(places) == 1) & (np.diff(side) != 0)
    at = np.arange(linked.size)
    opens = linked & ~np.concatenate(([False], linked[:-1]))[: linked.size]
    chain = np.maximum.accumulate(np.where(opens, at, 0)) if linked.size else at
    return places[:-1][linked & ((at - chain) % 2 == 0)] if linked.size else places[:0]


def continuation_bytes(data: bytes) -> Mask:
    """Positions inside a character: bool of shape (len(data),), true before a UTF-8 continuation byte."""
    return (np.frombuffer(data, dtype=np.uint8) & 0xC0) == 0x80


def cut_characters(data: bytes, ends: Ints) -> Ints:
    """Characters with a boundary inside, as int64 of shape (k,): the byte at which each one starts.

    ``data``: the text in UTF-8; ``ends``: its tokens' byte ends. A character cut twice is given once.
    """
    inside = continuation_bytes(data)
    starts = np.flatnonzero(~inside)
    cuts = interior(ends)
    cuts = cuts[inside[cuts]]
    return distinct(starts[np.searchsorted(starts, cuts, side="right") - 1])


def mask(boundaries: Ints, size: int) -> Mask:
    """The boundaries as bool of shape (size,), true at each of them."""
    found = np.zeros(size, dtype=np.bool_)
    found[boundaries] = True
    return found


def running(marks: Mask) -> Ints:
    """How many marks lie before each position: int64 of shape (size + 1,)."""
    return np.concatenate(([0], np.cumsum(marks, dtype=np.int64)))


def count_inside(before: Ints, starts: Ints, ends: Ints) -> Ints:
    """How many marks lie strictly inside each range, start < position < end: int64 of shape (r,).

    ``before``: the marks as :func:`running` counts them; ranges of one byte or more.
    """
    return before[ends] - before[starts + 1]
