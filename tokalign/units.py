"""Counts by unit: documents grouped by a prefix of the digest of their ids, at most ``BOUND`` groups.

Up to the bound every document is a unit of its own. Beyond it, the prefix is as long as the bound allows; its
length is a function of the set of documents alone, so that parts of a corpus can be counted apart and merged
in any order and grouping with the same result.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

BOUND = 1024
FULL = 64  # bits of a digest


@dataclass(frozen=True, eq=False)
class Units:
    """``depth``: bits of the prefix; ``prefixes``: uint64 of shape (u,), ascending, the bits beyond the depth
    zero; ``counts``: int64 of shape (u, …), what is counted for each unit."""

    depth: int
    prefixes: NDArray[np.uint64]
    counts: NDArray[np.int64]

    def __getstate__(self) -> dict[str, Any]:
        """Most counts are small or zero, so that what is stored is a tenth of what is held."""
        kind = np.min_scalar_type(int(self.counts.max(initial=0)))
        packed = zlib.compress(self.counts.astype(kind).tobytes(), 1)
        shape = {"shape": self.counts.shape, "kind": kind.str, "packed": packed}
        return {"depth": self.depth, "prefixes": self.prefixes, **shape}

    def __setstate__(self, state: dict[str, Any]) -> None:
        flat = np.frombuffer(zlib.decompress(state["packed"]), dtype=state["kind"])
        counts = flat.reshape(state["shape"]).astype(np.int64)
        for name, value in (("depth", state["depth"]), ("prefixes", state["prefixes"]), ("counts", counts)):
            object.__setattr__(self, name, value)


def digests(documents: Sequence[str]) -> NDArray[np.uint64]:
    """64 bits of each id, uint64 of shape (d,)."""
    found = b"".join(blake2b(d.encode("utf-8", "surrogatepass"), digest_size=8).digest() for d in documents)
    return np.frombuffer(found, dtype=">u8").astype(np.uint64)


def grouped(
    prefixes: NDArray[np.uint64], depth: int = FULL
) -> tuple[int, NDArray[np.uint64], NDArray[np.int64]]:
    """Group digests or prefixes of ``depth`` bits: depth, prefixes of the units, and the unit of each."""
    depth = min(depth, _depth(np.unique(_cut(prefixes, depth))))
    units, which = np.unique(_cut(prefixes, depth), return_inverse=True)
    return depth, units, which


def merged(parts: Iterable[Units]) -> Units:
    """The counts of all documents together; at least one part, all of one shape."""
    found = list(parts)
    depth = min(part.depth for part in found)
    depth, prefixes, which = grouped(np.concatenate([part.prefixes for part in found]), depth)
    counts = np.zeros((prefixes.size, *found[0].counts.shape[1:]), dtype=np.int64)
    at = 0
    for part in found:
        places = which[at : at + part.prefixes.size]
        at += part.prefixes.size
        if (places[1:] > places[:-1]).all():
            counts[places] += part.counts
        else:
            counts[np.unique(places)] += summed(part.counts, places)
    return Units(depth, prefixes, counts)


def summed(rows: NDArray[np.int64], groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums of rows by group, in the order of the groups that occur."""
    if not groups.size:
        return rows
    order = np.argsort(groups, kind="stable")
    groups = groups[order]
    first = np.flatnonzero(np.append(True, groups[1:] != groups[:-1]))
    if first.size == groups.size and (order[1:] > order[:-1]).all():
        return rows
    return np.add.reduceat(rows[order], first, axis=0)


def _cut(prefixes: NDArray[np.uint64], depth: int) -> NDArray[np.uint64]:
    return prefixes & np.uint64(((1 << depth) - 1) << (FULL - depth))


def _depth(prefixes: NDArray[np.uint64]) -> int:
    """The most bits that leave at most ``BOUND`` of these distinct ascending prefixes."""
    if prefixes.size <= BOUND:
        return FULL
    alike = FULL - _bits(prefixes[1:] ^ prefixes[:-1])  # leading bits that neighbours share
    return int(np.sort(alike)[BOUND - 1])


def _bits(numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many bits each number has; halves are exact in floating point, the whole would not be."""
    high, low = numbers >> np.uint64(32), numbers & np.uint64(0xFFFFFFFF)
    high_bits, low_bits = (np.frexp(half.astype(np.float64))[1].astype(np.int64) for half in (high, low))
    return np.where(high > 0, high_bits + 32, low_bits)
