"""Drawing documents: the same for a seed on every machine, in one pass, in bounded memory."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable
from typing import TypeVar

from tokalign.errors import CorpusUsageError

T = TypeVar("T")

METHOD = "drawn by the smallest SHA-256 of seed and position"


def check_sample(sample: int | None) -> None:
    """Raise CorpusUsageError unless ``sample`` is None (everything) or at least 1."""
    if sample is not None and sample < 1:
        raise CorpusUsageError(
            f"a sample of {sample} documents cannot be drawn: give at least 1, or no size for all"
        )


def draw(items: Iterable[T], size: int | None, seed: int) -> tuple[list[T], int]:
    """``size`` of the items (all for None), in their order, with the number of items seen.

    Bottom-k sampling: item *i* has the key SHA-256("seed:i") and the ``size`` smallest keys stay. Every
    subset is equally likely over seeds, a sample of n lies inside the sample of n + 1, and neither the
    random generator of Python nor the length of the input matters. Memory: ``size`` items.
    """
    if size is None:
        everything = list(items)
        return everything, len(everything)
    heap: list[tuple[int, int, T]] = []  # (minus key, position, item): the largest key on top
    seen = 0
    for position, item in enumerate(items):
        seen = position + 1
        key = -int.from_bytes(hashlib.sha256(f"{seed}:{position}".encode()).digest(), "big")
        if len(heap) < size:
            heapq.heappush(heap, (key, position, item))
        elif key > heap[0][0]:
            heapq.heapreplace(heap, (key, position, item))
    return [item for _, _, item in sorted(heap, key=lambda entry: entry[1])], seen
