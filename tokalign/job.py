"""What a command asks for, and the tokenizers and corpora it is asked of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from corpora import Corpus, Reader, open_reader
from tokalign.errors import UsageError
from tokalign.scale import SHARD_BYTES, Plan, TextSample
from tokalign.tokenizers import Tokenizer, load
from tokalign.tune import CUTS, KS

Progress = Callable[[str, float], None]
"""Called with what is being done and the share of the whole run that is done, 0 to 1."""

Notify = Callable[[str], None]
"""Called with each sentence that the user has to know: a stand-in, a bundled sample, documents left out."""


@dataclass(frozen=True)
class Job:
    """What to compare. ``target`` and ``drafts`` are names for `tokenizers.load`, ``corpora``
    specifications for `open_corpus`; ``sample`` documents are drawn of each (None: all). ``ks`` are draft
    lengths, ``cuts`` the rounds that the curve over p is measured on. ``command`` is kept in the result.
    How it is measured (``workers``, ``scheduler``, ``resume``, ``shard_bytes``: see `scale.Plan`) does not
    change it."""

    target: str
    drafts: tuple[str, ...]
    corpora: tuple[str, ...]
    sample: int | None = None
    seed: int = 0
    offline: bool = False
    column: str | None = None
    ks: tuple[int, ...] = KS
    cuts: int = CUTS
    command: tuple[str, ...] = ()
    workers: int | None = None
    scheduler: str | None = None
    resume: bool = False
    shard_bytes: int = SHARD_BYTES

    @property
    def plan(self) -> Plan:
        """How it is measured."""
        return Plan(self.workers, self.scheduler, self.resume, self.shard_bytes)


def loaded(job: Job, notify: Notify) -> tuple[Tokenizer, list[Tokenizer], list[Reader]]:
    """The job's tokenizers, and its corpora ready to be read; what there is to say of them before they are
    read goes to ``notify`` once."""
    for what, names in (("draft", job.drafts), ("corpus", job.corpora)):
        twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
        if twice is not None:
            raise UsageError(f"the {what} {twice!r} is given twice; give each once.")
    target = load(job.target, offline=job.offline)
    drafts = [target if name == job.target else load(name, offline=job.offline) for name in job.drafts]
    readers = [
        open_reader(spec, sample=job.sample, seed=job.seed, offline=job.offline, column=job.column)
        for spec in job.corpora
    ]
    called = [reader.name for reader in readers]
    for reader in readers:  # corpora of one name get their specification as name, which tells them apart
        reader.name = reader.spec if called.count(reader.name) > 1 else reader.name
    for sentence in dict.fromkeys([*tokenizer_notices((target, *drafts)), *(r.notice for r in readers)]):
        if sentence:
            notify(sentence)
    return target, drafts, readers


def corpus_notices(corpus: Corpus, sample: TextSample) -> list[str]:
    """What reading has brought to light: damage first, then what was left out, then what the curve over p
    rests on where that is not all."""
    found = [f"ATTENTION: {sentence}" for sentence in corpus.damage]
    found += [f"{corpus.name}: left out {s.count:,} × {s.kind} in {s.where}" for s in corpus.skipped]
    if not sample.whole:
        found.append(
            f"{corpus.name}: p is chosen on a sample of {len(sample.texts):,} documents "
            f"({sample.n_bytes / 1e6:.1f} MB), all other figures rest on all documents"
        )
    return found


def tokenizer_notices(tokenizers: Sequence[Tokenizer]) -> list[str]:
    """Where the vocabularies are from, if not from the hub or a path: one sentence for those that installed
    packages carry, one for each stand-in."""
    carried = dict.fromkeys(t.name for t in tokenizers if t.source.kind == "distribution")
    found = [t.source.notice for t in tokenizers if t.source.kind != "distribution" and t.source.notice]
    if carried:
        found.insert(
            0,
            f"{', '.join(carried)}: vocabulary from an installed package, checked by SHA-256 "
            "(`tokalign models` tells which)",
        )
    return found


def ignore(*_: object) -> None:
    """A progress or notification that goes nowhere."""
