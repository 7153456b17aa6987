"""The grid: every draft with every translation and k over every prompt, a batch of prompts at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from decoder.bench.cells import LOOKUP, Reference, Run, plain, run_cell
from decoder.bench.prompts import BenchPrompt
from decoder.errors import BenchUsageError
from decoder.generation import Pair, generate_rounds
from decoder.models import Loaded, load_model
from decoder.strategy import Strategy

BATCH = 8  # prompts that are stored together
WARM = 8  # tokens decoded before anything is timed


@dataclass(frozen=True)
class Plan:
    """What to run. ``drafts``: models by their names in rows; ``lookup`` stands for prompt lookup."""

    target: str
    drafts: Mapping[str, str]
    strategies: Sequence[Strategy]
    ks: Sequence[int]
    prompts: Sequence[BenchPrompt]
    max_tokens: int
    float32: bool = False

    def units(self) -> Iterator[Unit]:
        """Everything to be run, in order."""
        for draft in self.drafts:
            for strategy in [None] if draft == LOOKUP else self.strategies:
                for k in self.ks:
                    for n, begin in enumerate(range(0, len(self.prompts), BATCH)):
                        yield Unit(draft, strategy, k, n, tuple(self.prompts[begin : begin + BATCH]))


@dataclass(frozen=True)
class Unit:
    """One cell of the grid on one batch of prompts; stored whole or not at all."""

    draft: str
    strategy: Strategy | None
    k: int
    batch: int
    prompts: tuple[BenchPrompt, ...]

    @property
    def translation(self) -> str:
        """The strategy's name; empty for prompt lookup."""
        return "" if self.strategy is None else str(self.strategy)

    @property
    def stem(self) -> str:
        """A name for its files."""
        return stem(self.draft, self.translation, self.k, self.batch)


class Sink(Protocol):
    """Where runs go."""

    def references(self) -> list[Reference] | None:
        """Plain decoding of every prompt, where it was done already."""
        ...

    def keep_references(self, references: Sequence[Reference]) -> None:
        """Store plain decoding."""
        ...

    def has(self, stem: str) -> bool:
        """Whether a unit is stored."""
        ...

    def add(self, stem: str, rows: Sequence[dict[str, Any]], traces: Sequence[dict[str, Any]]) -> None:
        """Store a unit, whole or not at all."""
        ...

    def learn(self, draft: str | None, loaded: Loaded) -> None:
        """Note what a loaded model's vocabulary is; None is the target."""
        ...


Step = Callable[[str, int], None]


def run_plan(plan: Plan, sink: Sink, step: Step = lambda what, runs: None) -> None:
    """Run what ``sink`` does not have yet, one draft in memory at a time.

    ``step`` is told what is being done and how many runs were finished.
    """
    units = list(plan.units())
    missing = [u for u in units if not sink.has(u.stem)]
    step("resuming", sum(len(u.prompts) for u in units) - sum(len(u.prompts) for u in missing))
    references = sink.references()
    if references is not None:
        step("plain", len(references))
    if not missing and references is not None:
        return
    target = load_model(plan.target, "target", float32=plan.float32)
    sink.learn(None, target)
    if references is None:
        references = _references(plan, target, step)
        sink.keep_references(references)
    found = dict(zip((p.id for p in plan.prompts), references, strict=True))
    for name in plan.drafts:
        todo = [u for u in missing if u.draft == name]
        if todo:
            _run_draft(plan, target, todo, found, sink, step)


def _references(plan: Plan, target: Loaded, step: Step) -> list[Reference]:
    plain(target, plan.prompts[0].text, min(WARM, plan.max_tokens))
    found = []
    for p in plan.prompts:
        found.append(plain(target, p.text, plan.max_tokens))
        step("plain", 1)
    return found


def _run_draft(
    plan: Plan, target: Loaded, todo: Sequence[Unit], found: Mapping[str, Reference], sink: Sink, step: Step
) -> None:
    """All missing units of one draft."""
    name = todo[0].draft
    draft = None if name == LOOKUP else load_model(plan.drafts[name], "draft", float32=plan.float32)
    if draft is not None:
        sink.learn(name, draft)
    pair: Pair | None = None
    for unit in todo:
        strategy = unit.strategy or Strategy()
        if pair is None or pair.strategy != strategy:
            pair = Pair(target, draft, strategy)
        _warm(pair, unit, plan.max_tokens)
        runs: list[Run] = []
        for p in unit.prompts:
            runs.append(run_cell(pair, p, found[p.id], plan.max_tokens, unit.k, name))
            step(f"{name} {unit.translation} k={unit.k}", 1)
        sink.add(unit.stem, [r.row for r in runs], [t for r in runs for t in r.traces])


def _warm(pair: Pair, unit: Unit, max_tokens: int) -> None:
    """A few tokens, so that nothing is compiled while the clock runs."""
    tokens = min(WARM, max_tokens)
    for _ in generate_rounds(
        pair, unit.prompts[0].text, max_tokens=tokens, k=unit.k, lookup=unit.draft == LOOKUP
    ):
        pass


def labels(names: Sequence[str]) -> dict[str, str]:
    """Models by short names: of a folder its last part.

    Raises:
        BenchUsageError: two have the same.
    """
    found: dict[str, str] = {}
    for name in names:
        label = Path(name).resolve().name if Path(name).is_dir() else name
        if label in found:
            raise BenchUsageError(f"two drafts are called {label!r}; give each once, or rename a folder.")
        found[label] = name
    return found


def strategies(names: Sequence[str], *, no_heal: bool, hold_back: bool) -> list[Strategy]:
    """Translations by name; each flag adds to every exact one its variant."""
    found: list[Strategy] = []
    for name in names:
        base = Strategy.parse(name)
        found.append(base)
        if base.exact and no_heal:
            found.append(replace(base, heal=False))
        if base.exact and hold_back:
            found.append(replace(base, hold_back=True))
    return list(dict.fromkeys(found))


def stem(draft: str, translation: str, k: int, batch: int) -> str:
    """A file name's part: letters, digits and dashes, the same for the same cell."""
    parts = (draft, translation or "text", f"k{k}", f"{batch:03}")
    return "--".join("".join(c if c.isalnum() else "-" for c in part) for part in parts)
