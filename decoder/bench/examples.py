"""Recorded rounds that show how tokens were lost: short quotations, a few for every class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from decoder.bench.rows import LOSSES

BEFORE = 28  # characters quoted before a round
LONGEST = 8  # tokens quoted of it
Trace = Mapping[str, Any]


@dataclass(frozen=True)
class Example:
    """One round. ``lost`` is the class of its first lost token; the texts are of tokens, one an element."""

    lost: str
    draft: str
    translation: str
    before: str
    drafted: tuple[str, ...]
    candidates: tuple[str, ...]
    accepted: int
    came: tuple[str, ...]


def examples(traces: Iterable[Trace], each: int = 3) -> list[Example]:
    """Up to ``each`` rounds of every class, each of another draft.

    ``unknown`` is left out: there is nothing to see. Rounds are taken as they come, so the same traces give the
    same examples.
    """
    found: dict[str, list[Example]] = {kind: [] for kind in LOSSES if kind != "unknown"}
    for _, run in groupby(traces, key=lambda t: (t["draft"], t["translation"], t["k"], t["prompt"])):
        rounds = [t for t in run if "token_texts" in t]
        for n, trace in enumerate(rounds):
            kind = trace["lost"][0] if trace["lost"] else None
            taken = found.get(kind or "")
            if taken is None or len(taken) >= each or not trace["drafted_texts"]:
                continue
            if all(e.draft != trace["draft"] for e in taken):
                taken.append(_example(str(kind), rounds, n))
        if all(len(taken) >= each for taken in found.values()):
            break
    return [e for taken in found.values() for e in taken]


def _example(kind: str, rounds: Sequence[Trace], n: int) -> Example:
    trace = rounds[n]
    came = [text for r in rounds[n : n + LONGEST] for text in r["token_texts"]]
    before = "".join(text for r in rounds[:n] for text in r["token_texts"])
    return Example(
        kind,
        trace["draft"],
        trace["translation"],
        before[-BEFORE:],
        tuple(trace["drafted_texts"][:LONGEST]),
        tuple(trace["candidate_texts"][:LONGEST]),
        trace["accepted"],
        tuple(came[:LONGEST]),
    )
