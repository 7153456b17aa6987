"""Train one model of the demo pair.

    python -m decoder.demo.train target --data data/target --out runs/target --minutes 6

The schedule follows the clock: the learning rate comes to its end when the minutes do, whatever the machine
manages by then. ``--steps`` makes it follow the steps instead, which is reproducible. The weights are left in
``OUT.checkpoint`` before ``OUT`` is made of them (see decoder/demo/export.py).
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mlx.core as mx

from decoder.demo.data import batches, read_tokens
from decoder.demo.export import build, export, measured, save_checkpoint, summary
from decoder.demo.learning import Learner, learning_rate
from decoder.demo.recipes import CONTEXT, RECIPES, ROUNDED_FROM, Recipe

_NOTES = 60  # entries of the curve
_EVALUATIONS = (0.25, 0.5, 0.75)  # where the held-out loss is taken on the way


@dataclass(frozen=True)
class Budget:
    """How long to train: minutes or steps."""

    minutes: float | None = None
    steps: int | None = None
    begin: float = field(default_factory=time.perf_counter)

    def fraction(self, step: int) -> float:
        """How much of the budget is used when ``step`` steps are done."""
        used = [0.0]
        if self.minutes is not None:
            used.append(self.seconds / (60 * self.minutes))
        if self.steps is not None:
            used.append(step / self.steps)
        return max(used)

    @property
    def seconds(self) -> float:
        """Since the beginning, loading and compiling included."""
        return time.perf_counter() - self.begin


@dataclass
class Curve:
    """What is told and kept of a training on its way."""

    entries: list[dict[str, float]] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    evaluated: int = 0

    def note(
        self, fraction: float, step: int, tokens: int, seconds: float, evaluate: Callable[[], Any]
    ) -> None:
        """Take an entry where one is due."""
        if fraction * _NOTES < len(self.entries) + 1 and fraction < 1:
            return
        mean = sum(self.losses) / len(self.losses)
        entry = {"step": step, "tokens": tokens, "seconds": round(seconds, 1), "loss": round(mean, 4)}
        self.losses.clear()
        if self.evaluated < len(_EVALUATIONS) and _EVALUATIONS[self.evaluated] <= fraction < 1:
            self.evaluated += 1
            entry |= {f"heldout_{name}": value for name, value in evaluate().items()}
        self.entries.append(entry)
        print(f"{100 * min(fraction, 1):3.0f} % {entry}", file=sys.stderr, flush=True)


def learn(
    recipe: Recipe, data: Path, budget: Budget, *, seed: int, dtype: mx.Dtype, context: int = CONTEXT
) -> tuple[Learner, dict[str, Any]]:
    """Train a model within a budget; returns it with the log of the training."""
    mx.random.seed(seed)
    tokens = read_tokens(data, "train")
    learner = Learner(build(recipe), recipe, dtype)
    curve, step, fraction = Curve(), 0, 0.0
    for ids in batches(tokens, recipe.batch, context, seed):
        rate = learning_rate(fraction, recipe.peak)
        curve.losses.append(learner.step(ids, rate, fraction >= ROUNDED_FROM))
        step += 1
        fraction = budget.fraction(step)
        seen = step * recipe.batch * context
        curve.note(
            fraction, step, seen, budget.seconds, lambda: measured(learner.settle(), data, context=context)
        )
        if fraction >= 1:
            break
    return learner, _log(curve, step, seen, len(tokens), budget, seed, context)


def _log(
    curve: Curve, steps: int, seen: int, tokens: int, budget: Budget, seed: int, context: int
) -> dict[str, Any]:
    return {
        "context": context,
        "seed": seed,
        "steps": steps,
        "tokens": seen,
        "passes": round(seen / tokens, 2),
        "seconds": round(budget.seconds, 1),
        "device": str(mx.device_info().get("device_name", platform.machine())),
        "mlx": version("mlx"),
        "curve": curve.entries,
    }


def train(
    recipe: Recipe, data: Path, out: Path, budget: Budget, *, seed: int, dtype: mx.Dtype, context: int = CONTEXT
) -> dict[str, Any]:
    """Train, keep the checkpoint, export; returns what ``training.json`` of the exported folder holds."""
    learner, log = learn(recipe, data, budget, seed=seed, dtype=dtype, context=context)
    checkpoint = out.with_name(out.name + ".checkpoint")
    save_checkpoint(learner.parameters, recipe, log, checkpoint)
    return export(checkpoint, data, out, context=context)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m decoder.demo.train", description="Train one demo model.")
    parser.add_argument("role", choices=list(RECIPES))
    parser.add_argument("--data", type=Path, required=True, help="folder that decoder.demo.prepare wrote")
    parser.add_argument("--out", type=Path, required=True, help="folder of the quantized model")
    parser.add_argument("--minutes", type=float, help="length of the training; the export comes after it")
    parser.add_argument("--steps", type=int, help="or its length in steps")
    parser.add_argument("--batch", type=int, help=f"windows of {CONTEXT} tokens in a step")
    parser.add_argument("--rate", type=float, help="highest learning rate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--float32", action="store_true", help="compute in float32, for a CPU")
    options = parser.parse_args()
    if options.minutes is None and options.steps is None:
        parser.error("give --minutes or --steps")
    return options


def main() -> None:
    """The command line."""
    options = _options()
    recipe = RECIPES[options.role]
    changes = {"batch": options.batch, "peak": options.rate}
    recipe = Recipe(**(vars(recipe) | {name: value for name, value in changes.items() if value is not None}))
    dtype = mx.float32 if options.float32 else mx.bfloat16
    budget = Budget(options.minutes, options.steps)
    print(summary(train(recipe, options.data, options.out, budget, seed=options.seed, dtype=dtype)), flush=True)


if __name__ == "__main__":
    main()
