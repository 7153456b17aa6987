"""Bootstrap over documents: sums of counts for many samples of the corpus, drawn with replacement.

The unit is the document, since words of one document are no independent observations; where there are many,
it is a group of documents (see ``units``).
"""

from __future__ import annotations

import numpy as np
import polars as pl

from tokalign.counts import COUNTS
from tokalign.grid import MEANING, SLICE_NAMES, held
from tokalign.units import Units


def resampled(units: Units, samples: int, seed: int) -> pl.DataFrame:
    """Counts of ``samples`` bootstrap samples: rows (slice_kind, slice, sample, ``COUNTS`` as floats).

    ``units`` hold grids of counts. Each sample draws as many units as there are, multinomially; a slice that
    a sample misses has counts of 0. Counts without a meaning for a slice are null.
    """
    weights = _weights(len(units.counts), samples, seed)
    present = np.flatnonzero(held(units.counts).any(axis=0))
    parts = [_part(i, weights @ units.counts[:, i].astype(np.float64)) for i in present]
    return pl.concat([_empty(), *parts])


def _weights(units: int, samples: int, seed: int) -> np.ndarray:
    """How often each unit is drawn: float64 of shape (samples, units), rows adding up to ``units``."""
    generator = np.random.default_rng(seed)
    if not units:
        return np.zeros((samples, 0))
    return generator.multinomial(units, np.full(units, 1 / units), size=samples).astype(np.float64)


def _part(row: int, drawn: np.ndarray) -> pl.DataFrame:
    """One slice; ``drawn``: float64 of shape (samples, ``COUNTS``)."""
    columns = {
        name: drawn[:, i] if MEANING[row, i] else pl.repeat(None, len(drawn), dtype=pl.Float64, eager=True)
        for i, name in enumerate(COUNTS)
    }
    names = zip(("slice_kind", "slice"), SLICE_NAMES[row], strict=True)
    slices = [pl.lit(value, dtype=pl.String).alias(name) for name, value in names]
    sample = pl.int_range(pl.len(), dtype=pl.Int64).alias("sample")
    return pl.DataFrame(columns).select(*slices, sample, *COUNTS)


def _empty() -> pl.DataFrame:
    kinds = {"slice_kind": pl.String(), "slice": pl.String(), "sample": pl.Int64()}
    return pl.Schema(kinds | dict.fromkeys(COUNTS, pl.Float64())).to_frame()
