"""How often each type of chunk occurs: n target tokens against m draft tokens, between shared boundaries."""

from __future__ import annotations

import numpy as np
import polars as pl

from tokalign.boundaries import Ints, Marks
from tokalign.measurement import CHUNKS_SCHEMA, add_up

_SMALL = 64  # chunks of fewer tokens on both sides are counted in a table, the few others in a frame


class Chunks:
    """Tallies the chunks of batches."""

    def __init__(self) -> None:
        self._count, self._bytes = (np.zeros(_SMALL * _SMALL, dtype=np.int64) for _ in range(2))
        self._large = CHUNKS_SCHEMA.to_frame()

    def add(self, marks: Marks) -> Ints:
        """Count all chunks; returns where those of one token on both sides end, ascending."""
        n, m = marks.chunk_tokens(marks.target), marks.chunk_tokens(marks.draft)
        size = marks.chunk_bytes()
        if max(n.max(initial=0), m.max(initial=0)) >= _SMALL:
            large = np.flatnonzero((n >= _SMALL) | (m >= _SMALL))
            columns = {"n": n[large], "m": m[large], "count": np.ones_like(large), "bytes": size[large]}
            rows = pl.DataFrame(columns, schema=CHUNKS_SCHEMA)
            self._large = add_up(pl.concat([self._large, rows]), CHUNKS_SCHEMA, ("n", "m"))
            n[large] = m[large] = size[large] = 0
        key = n * _SMALL + m
        self._count += np.bincount(key, minlength=self._count.size)
        self._bytes += np.bincount(key, weights=size, minlength=self._bytes.size).astype(np.int64)
        return marks.chunk_ends[key == _SMALL + 1]

    def frame(self) -> pl.DataFrame:
        """One row per type (``CHUNKS_SCHEMA``), sorted."""
        key = np.flatnonzero(self._count)
        key = key[key > 0]
        n, m = np.divmod(key, _SMALL)
        columns = {"n": n, "m": m, "count": self._count[key], "bytes": self._bytes[key]}
        return pl.concat([pl.DataFrame(columns, schema=CHUNKS_SCHEMA), self._large]).sort("n", "m")
