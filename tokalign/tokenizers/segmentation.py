"""Where the tokens of texts end: of one text, and of many laid one behind another in flat arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tokalign.errors import TokalignError

Path = Literal["bytes", "offsets"]


class Unaligned(TokalignError):
    """The tokens of a text cannot be mapped back onto its bytes."""


@dataclass(frozen=True)
class Segmentation:
    """The tokens of one text. ``ids`` int32 of shape (n,); ``ends`` int64 of shape (n,): the byte offset at
    which each token ends (half-open, so token i covers ``ends[i-1]`` to ``ends[i]``), the last one equal to
    the text's length in bytes. ``path`` says how the ends were found: ``bytes`` (sums of token bytes, checked
    against the text) or ``offsets`` (the encoder's own offsets, for texts that it rewrites)."""

    ids: np.ndarray
    ends: np.ndarray
    path: Path


@dataclass(frozen=True)
class Segmentations:
    """The tokens of many texts laid one behind another.

    Each text owns one position more than it has bytes, so text i covers ``base[i]`` up to and including
    ``base[i + 1] - 1``, its end. ``ids``: int32 of shape (n,); ``ends``: int64 of shape (n,), the position at
    which each token ends, not descending; ``offsets``: int64 of shape (t + 1,), the tokens of text i are
    those from ``offsets[i]`` to ``offsets[i + 1]``; ``base``: int64 of shape (t + 1,), in bytes.
    ``rewritten``: the texts whose ends come from the encoder's offsets. ``errors``: the texts that could not
    be aligned; they have no tokens here.
    """

    ids: np.ndarray
    ends: np.ndarray
    offsets: np.ndarray
    base: np.ndarray
    rewritten: frozenset[int] = frozenset()
    errors: Mapping[int, Unaligned] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.base.size - 1

    def __getitem__(self, i: int) -> Segmentation | Unaligned:
        """The tokens of text i, positions counted from its first byte, or why there are none."""
        return self.errors[i] if i in self.errors else self.of(i)

    def of(self, i: int) -> Segmentation:
        """The tokens of an aligned text; ids are a view."""
        if not 0 <= i < len(self):
            raise IndexError(i)
        part = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
        path: Path = "offsets" if i in self.rewritten else "bytes"
        return Segmentation(self.ids[part], self.ends[part] - self.base[i], path)

    def __iter__(self) -> Iterator[Segmentation | Unaligned]:
        return (self[i] for i in range(len(self)))


def bases(sizes: np.ndarray) -> np.ndarray:
    """Where texts of so many bytes begin when laid one behind another: int64 of shape (t + 1,)."""
    return np.concatenate(([0], np.cumsum(np.asarray(sizes, dtype=np.int64) + 1)))


def joined(parts: Sequence[Segmentation | Unaligned], sizes: np.ndarray) -> Segmentations:
    """Lay the segmentations of texts of ``sizes`` bytes (int64 of shape (t,)) one behind another."""
    base = bases(sizes)
    found = [(i, part) for i, part in enumerate(parts) if isinstance(part, Segmentation)]
    counts = np.zeros(len(parts), dtype=np.int64)
    counts[[i for i, _ in found]] = [part.ids.size for _, part in found]
    return Segmentations(
        np.concatenate([np.zeros(0, dtype=np.int32), *(part.ids for _, part in found)]),
        np.concatenate([np.zeros(0, dtype=np.int64), *(part.ends + base[i] for i, part in found)]),
        np.concatenate(([0], np.cumsum(counts))),
        base,
        frozenset(i for i, part in found if part.path == "offsets"),
        {i: part for i, part in enumerate(parts) if isinstance(part, Unaligned)},
    )
