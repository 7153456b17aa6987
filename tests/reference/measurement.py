"""What a measurement holds: frames of counts that add up, so that parts of a corpus can be measured apart.

Every frame has a declared schema. All counts are sums over documents; merging two measurements adds them, in
any order and grouping, with the same result.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import polars as pl

from tokalign.errors import ResultError

SIDES = ("target", "draft")
SAMPLES = 6  # how many sample sentences are kept: those whose digest is smallest

SLICES: dict[str, str] = {
    "overall": "all the text",
    "inside_words": "the positions inside words, and the words",
    "diacritic": "words that hold the letter, and the letter itself; 'none' are words without any",
    "inside_letters": "the positions inside letters of more than one byte",
    "inflection": "words by what the dictionary says of their ending",
    "pos": "words by part of speech, 'unknown' where the dictionary has none",
    "word_length": "words by their length in characters",
    "characters": "runs of like characters; a boundary is of the class of the character that follows it",
}
"""Kinds of slices: what the counts of each are about."""

# Counts that add up over words.
WORD_COUNTS = (
    "bytes",
    "chars",
    "words",  # runs of letters and marks
    "tokens_target",  # tokens that reach into the word, once for each word; in "overall" all tokens
    "tokens_draft",
    "boundaries_target",  # boundaries strictly inside the word; in "overall" inside the document
    "boundaries_draft",
    "boundaries_shared",
    "boundaries_near",  # pairs of unshared boundaries one byte apart, see boundaries.near_misses
    "continued_target",  # words cut at least once
    "continued_draft",
    "single_target",  # words that one token holds, with nothing but one space before them
    "single_draft",
    "same",  # words cut at the same places by both
    "endings",  # words whose ending the dictionary tells ("ambiguous": any of the endings it allows)
    "endings_cut_target",  # of these, words with a boundary before the ending
    "endings_cut_draft",
    "endings_cut_both",  # cut by both, at any place allowed
    "endings_cut_shared",  # cut by both at one place
    "endings_split_target",  # endings whose word is cut anywhere
    "endings_split_draft",
)
LETTER_COUNTS = ("letters", "letters_cut_target", "letters_cut_draft", "letters_cut_both")
DOCUMENT_COUNTS = ("space_words", "chunks", "chunks_one_to_one")
COUNTS = (*WORD_COUNTS, *LETTER_COUNTS, "runs", *DOCUMENT_COUNTS)

SUMS_SCHEMA = pl.Schema(
    dict.fromkeys(("document", "slice_kind", "slice"), pl.String()) | dict.fromkeys(COUNTS, pl.Int64())
)
"""One row per document, slice kind and slice. Counts that have no meaning for a slice are null, never 0."""

CHUNKS_SCHEMA = pl.Schema(
    {"document": pl.String(), "n": pl.Int64(), "m": pl.Int64(), "count": pl.Int64(), "bytes": pl.Int64()}
)
"""Chunks between shared boundaries by document and type: n target tokens, m draft tokens."""

TOKENS_SCHEMA = pl.Schema({"side": pl.String(), "id": pl.Int64(), "count": pl.Int64()})
"""How often each id occurs, per side; ids that do not occur have no row."""

QUALITY_SCHEMA = pl.Schema(
    {"check": pl.String(), "side": pl.String(), "documents": pl.Int64(), "occurrences": pl.Int64()}
)
"""Text quality: ``side`` is null for checks of the text alone, ``occurrences`` where only documents count."""

EXCLUDED_SCHEMA = pl.Schema({"document": pl.String(), "side": pl.String(), "reason": pl.String()})
"""Documents left out of every count, with the reason; ``side`` null where both are meant."""

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


@dataclass(frozen=True)
class Measurement:
    """Counts of one corpus and one pair of tokenizers; ``SCHEMAS`` says what each frame holds."""

    sums: pl.DataFrame
    chunks: pl.DataFrame
    token_counts: pl.DataFrame
    quality: pl.DataFrame
    excluded: pl.DataFrame
    samples: pl.DataFrame
    vocabulary: pl.DataFrame

    @property
    def documents(self) -> int:
        """How many documents the counts are about; documents left out are not among them."""
        return self.sums["document"].n_unique()

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
    frames = {f.name: pl.concat([getattr(p, f.name) for p in found]) for f in fields(Measurement)}
    return Measurement(
        sums=add_up(frames["sums"], SUMS_SCHEMA),
        chunks=add_up(frames["chunks"], CHUNKS_SCHEMA, ("document", "n", "m")),
        token_counts=add_up(frames["token_counts"], TOKENS_SCHEMA, ("side", "id")),
        quality=add_up(frames["quality"], QUALITY_SCHEMA),
        excluded=frames["excluded"].unique().sort("document", "side", "reason"),
        samples=first_samples(frames["samples"]),
        vocabulary=found[0].vocabulary,
    )


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
