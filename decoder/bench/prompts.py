"""The texts that a bench continues."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tokalign.errors import CorpusError, CorpusUsageError

WORDS = 60  # length of a prompt cut from a corpus document


@dataclass(frozen=True)
class BenchPrompt:
    """One prompt. ``group`` names the kind of text it is from."""

    id: str
    group: str
    text: str


def read_prompts(path: Path, groups: Sequence[str], per_group: int | None) -> list[BenchPrompt]:
    """The prompts of a JSONL file with fields ``prompt`` and (optional) ``group``, in file order.

    ``groups`` empty means all; ``per_group`` takes the first so many of each.

    Raises:
        CorpusError: the file cannot be read or holds no prompt.
        CorpusUsageError: a group was asked for that the file does not have.
    """
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        found = [
            BenchPrompt(f"{path.stem}-{n:04}", r.get("group", "all"), r["prompt"]) for n, r in enumerate(rows)
        ]
    except OSError as error:
        raise CorpusError(f"the prompts {path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, AttributeError) as error:
        raise CorpusError(f"{path} is no JSONL file with a 'prompt' field in every line ({error}).") from error
    missing = sorted(set(groups) - {p.group for p in found})
    if missing:
        known = ", ".join(sorted({p.group for p in found}))
        raise CorpusUsageError(f"{path} has no group {missing[0]!r}; it has: {known}.")
    return take([p for p in found if not groups or p.group in groups], per_group, str(path))


def corpus_prompts(spec: str, per_group: int | None, *, seed: int, offline: bool = False) -> list[BenchPrompt]:
    """Prompts from a corpus: the first words of each document, cut between words."""
    from corpora import open_corpus

    corpus = open_corpus(spec, sample=per_group, seed=seed, offline=offline)
    prompts = [
        BenchPrompt(d.id, corpus.name, " ".join(d.text.split(" ")[:WORDS]).strip()) for d in corpus.documents
    ]
    return take([p for p in prompts if p.text], per_group, spec)


def take(prompts: list[BenchPrompt], per_group: int | None, where: str) -> list[BenchPrompt]:
    """The first ``per_group`` prompts of each group."""
    kept: list[BenchPrompt] = []
    seen: dict[str, int] = {}
    for p in prompts:
        seen[p.group] = seen.get(p.group, 0) + 1
        if per_group is None or seen[p.group] <= per_group:
            kept.append(p)
    if not kept:
        raise CorpusError(f"{where} gives no prompt; choose other groups or another corpus.")
    return kept
