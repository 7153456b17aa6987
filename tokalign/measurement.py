"""What a measurement holds: counts that add up, so that parts of a corpus can be measured apart.

All counts are sums over documents; merging two measurements adds them, in any order and grouping, with the
same result, and what is held is bounded whatever the size of the corpus. Every frame has a declared schema.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from tokalign.counts import COUNTS, SIDES, SLICES
from tokalign.errors import ResultError
from tokalign.grid import SUMS_SCHEMA, frame
from tokalign.units import FULL, Units, merged

__all__ = ["COUNTS", "SCHEMAS", "SIDES", "SLICES", "SUMS_SCHEMA", "Measurement", "merge"]

SAMPLES = 6  # how many sample sentences are kept: those whose digest is smallest
EXCLUDED = 1000  # how many documents left out are named: the first by id

CHUNKS_SCHEMA = pl.Schema(dict.fromkeys(("n", "m", "count", "bytes"), pl.Int64()))
"""Chunks between shared boundaries by type: n target tokens, m draft tokens."""

TOKENS_SCHEMA = pl.Schema({"side": pl.String(), "id": pl.Int64(), "count": pl.Int64()})
"""How often each id occurs, per side; ids that do not occur have no row."""

QUALITY_SCHEMA = pl.Schema(
    {"check": pl.String(), "side": pl.String(), "documents": pl.Int64(), "occurrences": pl.Int64()}
)
"""Text quality: ``side`` is null for checks of the text alone, ``occurrences`` where only documents count."""

EXCLUDED_SCHEMA = pl.Schema({"document": pl.String(), "side": pl.String(), "reason": pl.String()})
"""Documents left out of every count, with the reason; ``side`` null where both are meant. The first
``EXCLUDED`` rows; how many there are in all is told by ``quality``."""

SAMPLES_SCHEMA = pl.Schema(
    {
        "digest": pl.String(),
        "document": pl.String(),
        "start": pl.Int64(),
        "text": pl.String(),
        "ends_target": pl.List(pl.Int64()),
        "ids_target": pl.List(pl.Int64()),
        "ends_draft": pl.List(pl.Int64()),
        "ids_draft": pl.List(pl.Int64()),
    }
)
"""Sentences with the tokens of both; ``start``: byte in the document, ``ends``: bytes from ``start``."""

VOCABULARY_SCHEMA = pl.Schema(
    {
        "side": pl.String(),
        "label": pl.String(),
        "fingerprint": pl.String(),
        "entries": pl.Int64(),
        "shared": pl.Int64(),
    }
)
"""One row per side: distinct byte strings of the vocabulary, and how many of them the other side has too."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """Counts of one corpus and one pair of tokenizers; ``SCHEMAS`` says what each frame holds.

    ``units``: the counts (``grid.SHAPE``) of documents, or of groups of documents where there are many.
    ``given``: how many documents the counts are about, each as often as it was given.
    """

    units: Units
    given: int
    chunks: pl.DataFrame
    token_counts: pl.DataFrame
    quality: pl.DataFrame
    excluded: pl.DataFrame
    samples: pl.DataFrame
    vocabulary: pl.DataFrame

    @cached_property
    def sums(self) -> pl.DataFrame:
        """The counts of ``units`` as a frame."""
        return frame(self.units.prefixes, self.units.counts)

    @property
    def documents(self) -> int:
        """How many documents the counts are about; documents left out are not among them.

        As long as every document is a unit of its own, documents of one id are counted once. Beyond that
        ids are not kept, and every document counts as often as it was given.
        """
        return self.units.prefixes.size if self.units.depth == FULL else self.given

    def merge(self, other: Measurement) -> Measurement:
        """The measurement of both corpora together; a document id met in both is taken as one document.

        Raises:
            ResultError: the two are about different tokenizers.
        """
        return merge([self, other])


SCHEMAS = {
    "sums": SUMS_SCHEMA,
    "chunks": CHUNKS_SCHEMA,
    "token_counts": TOKENS_SCHEMA,
    "quality": QUALITY_SCHEMA,
    "excluded": EXCLUDED_SCHEMA,
    "samples": SAMPLES_SCHEMA,
    "vocabulary": VOCABULARY_SCHEMA,
}
"""The schema of each frame of a :class:`Measurement`, by field name."""


def merge(parts: Iterable[Measurement]) -> Measurement:
    """Add up the measurements of parts of a corpus, at least one.

    Raises:
        ResultError: there is none, or they are about different tokenizers.
    """
    found = list(parts)
    if not found:
        raise ResultError("no measurement was given to merge; give at least one.")
    prints = {tuple(p.vocabulary["fingerprint"]) for p in found}
    if len(prints) > 1:
        raise ResultError(
            f"measurements of {len(prints)} different pairs of tokenizers cannot be merged; "
            "measure all parts with the same pair."
        )
    frames = {name: pl.concat([getattr(p, name) for p in found]) for name in SCHEMAS if name != "sums"}
    return Measurement(
        units=merged(p.units for p in found),
        given=sum(p.given for p in found),
        chunks=add_up(frames["chunks"], CHUNKS_SCHEMA, ("n", "m")),
        token_counts=add_up(frames["token_counts"], TOKENS_SCHEMA, ("side", "id")),
        quality=add_up(frames["quality"], QUALITY_SCHEMA),
        excluded=first_excluded(frames["excluded"]),
        samples=first_samples(frames["samples"]),
        vocabulary=found[0].vocabulary,
    )


def first_excluded(frame: pl.DataFrame) -> pl.DataFrame:
    """The first ``EXCLUDED`` distinct rows by document, side and reason."""
    return frame.unique().sort("document", "side", "reason").head(EXCLUDED)


def first_samples(frame: pl.DataFrame) -> pl.DataFrame:
    """The ``SAMPLES`` distinct sentences of smallest digest, each from the first document that has it."""
    ordered = frame.sort("digest", "document", "start")
    return ordered.unique("digest", keep="first", maintain_order=True).head(SAMPLES)


def add_up(frame: pl.DataFrame, schema: pl.Schema, keys: tuple[str, ...] = ()) -> pl.DataFrame:
    """Sum the integer columns of rows with equal keys (by default all text columns), sorted by the keys.

    A count that is null in every row stays null.
    """
    by = list(keys) or [name for name, kind in schema.items() if kind == pl.String()]
    counts = [name for name in schema if name not in by]
    sums = [pl.when(pl.col(c).is_not_null().any()).then(pl.col(c).sum()).alias(c) for c in counts]
    added = frame.group_by(by).agg(sums).sort(by, nulls_last=False)
    return added.select(pl.col(name).cast(kind) for name, kind in schema.items())
