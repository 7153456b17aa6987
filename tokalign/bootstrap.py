"""Bootstrap over documents: sums of counts for many samples of the corpus, drawn with replacement.

The unit is the document, since words of one document are no independent observations. Above ``UNITS``
documents, several are drawn as one unit: documents in the order of their ids are dealt to the units in turn.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from tokalign.measurement import COUNTS

UNITS = 2000
"""The most units that are drawn; it bounds time and memory, and changes an interval's width hardly at all."""


def resampled(sums: pl.DataFrame, samples: int, seed: int) -> pl.DataFrame:
    """Counts of ``samples`` bootstrap samples: rows (slice_kind, slice, sample, ``COUNTS`` as floats).

    ``sums`` has ``measurement.SUMS_SCHEMA``. Each sample draws as many units as there are, multinomially; a
    slice that a sample misses has counts of 0. Counts that are null throughout a slice are left null.
    """
    units = sums.select(pl.col("document").unique().sort().alias("document"))
    units = units.with_columns(unit=pl.int_range(pl.len(), dtype=pl.Int64) % UNITS)
    size = min(units.height, UNITS)
    placed = sums.join(units, on="document", how="left")
    weights = _weights(size, samples, seed)
    keys = ["slice_kind", "slice"]
    parts = [
        _part(part, key, weights) for key, part in placed.sort(keys).partition_by(keys, as_dict=True).items()
    ]
    return pl.concat([_empty(), *parts])


def _weights(units: int, samples: int, seed: int) -> np.ndarray:
    """How often each unit is drawn: float64 of shape (samples, units), rows adding up to ``units``."""
    generator = np.random.default_rng(seed)
    if not units:
        return np.zeros((samples, 0))
    return generator.multinomial(units, np.full(units, 1 / units), size=samples).astype(np.float64)


def _part(rows: pl.DataFrame, key: tuple[object, ...], weights: np.ndarray) -> pl.DataFrame:
    """One slice: the weighted sums over the units that have it."""
    present = [c for c in COUNTS if rows[c].null_count() < rows.height]
    summed = rows.group_by("unit").agg(pl.col(present).sum()).sort("unit")
    drawn = weights[:, summed["unit"].to_numpy()] @ summed.select(present).to_numpy().astype(np.float64)
    frame = pl.DataFrame({name: drawn[:, i] for i, name in enumerate(present)})
    missing = [pl.lit(None, dtype=pl.Float64).alias(c) for c in COUNTS if c not in present]
    names = zip(("slice_kind", "slice"), key, strict=True)
    slices = [pl.lit(value, dtype=pl.String).alias(name) for name, value in names]
    sample = pl.int_range(pl.len(), dtype=pl.Int64).alias("sample")
    return frame.with_columns(*missing).select(*slices, sample, *COUNTS)


def _empty() -> pl.DataFrame:
    kinds = {"slice_kind": pl.String(), "slice": pl.String(), "sample": pl.Int64()}
    return pl.Schema(kinds | dict.fromkeys(COUNTS, pl.Float64())).to_frame()
