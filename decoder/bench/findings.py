"""What the figures say, in sentences: which draft is best under which translation, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from decoder.bench.comparison import Difference, difference
from decoder.bench.grouping import LADDER, Bench
from decoder.bench.summary import figures
from decoder.bench.table import NONE, interval, percent


@dataclass(frozen=True)
class Finding:
    """An answer: its first sentence is the answer itself."""

    question: str
    sentences: Sequence[str]


@dataclass(frozen=True)
class Step:
    """One rung of the ladder for one draft: what it reaches, and what it gains on the one before."""

    draft: str
    translation: str
    does: str
    cell: Mapping[str, Any]
    gain: Difference | None


def longest_tokens(bench: Bench) -> str | None:
    """The crossing draft whose tokens are the longest in target tokens; None where that is not known."""
    lengths = {d: n for d in bench.crossing if (n := bench.length(d)) is not None}
    return max(lengths, key=lambda d: lengths[d]) if lengths else None


def ladder(bench: Bench, draft: str) -> list[Step]:
    """The translations that the draft was measured with, from the crudest on, at the main draft length."""
    steps: list[Step] = []
    before: Sequence[Any] | None = None
    for kind, does in LADDER:
        name = bench.named(draft, kind, bench.k)
        if name is None:
            continue
        rows = bench.cell(draft, name, bench.k)
        gain = None if before is None else difference(rows, before, bench.seed)
        steps.append(Step(draft, name, does, figures(rows, bench.seed), gain))
        before = rows
    return steps


def answers(bench: Bench, polish: str | None) -> list[Finding]:
    """All that the figures can answer; ``polish`` is the draft with a Polish vocabulary, if any."""
    found = (order(bench, polish), mechanism(bench), intersection(bench))
    return [f for f in found if f is not None]


def order(bench: Bench, polish: str | None) -> Finding | None:
    """Whether the draft with the Polish vocabulary is the worst, under published and exact translation."""
    others = [d for d in bench.crossing if d != polish]
    if polish is None or not others:
        return None
    places = {}
    sentences = []
    for kind in (bench.published, "anchored no-heal", "anchored"):
        found = _placed(bench, polish, others, kind)
        if found is not None:
            places[kind], sentence = found
            sentences.append(sentence)
    published, exact = places.get(bench.published), places.get("anchored")
    if published is None or exact is None:
        return None
    question = f"Is a draft with a Polish vocabulary ({polish}) worse than a general one for this target?"
    return Finding(question, [_answer(published, places.get("anchored no-heal"), exact), *sentences])


def _placed(bench: Bench, polish: str, others: Sequence[str], kind: str) -> tuple[Difference, str] | None:
    """The Polish draft against the best of the others under one translation."""
    names = {d: n for d in (polish, *others) if (n := bench.named(d, kind, bench.k)) is not None}
    if polish not in names or len(names) < 2:
        return None
    cells = {d: bench.cell(d, n, bench.k) for d, n in names.items()}
    found = {d: figures(rows, bench.seed) for d, rows in cells.items()}
    best = max((d for d in names if d != polish), key=lambda d: found[d]["tokens_per_pass"])
    gap = difference(cells[polish], cells[best], bench.seed)
    if gap is None:
        return None
    rank = 1 + sum(found[d]["tokens_per_pass"] > found[polish]["tokens_per_pass"] for d in names)
    mine, theirs = (interval(found[d], "tokens_per_pass", "{:.2f}") for d in (polish, best))
    return gap, (
        f"{names[polish]}, k = {bench.k}: {polish} is number {rank} of {len(names)} with {mine} tokens per "
        f"target pass; the best general draft, {best}, has {theirs}. Difference {signed(gap)}."
    )


def _answer(published: Difference, unhealed: Difference | None, exact: Difference) -> str:
    if published.value < 0 < exact.value and published.certain and exact.certain:
        between = f"{_standing(unhealed)} under exact translation, " if unhealed else ""
        return (
            "No: with the same models and prompts it is behind the best general draft under the published "
            f"translation, {between}and ahead of it where it may also write its open word anew, first and last "
            "beyond chance. The published order is an artefact of translation here."
        )
    if published.value < 0 < exact.value:
        return (
            "The order turns round between the published and the exact translation, but not beyond chance in "
            "both; more prompts are needed."
        )
    if exact.certain:
        return (
            "It is worse under exact translation too." if exact.value < 0 else "No, under neither translation."
        )
    return "Under exact translation the difference is within chance."


def _standing(gap: Difference) -> str:
    return ("ahead" if gap.value > 0 else "behind") if gap.certain else "level with it"


def mechanism(bench: Bench) -> Finding | None:
    """Which part of translation costs what, for the drafts of another vocabulary."""
    largest: dict[str, list[str]] = {}
    sentences = []
    for draft in bench.crossing:
        steps = ladder(bench, draft)
        if len(steps) < 3:
            continue
        top = max((s for s in steps if s.gain is not None), key=lambda s: s.gain.value if s.gain else 0.0)
        largest.setdefault(f"{top.translation} ({top.does})", []).append(draft)
        sentences.append(
            f"{draft}: from {_passes(steps[0])} tokens per pass ({steps[0].translation}) to "
            f"{_passes(steps[-1])} ({steps[-1].translation}); {top.translation} brings "
            f"{signed(top.gain)} of it."
        )
        sentences += _words(bench, draft)
    if not sentences:
        return None
    steps_said = "; ".join(f"{step} for {' and '.join(drafts)}" for step, drafts in largest.items())
    return Finding(
        "Which part of translation costs the most?", [f"The largest step is {steps_said}.", *sentences]
    )


def _words(bench: Bench, draft: str) -> Iterator[str]:
    """What beginning inside a word costs, without and with rewriting it."""
    names = [bench.named(draft, kind, bench.k) for kind in ("anchored no-heal", "anchored")]
    cells = [figures(bench.cell(draft, n, bench.k), bench.seed) for n in names if n is not None]
    if len(cells) == 2 and all(c["barred_accepted_per_round"] is not None for c in cells):
        plain, healed = cells
        yield (
            f"{percent(plain['barred_share'])} of its rounds begin inside a word where its vocabulary has no "
            f"boundary; there {plain['barred_accepted_per_round']:.2f} tokens are accepted a round, and "
            f"{healed['barred_accepted_per_round']:.2f} where the draft may write the word anew (outside words "
            f"{plain['outside_accepted_per_round'] or 0:.2f})."
        )


def intersection(bench: Bench) -> Finding | None:
    """Where drafting only in shared tokens beats exact translation."""
    ahead: list[str] = []
    certain: list[str] = []
    total = 0
    for cell in bench.by_group:
        if cell["translation"] != "intersection" or cell["draft"] not in bench.crossing:
            continue
        mine = _of_group(bench, cell, "intersection")
        best = max(
            (d for n in ("anchored", "anchored no-heal") if (d := difference(_of_group(bench, cell, n), mine))),
            key=lambda d: d.value,
            default=None,
        )
        if best is None:
            continue
        total += 1
        if best.value < 0:
            name = f"{cell['draft']}, {cell['group']}, k = {cell['k']} ({-best.value:+.2f})"
            (certain if best.certain else ahead).append(name)
    if not total:
        return None
    won = len(ahead) + len(certain)
    sentences = [
        f"It has more tokens per pass than the best exact translation in {won} of {total} cells of draft, "
        f"group and k, in {len(certain)} of them beyond chance."
        if won
        else f"Nowhere: the best exact translation has as many tokens per pass or more in all {total} cells of "
        "draft, group and k."
    ]
    if certain or ahead:
        sentences.append(f"They are: {'; '.join((certain + ahead)[:8])}.")
    return Finding("Where does drafting in shared tokens only (intersection) win?", sentences)


def _of_group(bench: Bench, cell: Mapping[str, Any], translation: str) -> list[Any]:
    return [r for r in bench.cell(cell["draft"], translation, cell["k"]) if r["group"] == cell["group"]]


def _passes(step: Step) -> str:
    return f"{step.cell['tokens_per_pass']:.2f}"


def signed(gain: Difference | None) -> str:
    """A difference with its interval."""
    if gain is None:
        return NONE
    if gain.low is None or gain.high is None:
        return f"{gain.value:+.2f}"
    return f"{gain.value:+.2f} ({gain.low:+.2f} to {gain.high:+.2f}, {gain.prompts} prompts)"
