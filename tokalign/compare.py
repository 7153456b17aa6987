"""The whole comparison (one target, several drafts and corpora, one result), and the choice of p alone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import polars as pl

from corpora import Corpus, Reader
from tokalign import frames
from tokalign.identity import corpus_info, described, settings_for
from tokalign.job import Job, Notify, Progress, corpus_notices, ignore, loaded
from tokalign.measurement import Measurement
from tokalign.metrics import evaluate
from tokalign.provenance import machine, versions
from tokalign.records import to_json
from tokalign.result import CorpusInfo, Pair, Result, TokenizerInfo
from tokalign.scale import Surveyor, TextSample
from tokalign.settings import Settings
from tokalign.tokenizers import Segmentation, Tokenizer, Unaligned
from tokalign.tune import SCHEMA, Choice, Curve, choose, pool, same_vocabulary_choice, tune

_MEASURING = 0.6  # share of a corpus's part of the run, of which the rest is the choice of p


@dataclass(frozen=True)
class _Texts:
    """What the curves of one corpus are measured on, segmented once for all drafts."""

    corpus: str
    texts: Sequence[str]
    segmentations: Sequence[Segmentation | Unaligned]


def compare(
    job: Job, progress: Progress | None = None, notify: Notify | None = None, announce: Notify | None = None
) -> Result:
    """Measure every draft on every corpus, and choose for each draft over all corpora together.

    ``announce`` is given what is worth knowing while it runs and not after: how long a large corpus takes.

    Raises:
        UsageError: a draft or corpus is named twice, or a name is not known.
        TokalignError: a tokenizer or corpus cannot be used.
    """
    notify = notify or ignore
    target, drafts, readers = loaded(job, notify)
    steps = _Steps(progress or ignore, len(readers))
    curves: dict[str, list[Curve]] = {draft.name: [] for draft in drafts}
    pairs: list[Pair] = []
    corpora: list[Corpus] = []
    infos: list[CorpusInfo] = []
    with Surveyor(
        job.plan, target, drafts, _identity(job, target, drafts), notify, announce or ignore
    ) as surveyor:
        for reader in readers:
            with closing(reader):
                found = surveyor.survey(reader, steps.measuring(reader.name))
            if reader is readers[-1]:
                surveyor.dismiss()
            for sentence in corpus_notices(found.corpus, found.sample):
                notify(sentence)
            corpora.append(found.corpus)
            infos.append(corpus_info(found.corpus, found.sample))
            texts = _segmented(target, found.corpus.name, found.sample)
            for draft, measurement in zip(drafts, found.measurements, strict=True):
                same = target.fingerprint == draft.fingerprint
                curve = None if same else _curve(job, target, draft, texts, steps, len(drafts))
                pairs.append(_pair(job, target, draft, found.corpus, measurement, curve))
                curves[draft.name] += [] if curve is None else [curve]
            steps.end()
    now = _now()
    choices = [(draft, _chosen(job, curves[draft.name])) for draft in drafts]
    return Result(
        created=now,
        command=job.command,
        versions=versions(),
        machine=machine(),
        seed=job.seed,
        sample=job.sample,
        target=described(target, surveyor.encoders.get(target.name)),
        drafts=tuple(described(d, surveyor.encoders.get(d.name)) for d in drafts),
        corpora=tuple(infos),
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
    notify = notify or ignore
    target, (draft,), readers = loaded(job, notify)
    steps = _Steps(progress or ignore, len(readers))
    curves, corpora, infos = [], [], []
    for reader in readers:
        sample = _read(reader, steps)
        for sentence in corpus_notices(reader.corpus, sample):
            notify(sentence)
        corpora.append(reader.corpus)
        infos.append(corpus_info(reader.corpus, sample))
        if target.fingerprint != draft.fingerprint:
            texts = _segmented(target, reader.name, sample)
            curves.append(_curve(job, target, draft, texts, steps, 1))
        steps.end()
    choice = _chosen(job, curves)
    return Tuned(
        target=described(target),
        draft=described(draft),
        corpora=tuple(infos),
        frame=pool(curves).frame if curves else SCHEMA.to_frame(),
        settings=None if choice is None else settings_for(target, draft, corpora, choice, _now()),
    )


class _Steps:
    """The share of the run that is done; every corpus is one part of equal size."""

    def __init__(self, show: Progress, corpora: int) -> None:
        self._show, self._part = show, 1 / corpora
        self._begun = self._done = 0.0  # shares at the corpus's start, and now

    def measuring(self, corpus: str) -> Any:
        """What is told of the measuring of a corpus: its share and the bytes a second."""

        def advance(share: float, speed: float) -> None:
            pace = f", {speed / 1e6:.2f} MB/s" if speed else ""
            self._reach(f"{corpus}: measuring{pace}", _MEASURING * share)

        return advance

    def choosing(self, what: str, share: float) -> None:
        """A share of the choice of p on a corpus is done."""
        self._advance(f"{what}: choosing p", (1 - _MEASURING) * share * self._part)

    def end(self) -> None:
        """The corpus is done."""
        self._begun += self._part
        self._advance("", max(0.0, self._begun - self._done))

    def _reach(self, what: str, share: float) -> None:
        self._advance(what, max(0.0, self._begun + share * self._part - self._done))

    def _advance(self, what: str, step: float) -> None:
        self._done = min(1.0, self._done + step)
        self._show(what, self._done)


def _identity(job: Job, target: Tokenizer, drafts: Sequence[Tokenizer]) -> dict[str, Any]:
    """What a resumed run must have in common with the one before it."""
    options = {name: getattr(job, name) for name in ("column", "sample", "seed", "offline")}
    sides = [[t.name, t.label, t.fingerprint] for t in (target, *drafts)]
    return {"tokenizers": sides, "versions": versions(), **options}


def _read(reader: Reader, steps: _Steps) -> TextSample:
    sample, advance = TextSample(), steps.measuring(reader.name)
    with closing(reader):
        for number, _ in enumerate(sample.watch(reader)):
            if number % 1000 == 0:
                advance(reader.share or 0.0, 0.0)
    return sample


def _segmented(target: Tokenizer, corpus: str, sample: TextSample) -> _Texts:
    return _Texts(corpus, sample.texts, target.segment_batch(sample.texts))


def _pair(
    job: Job, target: Tokenizer, draft: Tokenizer, corpus: Corpus, found: Measurement, curve: Curve | None
) -> Pair:
    return Pair(
        target=target.name,
        draft=draft.name,
        corpus=corpus.name,
        same_vocabulary=target.fingerprint == draft.fingerprint,
        metrics=evaluate(found, seed=job.seed),
        chunks=found.chunks,
        quality=found.quality,
        excluded=found.excluded,
        samples=found.samples,
        vocabulary=found.vocabulary,
        curve=SCHEMA.to_frame() if curve is None else curve.frame,
        choice=_chosen(job, [] if curve is None else [curve]),
    )


def _curve(job: Job, target: Tokenizer, draft: Tokenizer, on: _Texts, steps: _Steps, drafts: int) -> Curve:
    return tune(
        target,
        draft,
        on.texts,
        on.segmentations,
        ks=job.ks,
        n=job.cuts,
        seed=job.seed,
        advance=lambda share: steps.choosing(f"{draft.name} on {on.corpus}", share / drafts),
    )


def _chosen(job: Job, curves: Sequence[Curve]) -> Choice | None:
    """The choice over all corpora; a pair without a curve is one of equal vocabularies."""
    return choose(pool(curves)) if curves else same_vocabulary_choice(job.ks)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
