"""What a command asks for, and the tokenizers and corpora it is asked of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from corpora import Corpus, open_corpus
from tokalign.errors import UsageError
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
    lengths, ``cuts`` the rounds that the curve over p is measured on. ``command`` is kept in the result."""

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


def loaded(job: Job, notify: Notify) -> tuple[Tokenizer, list[Tokenizer], list[Corpus]]:
    """The job's tokenizers and corpora; what there is to say of them goes to ``notify`` once."""
    for what, names in (("draft", job.drafts), ("corpus", job.corpora)):
        twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
        if twice is not None:
            raise UsageError(f"the {what} {twice!r} is given twice; give each once.")
    target = load(job.target, offline=job.offline)
    drafts = [target if name == job.target else load(name, offline=job.offline) for name in job.drafts]
    corpora = _distinct(
        [
            open_corpus(spec, sample=job.sample, seed=job.seed, offline=job.offline, column=job.column)
            for spec in job.corpora
        ]
    )
    notices = [*tokenizer_notices((target, *drafts)), *(c.notice for c in corpora)]
    skipped = [f"{c.name}: left out {s.count:,} × {s.kind} in {s.where}" for c in corpora for s in c.skipped]
    for sentence in dict.fromkeys(n for n in [*notices, *skipped] if n):
        notify(sentence)
    return target, drafts, corpora


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


def _distinct(corpora: Sequence[Corpus]) -> list[Corpus]:
    """Corpora of one name get their specification as name, so that names tell them apart."""
    names = [c.name for c in corpora]
    return [replace(c, name=c.spec) if names.count(c.name) > 1 else c for c in corpora]


def ignore(*_: object) -> None:
    """A progress or notification that goes nowhere."""
