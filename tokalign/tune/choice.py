"""Which p to set: the smallest that loses nothing that the measurement can see, against the anchored window.

A finding that the curve shows and the tests hold: exact translation gives the same candidates whatever the
window. If a token boundary lies on the committed end, what is right of it was never decided by what is left
of it: in BPE no merge crossed the cut, and in Unigram a part of the best path is the best path of the part.
If no boundary lies there, the draft is encoded alone. So p=0 already equals the anchored window, and p
decides only for engines that put the context in front as text and take it off again, where the dummy prefix
spoils the first tokens. What remains for a window are pre-tokenizers that look across the cut (a
contraction such as 's, runs of white space, groups of digits); against these the anchored window protects
at no cost in fidelity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tokalign.settings import DraftLength, Evidence
from tokalign.tune.curve import Curve, Key

RECOMMENDED_K = 4  # the rule is applied here, at the middle of the published range
RULE = "smallest p whose fidelity is within one standard error of the best exact p, at k={k}, perfect draft"


@dataclass(frozen=True)
class Difference:
    """Fidelity of one setting minus that of another, with a paired 95 % bootstrap interval over documents
    (None with fewer than two documents)."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Choice:
    """The recommendation with its evidence. ``p`` is what to set; ``anchored`` says that the anchored
    window does at least as well and is used instead. ``anchored_gain`` is anchored minus p. ``runner_up``
    is the one of the two that was not chosen; ``by_length``, ``by_count`` and ``naive`` are what the
    published translations reach (the smallest p within one standard error of the best). ``flat`` says that
    every exact p and the anchored window gave the same fidelity at every k."""

    p: int
    anchored: bool
    k: int
    rule: str
    chosen: Evidence
    anchored_gain: Difference
    runner_up: Evidence
    by_length: Evidence
    by_count: Evidence
    naive: Evidence
    lengths: tuple[DraftLength, ...]
    flat: bool
    n_rounds: int
    n_documents: int
    verdict: str


def choose(curve: Curve) -> Choice | None:
    """Apply the rule to a curve; None where the texts were too short for a single round."""
    rows = {(r["method"], r["p"], r["k"]): r for r in curve.frame.iter_rows(named=True)}
    ks = sorted(curve.ceilings)
    k = RECOMMENDED_K if RECOMMENDED_K in ks else ks[len(ks) // 2]
    if rows["anchored", None, k]["fidelity"] is None:
        return None
    fixed = _smallest(curve, rows, "exact", k)
    anchored = _evidence(rows, ("anchored", None, k))
    gain = _difference(curve, rows, ("anchored", None, k), ("exact", fixed.p, k))
    use_anchored = gain.value >= 0 or (gain.high is not None and gain.high >= 0)
    chosen, runner_up = (anchored, fixed) if use_anchored else (fixed, anchored)
    lengths = [rows[chosen.method, chosen.p, each] for each in ks]
    same = all(
        len({r["fidelity"] for key, r in rows.items() if key[0] in _EXACT and key[2] == n}) == 1 for n in ks
    )
    found = {name: _smallest(curve, rows, name, k) for name in ("length", "counted")}
    return Choice(
        p=fixed.p or 0,
        anchored=use_anchored,
        k=k,
        rule=RULE.format(k=k),
        chosen=chosen,
        anchored_gain=gain,
        runner_up=runner_up,
        by_length=found["length"],
        by_count=found["counted"],
        naive=_evidence(rows, ("naive", None, k)),
        lengths=tuple(DraftLength(r["k"], r["ceiling"], r["fidelity"], r["low"], r["high"]) for r in lengths),
        flat=same,
        n_rounds=rows["anchored", None, k]["n_rounds"],
        n_documents=curve.n_documents,
        verdict=_verdict(fixed, chosen, found["length"], found["counted"], same, k),
    )


def same_vocabulary_choice(ks: Sequence[int]) -> Choice:
    """The choice for two models of one vocabulary, where ids are passed as they are and nothing is lost."""
    k = RECOMMENDED_K if RECOMMENDED_K in ks else sorted(ks)[len(ks) // 2]
    passed = Evidence("none", None, 1.0, None, None)
    return Choice(
        p=0,
        anchored=True,
        k=k,
        rule="both models have the same vocabulary",
        chosen=passed,
        anchored_gain=Difference(0.0, None, None),
        runner_up=passed,
        by_length=passed,
        by_count=passed,
        naive=passed,
        lengths=tuple(DraftLength(each, float(each), 1.0, None, None) for each in sorted(ks)),
        flat=True,
        n_rounds=0,
        n_documents=0,
        verdict="Both models have the same vocabulary: draft ids are passed as they are, and neither a "
        "translation nor p is needed.",
    )


_EXACT = ("exact", "anchored")
_Rows = Mapping[Key, Mapping[str, float]]


def _evidence(rows: _Rows, key: Key) -> Evidence:
    row = rows[key]
    return Evidence(key[0], key[1], row["fidelity"], row["low"], row["high"])


def _smallest(curve: Curve, rows: _Rows, method: str, k: int) -> Evidence:
    """The smallest p of a method within one standard error of the method's best."""
    keys = sorted((key for key in rows if key[0] == method and key[2] == k), key=lambda key: key[1] or 0)
    best = max(keys, key=lambda key: (rows[key]["fidelity"], -(key[1] or 0)))
    error = float(np.std(curve.fidelities(best))) if curve.n_documents > 1 else 0.0
    least = rows[best]["fidelity"] - error
    return _evidence(rows, next(key for key in keys if rows[key]["fidelity"] >= least))


def _difference(curve: Curve, rows: _Rows, one: Key, other: Key) -> Difference:
    value = rows[one]["fidelity"] - rows[other]["fidelity"]
    if curve.n_documents < 2:
        return Difference(value, None, None)
    low, high = np.percentile(curve.fidelities(one) - curve.fidelities(other), [2.5, 97.5])
    return Difference(value, float(low), float(high))


def _verdict(fixed: Evidence, chosen: Evidence, length: Evidence, counted: Evidence, flat: bool, k: int) -> str:
    share = f"{chosen.fidelity:.1%} of the target tokens inside a perfect draft (k={k})"
    if flat:
        why = f"exact translation gets {share} at every p, so a longer window only costs time"
    elif chosen.p is None:
        why = f"exact translation gets {share} from the word start, and {fixed.fidelity:.1%} from p tokens"
    else:
        why = f"exact translation gets {share}, more than from the word start"
    anchored = " (the anchored window does as well)" if chosen.p is None else ", not anchored"
    return (
        f"Set p={fixed.p}{anchored}: {why}. An engine that re-encodes the context as text and strips it by "
        f"its re-encoded length needs p={length.p} ({length.fidelity:.1%}); one that strips it by token "
        f"count reaches about {counted.fidelity:.1%} (p={counted.p})."
    )
