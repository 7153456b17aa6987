"""One pass over a corpus: read, dealt in shards, measured wherever, and added up."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from corpora import Corpus, Reader, Skipped
from tokalign.measurement import Measurement
from tokalign.scale.checkpoint import Checkpoint
from tokalign.scale.cluster import Cluster
from tokalign.scale.dealing import Dealt
from tokalign.scale.here import Here
from tokalign.scale.outcome import ATTEMPTS, Measurer, Outcome
from tokalign.scale.pace import Advance, Pace
from tokalign.scale.recipe import Recipe, give_back_memory
from tokalign.scale.sample import TextSample
from tokalign.scale.shards import SHARD_BYTES, Shard
from tokalign.scale.total import Total
from tokalign.scale.workers import Workers, cores
from tokalign.tokenizers import Tokenizer

SMALL = 5_000_000  # bytes of text below which neither processes nor fast encoders are worth their start
_TRIAL = 200_000  # bytes of the first texts on which fast encoders are tried

LOST = f"document of a part that ended {ATTEMPTS} workers"

Say = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """How a corpus is measured. ``workers`` None: as many as cores; 0 or 1: in this process. ``scheduler`` is
    the address of a dask scheduler. ``resume`` takes finished shards of an interrupted run."""

    workers: int | None = None
    scheduler: str | None = None
    resume: bool = False
    shard_bytes: int = SHARD_BYTES


@dataclass(frozen=True)
class Survey:
    """What one pass has found: a measurement for each draft, and texts for the curve over p."""

    corpus: Corpus
    measurements: tuple[Measurement, ...]
    sample: TextSample


class Surveyor:
    """Measures corpora with one target and its drafts; a block, at whose end processes and files are gone.

    ``identity`` is what a resumed run must have in common with the one before it, beside the corpus.
    """

    def __init__(
        self,
        plan: Plan,
        target: Tokenizer,
        drafts: Sequence[Tokenizer],
        identity: Mapping[str, Any],
        notify: Say,
        announce: Say,
    ) -> None:
        self._plan, self._identity = plan, identity
        self._target, self._drafts = target, tuple(drafts)
        self._notify, self._announce = notify, announce
        self._checkpoints: list[Checkpoint] = []
        self._measurer: Measurer | None = None
        self._trial: tuple[str, ...] = ()
        self._stack = ExitStack()
        self.encoders: dict[str, str] = {}
        """By tokenizer, which encoder is used and why."""

    def __enter__(self) -> Surveyor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        finished = sum(c.kept + c.taken for c in self._checkpoints)
        if error is not None and finished:
            parts = "1 finished part is" if finished == 1 else f"{finished:,} finished parts are"
            error.add_note(f"{parts} kept: give the same command with --resume to go on from there")
        self.dismiss()
        self._stack.__exit__(kind, error, trace)

    def survey(self, reader: Reader, advance: Advance) -> Survey:
        """Read and measure a corpus. Raises what reading and measuring raise."""
        sample, total, lost = TextSample(), Total(len(self._drafts)), list[Shard]()
        dealt = Dealt(sample.watch(reader), self._plan.shard_bytes)
        small = dealt.begin(SMALL) and self._plan.scheduler is None
        if not small:
            self._accelerate(dealt.first_texts(_TRIAL))
        pace = Pace(reader, dealt, advance)
        checkpoint = None if small else self._checkpoint(reader)

        def add(outcome: Outcome) -> None:
            pace.measured(outcome.shard)
            if outcome.result is None:
                lost.append(outcome.shard)
            else:
                total.add(pickle.loads(outcome.result))

        def fresh() -> Iterator[Shard]:
            for shard in dealt:
                kept = checkpoint.take(shard) if checkpoint else None
                if kept is None:
                    pace.begun()
                    yield shard
                else:
                    add(Outcome(shard, kept))

        measurer = Here(self._target, self._drafts, pace) if small else self._others(pace)
        for outcome in measurer.run(fresh()):
            if checkpoint and outcome.result is not None:
                checkpoint.keep(outcome.shard, outcome.result)
            add(outcome)
            if not small and (estimate := pace.estimate(outcome.shard, self._processes)):
                self._announce(f"{reader.name}: {estimate}")
        if checkpoint and checkpoint.taken:
            taken = "1 part was" if checkpoint.taken == 1 else f"{checkpoint.taken:,} parts were"
            self._notify(f"{reader.name}: {taken} finished by the run before")
        return Survey(_without(reader.corpus, lost), total.measurements(self._target, self._drafts), sample)

    def dismiss(self) -> None:
        """End the workers, whose memory others need now; a further corpus would start new ones."""
        if self._measurer is not None:
            self._measurer.close()
            self._measurer = None

    def _accelerate(self, texts: tuple[str, ...]) -> None:
        if self._trial:
            return
        self._trial = texts
        for tokenizer in dict.fromkeys((self._target, *self._drafts)):
            self.encoders[tokenizer.name] = tokenizer.accelerate(texts)
        for said in dict.fromkeys(self.encoders.values()):
            self._notify(said)
        give_back_memory()

    def _checkpoint(self, reader: Reader) -> Checkpoint:
        identity = {"corpus": reader.spec, "shard_bytes": self._plan.shard_bytes, **self._identity}
        checkpoint = self._stack.enter_context(Checkpoint(identity, self._plan.resume))
        self._checkpoints.append(checkpoint)
        return checkpoint

    @property
    def _processes(self) -> int:
        return cores() if self._plan.workers is None else max(1, self._plan.workers)

    def _others(self, pace: Pace) -> Measurer:
        if self._plan.scheduler is None and self._processes == 1:
            return Here(self._target, self._drafts, pace)
        if self._measurer is None:
            if self._plan.scheduler is not None:
                recipe = Recipe(self._target, self._drafts, self._trial)
                self._measurer = Cluster(recipe, self._plan.scheduler)
            else:
                self._measurer = Workers(Recipe(self._target, self._drafts), self._processes, self._notify)
                for tokenizer in (self._target, *self._drafts):
                    tokenizer.rest()  # the workers encode now
                give_back_memory()
        return self._measurer


def _without(corpus: Corpus, lost: Sequence[Shard]) -> Corpus:
    """The corpus with what was lost counted and told."""
    if not lost:
        return corpus
    parts = sorted(lost, key=lambda shard: shard.number)
    skipped = tuple(Skipped(LOST, s.where, len(s.parts)) for s in parts)
    said = tuple(
        f"{len(s.parts):,} {'document is' if len(s.parts) == 1 else 'documents are'} in no figure ({s.where}), "
        f"because {ATTEMPTS} workers ended while they measured them; give more memory, fewer --workers, or a "
        "smaller --shard"
        for s in parts
    )
    notice = "; ".join(filter(None, [corpus.notice, *said]))
    return replace(corpus, skipped=(*corpus.skipped, *skipped), damage=(*corpus.damage, *said), notice=notice)
