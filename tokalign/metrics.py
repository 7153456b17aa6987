"""The table of metrics: each name with its unit, direction, definition and expression over summed counts.

Command line, report and documentation iterate ``METRICS``. A value is a ratio of sums over documents, never a
mean of ratios, and null where its denominator is empty. Intervals come from ``bootstrap``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import polars as pl

from tokalign.bootstrap import resampled
from tokalign.counts import COUNTS, SIDES
from tokalign.measurement import Measurement

Better = Literal["higher", "lower", "one", "none"]
Side = Literal["target", "draft", "pair"]

ALPHA = 2.5  # order of the Rényi entropy, after Zouhar et al. 2023
WORDS = ("inside_words", "diacritic", "inflection", "pos", "word_length")
DERIVED = ("vocabulary_shared", *(f"{n}_{s}" for n in ("vocabulary", "types", "power") for s in SIDES))


@dataclass(frozen=True, eq=False)
class Metric:
    """One metric of one side. ``value``: an expression over summed counts (``measurement.COUNTS`` and
    ``DERIVED``); ``n``: the count that the value rests on, of ``n_unit``. ``kinds``: the slice kinds it has a
    meaning for. ``better``: "one" is best at 1, "none" has no direction. ``resampled``: false where it is no
    function of counts per document, so that it has no interval."""

    name: str
    unit: str
    better: Better
    side: Side
    kinds: tuple[str, ...]
    n: pl.Expr
    n_unit: str
    value: pl.Expr
    definition: str
    resampled: bool = True


def ratio(above: str | pl.Expr, below: str | pl.Expr) -> pl.Expr:
    """Quotient of two counts, null where the denominator is 0 or null."""
    top = pl.col(above) if isinstance(above, str) else above
    bottom = pl.col(below) if isinstance(below, str) else below
    return pl.when(bottom > 0).then(top / bottom)


def _sides(
    name: str,
    unit: str,
    better: Better,
    kinds: tuple[str, ...],
    n: str,
    n_unit: str,
    value: Callable[[str], pl.Expr],
    definition: str,
    resampled: bool = True,
) -> tuple[Metric, Metric]:
    """The metric for each side: ``value`` is given the side, ``n`` may hold {side}."""

    def of(side: Literal["target", "draft"]) -> Metric:
        count = pl.col(n.format(side=side))
        return Metric(name, unit, better, side, kinds, count, n_unit, value(side), definition, resampled)

    return of("target"), of("draft")


def _entropy(side: str) -> pl.Expr:
    """Rényi entropy (nats) of the token distribution: log(Σ (c/N)^α) / (1 - α)."""
    return (pl.col(f"power_{side}").log() - ALPHA * pl.col(f"tokens_{side}").log()) / (1 - ALPHA)


def _renyi(side: str, size: str) -> pl.Expr:
    sizes = pl.col(f"{size}_{side}")
    return pl.when((sizes > 1) & (pl.col(f"tokens_{side}") > 0)).then(_entropy(side) / sizes.log())


_ALL = ("overall",)
_TEXT = ("overall", *WORDS)
_CUTS = (*_TEXT, "inside_letters", "characters")
_LETTERS = ("overall", "diacritic", "inside_letters")
_T, _D, _S, _N = (pl.col(f"boundaries_{n}") for n in ("target", "draft", "shared", "near"))
_EDITS = _T + _D - _S - _N  # matches, near misses and full misses, each counted once
_BOTH = pl.col("endings_cut_both")
_NEITHER = pl.col("endings") - pl.col("endings_cut_target") - pl.col("endings_cut_draft") + _BOTH
_UNION = pl.col("vocabulary_target") + pl.col("vocabulary_draft") - pl.col("vocabulary_shared")

# fmt: off
METRICS: tuple[Metric, ...] = (
    *_sides("fertility", "tokens/word", "lower", _ALL, "space_words", "words",
            lambda s: ratio(f"tokens_{s}", "space_words"),
            "Tokens for each word, where words are what white space separates."),
    *_sides("word_fertility", "tokens/word", "lower", WORDS, "words", "words",
            lambda s: ratio(f"tokens_{s}", "words"),
            "Tokens that reach into a word, where words are runs of letters."),
    *_sides("characters_per_token", "characters/token", "higher", _ALL, "tokens_{side}", "tokens",
            lambda s: ratio("chars", f"tokens_{s}"), "Characters of text for each token."),
    *_sides("bytes_per_token", "bytes/token", "higher", _ALL, "tokens_{side}", "tokens",
            lambda s: ratio("bytes", f"tokens_{s}"), "Bytes of UTF-8 text for each token."),
    Metric("parity", "draft tokens/target token", "one", "pair", (*_TEXT, "characters"),
           pl.col("tokens_target"), "tokens",
           ratio("tokens_draft", "tokens_target"), "Draft tokens for each target token of the same text."),
    *_sides("continued_words", "share", "lower", _TEXT, "words", "words",
            lambda s: ratio(f"continued_{s}", "words"), "Words of letters that a token boundary cuts."),
    *_sides("strr", "share", "higher", _TEXT, "words", "words",
            lambda s: ratio(f"single_{s}", "words"),
            "Single token retention rate: words of letters that are one token, apart from one space before."),
    Metric("same_words", "share", "higher", "pair", _TEXT, pl.col("words"), "words", ratio("same", "words"),
           "Words of letters that both sides cut at the same places, uncut ones included."),
    Metric("boundary_precision", "share", "higher", "pair", _CUTS, pl.col("boundaries_draft"), "boundaries",
           ratio(_S, _D),
           "Draft boundaries that are target boundaries too."),
    Metric("boundary_recall", "share", "higher", "pair", _CUTS, pl.col("boundaries_target"), "boundaries",
           ratio(_S, _T),
           "Target boundaries that are draft boundaries too."),
    Metric("boundary_f1", "share", "higher", "pair", _CUTS, _T + _D, "boundaries", ratio(2 * _S, _T + _D),
           "Harmonic mean of boundary precision and recall."),
    Metric("boundary_jaccard", "share", "higher", "pair", _CUTS, _T + _D - _S, "boundaries",
           ratio(_S, _T + _D - _S),
           "Shared boundaries among all boundaries of either side."),
    *_sides("containment", "share", "higher", _CUTS, "boundaries_{side}", "boundaries",
            lambda s: ratio("boundaries_shared", f"boundaries_{s}"),
            "Boundaries of this side that the other side has too."),
    Metric("boundary_similarity", "share", "higher", "pair", _TEXT, _EDITS, "boundaries",
           ratio(_S + _N / 2, _EDITS),
           "Boundary similarity B (Fournier 2013) at n_t = 2: shared boundaries, and at half weight near "
           "misses (one byte apart), among shared ones, near misses and misses."),
    Metric("one_to_one", "share", "higher", "pair", _ALL, pl.col("chunks"), "chunks",
           ratio("chunks_one_to_one", "chunks"),
           "Stretches between neighbouring shared boundaries that are one token on both sides."),
    *_sides("renyi_efficiency", "share", "higher", _ALL, "tokens_{side}", "tokens",
            lambda s: _renyi(s, "vocabulary"),
            "Rényi entropy (order 2.5) of the tokens over the logarithm of the vocabulary's size.",
            resampled=False),
    *_sides("renyi_efficiency_used", "share", "higher", _ALL, "tokens_{side}", "tokens",
            lambda s: _renyi(s, "types"),
            "Rényi entropy (order 2.5) of the tokens over the logarithm of the number of ids that occur.",
            resampled=False),
    Metric("vocabulary_overlap", "share", "higher", "pair", _ALL, _UNION, "entries",
           ratio("vocabulary_shared", _UNION),
           "Byte strings in both vocabularies among those in either.", resampled=False),
    *_sides("vocabulary_containment", "share", "higher", _ALL, "vocabulary_{side}", "entries",
            lambda s: ratio("vocabulary_shared", f"vocabulary_{s}"),
            "Byte strings of this vocabulary that the other one has too.", resampled=False),
    *_sides("inflection_recall", "share", "higher", _TEXT, "endings", "words",
            lambda s: ratio(f"endings_cut_{s}", "endings"),
            "Words of a known ending that have a boundary just before it."),
    *_sides("morphscore", "share", "higher", _TEXT, "endings_split_{side}", "words",
            lambda s: ratio(f"endings_cut_{s}", f"endings_split_{s}"),
            "Inflection recall among words that the side cuts at all (MorphScore, Arnett & Bergen 2025)."),
    Metric("inflection_agreement", "share", "higher", "pair", _TEXT, pl.col("endings"), "words",
           ratio(_BOTH + _NEITHER, "endings"),
           "Words of a known ending that both sides cut before it, or neither does."),
    Metric("inflection_shared", "share", "higher", "pair", _TEXT, pl.col("endings"), "words",
           ratio("endings_cut_shared", "endings"),
           "Words of a known ending that have a shared boundary just before it."),
    *_sides("letters_cut", "share", "lower", _LETTERS, "letters", "letters",
            lambda s: ratio(f"letters_cut_{s}", "letters"),
            "Letters cut inside: Polish diacritic letters; in the slice inside_letters all of many bytes."),
)
# fmt: on
"""Every metric, one entry a side, in the order in which reports show them."""

METRICS_SCHEMA = pl.Schema(
    {
        "metric": pl.String(),
        "unit": pl.String(),
        "better": pl.String(),
        "side": pl.String(),
        "slice_kind": pl.String(),
        "slice": pl.String(),
        "value": pl.Float64(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "n": pl.Int64(),
        "n_unit": pl.String(),
    }
)
"""One row per metric, side and slice. ``low``, ``high``: 95 % interval; null where there is none."""

_SLICE = ["slice_kind", "slice"]


def evaluate(measurement: Measurement, *, samples: int = 1000, seed: int = 0) -> pl.DataFrame:
    """All metrics of a measurement as a long frame (``METRICS_SCHEMA``), equal for equal input and seed.

    The 95 % intervals are percentiles over ``samples`` bootstrap samples of the documents (see
    ``bootstrap``); a slice met in fewer than two units has none, nor has a metric that is not
    ``resampled``. No documents give a frame without rows.
    """
    found = measurement.sums.group_by(_SLICE).agg(
        pl.len().alias("units"),
        *(pl.when(pl.col(c).is_not_null().any()).then(pl.col(c).sum()).alias(c) for c in COUNTS),
    )
    found = found.join(_derived(measurement), on="slice_kind", how="left").sort(_SLICE)
    draws = resampled(measurement.units, samples, seed)
    values = _long(found, METRICS, [*_SLICE, "units"])
    drawn = _long(draws, [m for m in METRICS if m.resampled], _SLICE)
    limits = drawn.group_by("index", *_SLICE).agg(
        pl.col("value").quantile(q, "linear").alias(name) for name, q in (("low", 0.025), ("high", 0.975))
    )
    rows = values.join(limits, on=["index", *_SLICE], how="left").sort("index", *_SLICE)
    known = (pl.col("units") >= 2) & pl.col("value").is_not_null()
    rows = rows.with_columns(pl.when(known).then(pl.col(c)).alias(c) for c in ("low", "high"))
    return rows.join(_described(), on="index", how="left", maintain_order="left").select(
        pl.col(name).cast(kind) for name, kind in METRICS_SCHEMA.items()
    )


def _long(sums: pl.DataFrame, metrics: tuple[Metric, ...] | list[Metric], keys: list[str]) -> pl.DataFrame:
    """Evaluate metrics on rows of counts: the keys, ``index`` into ``METRICS``, ``value``, ``n``."""
    place = {id(m): i for i, m in enumerate(METRICS)}
    parts = [
        sums.lazy()
        .filter(pl.col("slice_kind").is_in(list(m.kinds)))
        .select(
            *keys,
            pl.lit(place[id(m)]).alias("index"),
            m.value.cast(pl.Float64).alias("value"),
            m.n.cast(pl.Int64).alias("n"),
        )
        for m in metrics
    ]
    return pl.concat(pl.collect_all(parts))


def _derived(measurement: Measurement) -> pl.DataFrame:
    """What is known of the whole corpus only: one row of ``DERIVED`` for the slice kind "overall"."""
    row: dict[str, object] = {"slice_kind": "overall"}
    for side in SIDES:
        counts = measurement.token_counts.filter(side=side)["count"].cast(pl.Float64)
        entry = measurement.vocabulary.filter(side=side)
        row[f"types_{side}"] = counts.len()
        row[f"power_{side}"] = float((counts**ALPHA).sum())
        row[f"vocabulary_{side}"] = entry["entries"].sum()
        row["vocabulary_shared"] = entry["shared"].sum()
    return pl.DataFrame([row])


def _described() -> pl.DataFrame:
    rows = [(i, m.name, m.unit, m.better, m.side, m.n_unit) for i, m in enumerate(METRICS)]
    return pl.DataFrame(rows, schema=["index", "metric", "unit", "better", "side", "n_unit"], orient="row")
