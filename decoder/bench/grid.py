"""The grid: every draft with every translation and k over every prompt, one row a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from decoder.bench.cells import Reference, plain, run_cell
from decoder.bench.prompts import BenchPrompt
from decoder.generation import Pair
from decoder.models import Loaded, load_model
from decoder.strategy import Strategy

LOOKUP = "lookup"  # the name that stands for prompt lookup among the drafts


@dataclass(frozen=True)
class Plan:
    """What to run. ``drafts`` are model names, or ``lookup``. ``float32`` computes in float32."""

    target: str
    drafts: Sequence[str]
    strategies: Sequence[Strategy]
    ks: Sequence[int]
    prompts: Sequence[BenchPrompt]
    max_tokens: int
    float32: bool = False

    @property
    def runs(self) -> int:
        """How many runs the grid has, plain ones included."""
        cells = sum(1 if d == LOOKUP else len(self.strategies) for d in self.drafts) * len(self.ks)
        return len(self.prompts) * (1 + cells)


def run_plan(plan: Plan, step: Callable[[], None] = lambda: None) -> Iterator[dict[str, Any]]:
    """Run the grid, one draft in memory at a time; ``step`` is called after every run."""
    target = load_model(plan.target, "target", float32=plan.float32)
    references: list[Reference] = []
    for p in plan.prompts:
        references.append(plain(target, p.text, plan.max_tokens))
        step()
    for name in plan.drafts:
        if name == LOOKUP:
            pairs = [Pair(target, None, Strategy(), k) for k in plan.ks]
        else:
            draft = load_model(name, "draft", float32=plan.float32)
            pairs = list(_pairs(target, draft, plan))
        for pair in pairs:
            for p, reference in zip(plan.prompts, references, strict=True):
                yield run_cell(pair, p, reference, plan.max_tokens, lookup=name == LOOKUP)
                step()


def _pairs(target: Loaded, draft: Loaded, plan: Plan) -> Iterator[Pair]:
    for strategy in plan.strategies:
        pair = Pair(target, draft, strategy)
        for k in plan.ks:
            yield replace(pair, k=k)
