"""Two cells of the grid on the same prompts: differences with intervals, and ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from decoder.bench.summary import RESAMPLES

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Difference:
    """Tokens per pass of one cell against those of another, with a 95 % interval over ``prompts`` that both have.

    The interval is of a paired bootstrap; None for fewer than two prompts.
    """

    value: float
    low: float | None
    high: float | None
    prompts: int
    neutral: float = 0.0

    @property
    def certain(self) -> bool:
        """Whether the interval leaves out what would be no difference."""
        ends = self.low, self.high
        return None not in ends and (self.low > self.neutral or self.high < self.neutral)  # type: ignore[operator]


def difference(a: Sequence[Row], b: Sequence[Row], seed: int = 0) -> Difference | None:
    """How much better ``a`` is than ``b``; None without common prompts."""
    found = _paired(a, b, seed, _gain)
    return None if found is None else Difference(*found)


def quotient(a: Sequence[Row], b: Sequence[Row], seed: int = 0) -> Difference | None:
    """Tokens per pass of ``a`` over those of ``b``, with the same kind of interval; 1 is neither better."""
    found = _paired(a, b, seed, lambda sums: sums[0] / sums[1] / (sums[2] / sums[3]))
    return None if found is None else Difference(*found, neutral=1.0)


def _paired(
    a: Sequence[Row], b: Sequence[Row], seed: int, of: Callable[[np.ndarray], np.ndarray]
) -> tuple[float, float | None, float | None, int] | None:
    by_prompt = {(r["group"], r["prompt"]): r for r in b}
    pairs = [(r, by_prompt[key]) for r in a if (key := (r["group"], r["prompt"])) in by_prompt]
    if not pairs:
        return None
    counts = np.array([[x["tokens"], x["rounds"], y["tokens"], y["rounds"]] for x, y in pairs], dtype=float)
    value = float(of(counts.sum(axis=0)))
    if len(pairs) < 2:
        return value, None, None, len(pairs)
    share = np.full(len(pairs), 1 / len(pairs))
    draws = np.random.default_rng(seed).multinomial(len(pairs), share, size=RESAMPLES) @ counts
    low, high = np.quantile(of(draws.T), [0.025, 0.975])
    return value, float(low), float(high), len(pairs)


def _gain(sums: np.ndarray) -> np.ndarray:
    gain: np.ndarray = sums[0] / sums[1] - sums[2] / sums[3]
    return gain


def spearman(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Spearman's rank correlation, ties sharing their mean rank; None for fewer than three or equal values."""
    if len(xs) < 3 or len(set(xs)) < 2 or len(set(ys)) < 2:
        return None
    return float(np.corrcoef(ranks(xs), ranks(ys))[0, 1])


def ranks(values: Sequence[float]) -> np.ndarray:
    """Ranks from 1 up, ties sharing their mean."""
    array = np.asarray(values, dtype=float)
    less = (array[:, None] > array[None, :]).sum(axis=1)
    equal = (array[:, None] == array[None, :]).sum(axis=1)
    found: np.ndarray = less + (equal + 1) / 2
    return found
