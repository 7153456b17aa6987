"""What every translation gets out of a perfect draft, for every window: the curve over p."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
from tokalign.tune.pieces import pieced
from tokalign.tune.rounds import Cut, sample_cuts

KS = (2, 4, 6)
LARGEST_P = 16
CUTS = 1000
RESAMPLES = 1000
TIMED = 40  # rounds on which each translation is timed, and checked against the one from pieces

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
        return (self._weights @ self.hits[key]) / self._drawn_ceilings[key[2]]

    @cached_property
    def _weights(self) -> np.ndarray:
        """How often each document is drawn in each resampling: float64 of shape (resamples, documents)."""
        n = self.n_documents
        drawn = np.random.default_rng(self.seed).multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
        return drawn.astype(np.float64)

    @cached_property
    def _drawn_ceilings(self) -> dict[int, np.ndarray]:
        return {k: np.maximum(self._weights @ ceiling, 1) for k, ceiling in self.ceilings.items()}


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
    rounds = {k: Rounds.of(cuts, k) for k in ks}
    ceilings = {k: _by_document(owner, rounds[k].ceilings, len(numbers)) for k in ks}
    methods = zip(translators(target, draft), translators(pieced(target), pieced(draft)), strict=True)
    total = sum(1 for _ in translators(target, draft)) * len(ks)
    rows, hits = [], {}
    for (name, p, translator), (_, _, fast) in methods:
        for k in ks:
            right, row = _measured(translator, fast, rounds[k])
            hits[name, p, k] = _by_document(owner, right, len(numbers))
            rows.append({"method": name, "k": k, "p": p, **row, "n_documents": len(numbers)})
            if advance is not None:
                advance(1 / total)
    curve = Curve(pl.DataFrame(rows, schema=SCHEMA), hits, ceilings, seed)
    return Curve(_with_intervals(curve), hits, ceilings, seed)


@dataclass(frozen=True)
class Rounds:
    """The rounds of one draft length: each cut's drafted text, its true tokens and its ceiling."""

    cuts: Sequence[Cut]
    drafted: Sequence[bytes]
    ceilings: Sequence[int]

    @classmethod
    def of(cls, cuts: Sequence[Cut], k: int) -> Rounds:
        """With ``k`` draft tokens a round."""
        return cls(cuts, [c.drafted(k) for c in cuts], [c.ceiling(k) for c in cuts])

    def translated(self, translator: Translator, step: int = 1) -> list[Translation]:
        """What a translator makes of every ``step``-th round."""
        found = zip(self.cuts[::step], self.drafted[::step], strict=True)
        return [_translation(translator, cut, drafted) for cut, drafted in found]

    def timed(self, translator: Translator, step: int) -> tuple[list[Translation], list[int]]:
        """The same with the nanoseconds of each."""
        found, spent = [], []
        for cut, drafted in zip(self.cuts[::step], self.drafted[::step], strict=True):
            begun = time.perf_counter_ns()
            found.append(_translation(translator, cut, drafted))
            spent.append(time.perf_counter_ns() - begun)
        return found, spent


def _translation(translator: Translator, cut: Cut, drafted: bytes) -> Translation:
    try:
        return translator.translate(cut.tail, drafted)
    except Unaligned:  # a vocabulary without a token for a byte proposes nothing
        return Translation()


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


def _measured(translator: Translator, fast: Translator, rounds: Rounds) -> tuple[list[int], dict[str, object]]:
    """Right candidates of each cut, and the measures of a row that need no documents.

    ``fast`` translates from pieces. About `TIMED` rounds are translated by ``translator`` too, which is timed
    there; where the two ever differ it does all of them.
    """
    n = len(rounds.cuts)
    step = max(1, n // TIMED)
    sure, spent = rounds.timed(translator, step)
    found = sure if step == 1 else rounds.translated(fast)
    if step > 1 and found[::step] != sure:
        found = rounds.translated(translator)
    right, cut_short = [], 0
    for cut, ceiling, translation in zip(rounds.cuts, rounds.ceilings, found, strict=True):
        same = _common(translation.ids, cut.truth)
        right.append(min(same, ceiling))
        # All whole tokens are right, and what follows them stands for a part of the next one.
        cut_short += len(translation.ids) > ceiling and same == ceiling
    total = sum(rounds.ceilings)
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


def _common(candidates: tuple[int, ...], truth: tuple[int, ...]) -> int:
    if candidates[: len(truth)] == truth[: len(candidates)]:
        return min(len(candidates), len(truth))
    for i, (have, want) in enumerate(zip(candidates, truth, strict=False)):
        if have != want:
            return i
    return min(len(candidates), len(truth))


def _by_document(owner: np.ndarray, values: Sequence[int], n: int) -> np.ndarray:
    return np.bincount(owner, weights=np.asarray(values, dtype=np.float64), minlength=n)[:n]


def _with_intervals(curve: Curve) -> pl.DataFrame:
    if curve.n_documents < 2:
        return curve.frame
    keys = curve.frame.select("method", "p", "k").rows()
    low, high = np.percentile([curve.fidelities(key) for key in keys], [2.5, 97.5], axis=1)
    return curve.frame.with_columns(low=pl.Series(low), high=pl.Series(high)).select(SCHEMA.names())


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
