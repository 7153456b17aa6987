"""The grid of counts: which slices there are, which counts have a meaning for each, and its form as a frame."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tokalign.counts import COUNTS, LETTER_COUNTS, WORD_COUNTS
from tokalign.lexicon import INFLECTION, LENGTHS, NO_DIACRITIC, PARTS_OF_SPEECH
from tokalign.words import CLASSES, DIACRITICS

SUMS_SCHEMA = pl.Schema(
    {"unit": pl.UInt64(), "slice_kind": pl.String(), "slice": pl.String()} | dict.fromkeys(COUNTS, pl.Int64())
)
"""One row per unit (see ``units``), slice kind and slice. Counts without a meaning for a slice are null, never 0."""

_ALL = ("all",)
MEMBERS: dict[str, tuple[str, ...]] = {
    "overall": _ALL,
    "inside_words": _ALL,
    "diacritic": (*DIACRITICS, NO_DIACRITIC),
    "inside_letters": _ALL,
    "inflection": INFLECTION,
    "pos": PARTS_OF_SPEECH,
    "word_length": LENGTHS,
    "characters": CLASSES,
}
"""The slices of each kind, in the order in which their rows lie in the grid."""

SLICE_NAMES = tuple((kind, name) for kind, names in MEMBERS.items() for name in names)
SHAPE = (len(SLICE_NAMES), len(COUNTS))
FIRST = {kind: next(i for i, (k, _) in enumerate(SLICE_NAMES) if k == kind) for kind in MEMBERS}
"""The row at which the slices of each kind begin."""
COLUMN = {name: i for i, name in enumerate(COUNTS)}
ENDINGS = tuple(c for c in WORD_COUNTS if c.startswith("endings"))

_CUTS = ("boundaries_target", "boundaries_draft", "boundaries_shared")
_TOKENS = ("tokens_target", "tokens_draft")
# The count that tells whether a unit has anything of a slice at all.
_PRESENT = {"overall": "bytes", "inside_letters": "letters", "characters": "runs"}


def _meaning(kind: str, name: str) -> tuple[str, ...]:
    """The counts that a slice has."""
    if kind == "overall":
        return tuple(c for c in COUNTS if c != "runs")
    if kind == "inside_letters":
        return (*LETTER_COUNTS, *_CUTS)
    if kind == "characters":
        return ("runs", "bytes", "chars", *_TOKENS, *_CUTS)
    if kind == "diacritic" and name != NO_DIACRITIC:
        return (*WORD_COUNTS, *LETTER_COUNTS)
    if kind == "inflection" and name not in ("ending", "ambiguous"):
        return tuple(c for c in WORD_COUNTS if c not in ENDINGS)
    return WORD_COUNTS


MEANING = np.array([[c in _meaning(*names) for c in COUNTS] for names in SLICE_NAMES])
"""bool of shape ``SHAPE``: where a slice has a count; elsewhere it is null, never 0."""


def held(counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which slices each unit has anything of, bool of shape (u, slices), from its counts (u, *``SHAPE``)."""
    told = [COLUMN[_PRESENT.get(kind, "words")] for kind, _ in SLICE_NAMES]
    found: NDArray[np.bool_] = counts[:, np.arange(SHAPE[0]), told] > 0
    return found


def frame(units: NDArray[np.uint64], counts: NDArray[np.int64]) -> pl.DataFrame:
    """The counts (int64 of shape (u, *``SHAPE``)) as rows (``SUMS_SCHEMA``), one per unit and slice it has."""
    unit, which = np.nonzero(held(counts))
    rows, known = counts[unit, which], MEANING[which]
    kinds, names = (pl.Series(part, dtype=pl.String) for part in zip(*SLICE_NAMES, strict=True))
    columns = {
        "unit": pl.Series(units[unit], dtype=pl.UInt64),
        "slice_kind": kinds.gather(which),
        "slice": names.gather(which),
    }
    values = pl.DataFrame({c: rows[:, i] for i, c in enumerate(COUNTS)}, schema=dict.fromkeys(COUNTS, pl.Int64))
    masks = pl.DataFrame(
        {c: known[:, i] for i, c in enumerate(COUNTS)}, schema=dict.fromkeys(COUNTS, pl.Boolean)
    )
    found = pl.DataFrame(columns).with_columns(
        pl.select(pl.when(masks[c]).then(values[c]).alias(c))[c] for c in COUNTS
    )
    return found.select(pl.col(n).cast(kind) for n, kind in SUMS_SCHEMA.items()).sort(
        "unit", "slice_kind", "slice"
    )
