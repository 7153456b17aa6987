"""The whole comparison (one target, several drafts and corpora, one result), and the choice of p alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import polars as pl

from corpora import Corpus
from tokalign import frames
from tokalign.identity import corpus_info, described, settings_for
from tokalign.job import Job, Notify, Progress, ignore, loaded
from tokalign.metrics import evaluate
from tokalign.provenance import machine, versions
from tokalign.records import to_json
from tokalign.result import CorpusInfo, Pair, Result, TokenizerInfo
from tokalign.settings import Settings
from tokalign.table import measure
from tokalign.tokenizers import Segmentation, Tokenizer, Unaligned
from tokalign.tune import SCHEMA, Choice, Curve, choose, pool, same_vocabulary_choice, tune

Segmentations = Sequence[Segmentation | Unaligned]


def compare(job: Job, progress: Progress | None = None, notify: Notify | None = None) -> Result:
    """Measure every draft on every corpus, and choose for each draft over all corpora together.

    Raises:
        UsageError: a draft or corpus is named twice, or a name is not known.
        TokalignError: a tokenizer or corpus cannot be used.
    """
    target, drafts, corpora = loaded(job, notify or ignore)
    steps = _Steps(progress or ignore, len(drafts) * len(corpora))
    curves: dict[str, list[Curve]] = {draft.name: [] for draft in drafts}
    pairs = []
    for corpus in corpora:
        segmentations = target.segment_batch([d.text for d in corpus.documents])
        for draft in drafts:
            pair, curve = _pair(job, target, draft, corpus, segmentations, steps)
            pairs.append(pair)
            curves[draft.name] += [] if curve is None else [curve]
    now = _now()
    choices = [(draft, _chosen(job, curves[draft.name])) for draft in drafts]
    return Result(
        created=now,
        command=job.command,
        versions=versions(),
        machine=machine(),
        seed=job.seed,
        sample=job.sample,
        target=described(target),
        drafts=tuple(described(d) for d in drafts),
        corpora=tuple(corpus_info(c) for c in corpora),
        pairs=tuple(pairs),
        settings=tuple(settings_for(target, d, corpora, c, now) for d, c in choices if c is not None),
    )


@dataclass(frozen=True)
class Tuned:
    """The choice alone. ``frame`` has the columns of `tune.SCHEMA` over all corpora together (no rows for a
    same-vocabulary pair); ``settings`` is None where the texts were too short."""

    target: TokenizerInfo
    draft: TokenizerInfo
    corpora: tuple[CorpusInfo, ...]
    frame: pl.DataFrame
    settings: Settings | None

    def json(self) -> dict[str, Any]:
        """For ``--json``."""
        parts = ("target", "draft", "corpora", "settings")
        return {p: to_json(getattr(self, p)) for p in parts} | {"curve": frames.to_json(self.frame)}


def tuned(job: Job, progress: Progress | None = None, notify: Notify | None = None) -> Tuned:
    """Choose for the job's one draft without measuring how the segmentations differ. Raises as `compare`."""
    target, (draft,), corpora = loaded(job, notify or ignore)
    steps = _Steps(progress or ignore, len(corpora))
    curves = []
    if target.fingerprint != draft.fingerprint:
        for corpus in corpora:
            segmentations = target.segment_batch([d.text for d in corpus.documents])
            curves.append(_curve(job, target, draft, corpus, segmentations, steps, 1.0))
    choice = _chosen(job, curves)
    return Tuned(
        target=described(target),
        draft=described(draft),
        corpora=tuple(corpus_info(c) for c in corpora),
        frame=pool(curves).frame if curves else SCHEMA.to_frame(),
        settings=None if choice is None else settings_for(target, draft, corpora, choice, _now()),
    )


class _Steps:
    """The share of the run that is done; every draft on every corpus is one part of equal size."""

    def __init__(self, show: Progress, parts: int) -> None:
        self._show, self._part, self._done = show, 1 / parts, 0.0

    def advance(self, what: str, share: float) -> None:
        self._done = min(1.0, self._done + share * self._part)
        self._show(what, self._done)


def _pair(
    job: Job, target: Tokenizer, draft: Tokenizer, corpus: Corpus, segmentations: Segmentations, steps: _Steps
) -> tuple[Pair, Curve | None]:
    what, seen = f"{draft.name} on {corpus.name}", 0

    def measured(_: int, n_bytes: int) -> None:
        nonlocal seen
        steps.advance(f"{what}: measuring", 0.4 * (n_bytes - seen) / max(corpus.n_bytes, 1))
        seen = n_bytes

    same = target.fingerprint == draft.fingerprint
    found = measure([(d.id, d.text) for d in corpus.documents], target, draft, progress=measured)
    metrics = evaluate(found, seed=job.seed)
    steps.advance(f"{what}: choosing p", 0.1)
    curve = None if same else _curve(job, target, draft, corpus, segmentations, steps, 0.5)
    pair = Pair(
        target=target.name,
        draft=draft.name,
        corpus=corpus.name,
        same_vocabulary=same,
        metrics=metrics,
        chunks=found.chunks.group_by("n", "m").agg(pl.col("count", "bytes").sum()).sort("n", "m"),
        quality=found.quality,
        excluded=found.excluded,
        samples=found.samples,
        vocabulary=found.vocabulary,
        curve=SCHEMA.to_frame() if curve is None else curve.frame,
        choice=_chosen(job, [] if curve is None else [curve]),
    )
    return pair, curve


def _curve(
    job: Job,
    target: Tokenizer,
    draft: Tokenizer,
    corpus: Corpus,
    segmentations: Segmentations,
    steps: _Steps,
    part: float,
) -> Curve:
    return tune(
        target,
        draft,
        [d.text for d in corpus.documents],
        segmentations,
        ks=job.ks,
        n=job.cuts,
        seed=job.seed,
        advance=lambda share: steps.advance(f"{draft.name} on {corpus.name}: choosing p", share * part),
    )


def _chosen(job: Job, curves: Sequence[Curve]) -> Choice | None:
    """The choice over all corpora; a pair without a curve is one of equal vocabularies."""
    return choose(pool(curves)) if curves else same_vocabulary_choice(job.ks)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
