"""What every translation gets out of a perfect draft, for every window: the curve over p."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
import polars as pl

from tokalign.tokenizers import Segmentation, Tokenizer, Unaligned
from tokalign.translate import (
    CountedTranslator,
    ExactTranslator,
    LengthTranslator,
    NaiveTranslator,
    Translation,
    Translator,
)
from tokalign.tune.rounds import Cut, sample_cuts

KS = (2, 4, 6)
LARGEST_P = 16
CUTS = 1000
RESAMPLES = 1000

SCHEMA = pl.Schema(
    {
        "method": pl.String,  # exact | anchored | length | counted | naive
        "k": pl.Int64,  # draft tokens a round
        "p": pl.Int64,  # committed tokens in the window; null for anchored and naive
        "fidelity": pl.Float64,  # candidates equal to the true encoding, over the ceiling; ratio of sums
        "low": pl.Float64,  # 95 % interval, bootstrap over documents; null with fewer than two documents
        "high": pl.Float64,
        "ceiling": pl.Float64,  # true target tokens wholly inside the drafted text, a round
        "zero_candidate": pl.Float64,  # share of rounds without a candidate
        "merged": pl.Float64,  # share of rounds in which no token boundary fell on the committed end
        "last_cut": pl.Float64,  # share of rounds in which the draft's end cut the last candidate short
        "window": pl.Float64,  # committed tokens encoded with the draft, mean
        "host_us": pl.Float64,  # microseconds a translation takes on this machine, median
        "n_rounds": pl.Int64,
        "n_documents": pl.Int64,
    }
)

Key = tuple[str, int | None, int]  # method, p, k


@dataclass(frozen=True)
class Curve:
    """``frame`` has the columns of `SCHEMA`, one row for a method, p and k. ``hits`` holds for each of them
    the candidates that were right, summed by document (float64 of shape (documents,)); ``ceilings`` the
    ceiling by k in the same form: what paired intervals are drawn from with ``seed``."""

    frame: pl.DataFrame
    hits: Mapping[Key, np.ndarray]
    ceilings: Mapping[int, np.ndarray]
    seed: int

    @property
    def n_documents(self) -> int:
        """Documents that hold at least one cut."""
        return len(next(iter(self.ceilings.values()), ()))

    def fidelities(self, key: Key) -> np.ndarray:
        """The fidelity under every resampling of documents, the same ones for every key; shape
        (resamples,)."""
        weights = _weights(self.n_documents, self.seed)
        return (weights @ self.hits[key]) / np.maximum(weights @ self.ceilings[key[2]], 1)


def tune(
    target: Tokenizer,
    draft: Tokenizer,
    texts: Sequence[str],
    segmentations: Sequence[Segmentation | Unaligned] | None = None,
    *,
    ks: Sequence[int] = KS,
    n: int = CUTS,
    seed: int = 0,
    advance: Callable[[float], None] | None = None,
) -> Curve:
    """Measure every method at ``n`` cuts of ``texts`` (fewer where the texts hold fewer).

    ``segmentations`` are the target's, if they are at hand. ``advance`` is called with the share of the work
    that each step was. Without a single cut every measure is null and ``n_rounds`` zero.
    """
    if segmentations is None:
        segmentations = target.segment_batch(texts)
    cuts = sample_cuts(target, draft, texts, segmentations, n=n, k=max(ks), seed=seed)
    numbers = {document: i for i, document in enumerate(sorted({c.document for c in cuts}))}
    owner = np.array([numbers[c.document] for c in cuts], dtype=np.int64)
    ceilings = {k: _by_document(owner, [c.ceiling(k) for c in cuts], len(numbers)) for k in ks}
    methods = [*translators(target, draft)]
    rows, hits = [], {}
    for name, p, translator in methods:
        for k in ks:
            right, row = _measured(translator, cuts, k)
            hits[name, p, k] = _by_document(owner, right, len(numbers))
            rows.append({"method": name, "k": k, "p": p, **row, "n_documents": len(numbers)})
            if advance is not None:
                advance(1 / (len(methods) * len(ks)))
    curve = Curve(pl.DataFrame(rows, schema=SCHEMA), hits, ceilings, seed)
    return Curve(_with_intervals(curve), hits, ceilings, seed)


def translators(target: Tokenizer, draft: Tokenizer) -> Iterable[tuple[str, int | None, Translator]]:
    """Every method that is compared: its name, its p, and what does it."""
    yield "anchored", None, ExactTranslator(target)
    for p in range(LARGEST_P + 1):
        yield "exact", p, ExactTranslator(target, p)
    for p in range(1, LARGEST_P + 1):
        yield "length", p, LengthTranslator(target, p)
    for p in range(1, LARGEST_P + 1):
        yield "counted", p, CountedTranslator(target, draft, p)
    yield "naive", None, NaiveTranslator(target, draft)


def _measured(translator: Translator, cuts: Sequence[Cut], k: int) -> tuple[list[int], dict[str, object]]:
    """Right candidates of each cut, and the measures of a row that need no documents."""
    right, found, cut_short, spent = [], [], 0, []
    for cut in cuts:
        drafted, ceiling = cut.drafted(k), cut.ceiling(k)
        begun = time.perf_counter_ns()
        try:
            translation = translator.translate(cut.tail, drafted)
        except Unaligned:  # a vocabulary without a token for a byte proposes nothing
            translation = Translation()
        spent.append(time.perf_counter_ns() - begun)
        found.append(translation)
        same = _common(translation.ids, cut.truth)
        right.append(min(same, ceiling))
        # All whole tokens are right, and what follows them stands for a part of the next one.
        cut_short += len(translation.ids) > ceiling and same == ceiling
    n = len(cuts)
    total = sum(c.ceiling(k) for c in cuts)
    return right, {
        "fidelity": sum(right) / total if total else None,
        "ceiling": total / n if n else None,
        "zero_candidate": sum(not t.ids for t in found) / n if n else None,
        "merged": sum(t.merged for t in found) / n if n else None,
        "last_cut": cut_short / n if n else None,
        "window": sum(t.window for t in found) / n if n else None,
        "host_us": median(spent) / 1000 if n else None,
        "n_rounds": n,
    }


def _common(candidates: Sequence[int], truth: Sequence[int]) -> int:
    for i, (have, want) in enumerate(zip(candidates, truth, strict=False)):
        if have != want:
            return i
    return min(len(candidates), len(truth))


def _by_document(owner: np.ndarray, values: Sequence[int], n: int) -> np.ndarray:
    return np.bincount(owner, weights=np.asarray(values, dtype=np.float64), minlength=n)[:n]


def _weights(n: int, seed: int) -> np.ndarray:
    """How often each document is drawn in each resampling: int64 of shape (resamples, n)."""
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=RESAMPLES)


def _with_intervals(curve: Curve) -> pl.DataFrame:
    if curve.n_documents < 2:
        return curve.frame
    keys = curve.frame.select("method", "p", "k").rows()
    bounds = [np.percentile(curve.fidelities(key), [2.5, 97.5]) for key in keys]
    return curve.frame.with_columns(
        pl.Series("low", [float(b[0]) for b in bounds]), pl.Series("high", [float(b[1]) for b in bounds])
    ).select(SCHEMA.names())


def pool(curves: Sequence[Curve]) -> Curve:
    """The curve of several corpora taken together; means and times are weighted by rounds."""
    if len(curves) == 1:
        return curves[0]
    first = curves[0]
    hits = {key: np.concatenate([c.hits[key] for c in curves]) for key in first.hits}
    ceilings = {k: np.concatenate([c.ceilings[k] for c in curves]) for k in first.ceilings}
    mean = [(pl.col(c) * pl.col("n_rounds")).sum() / pl.col("n_rounds").sum() for c in _MEANS]
    frame = (
        pl.concat([c.frame.filter(pl.col("n_rounds") > 0) for c in curves])
        .group_by("method", "k", "p", maintain_order=True)
        .agg(*mean, pl.col("n_rounds", "n_documents").sum())
    )
    if frame.is_empty():
        return first
    shares = [
        float(hits[key].sum() / max(ceilings[key[2]].sum(), 1))
        for key in frame.select("method", "p", "k").rows()
    ]
    none = pl.lit(None, pl.Float64)
    frame = frame.with_columns(pl.Series("fidelity", shares), low=none, high=none).select(SCHEMA.names())
    pooled = Curve(frame, hits, ceilings, first.seed)
    return Curve(_with_intervals(pooled), hits, ceilings, first.seed)


_MEANS = ("ceiling", "zero_candidate", "merged", "last_cut", "window", "host_us")
