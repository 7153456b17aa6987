"""Made recordings: for each token the chance that the draft has it right, and what is drawn from it."""

from __future__ import annotations

import random
from collections.abc import Sequence

from decoder.replay import Recording


def constant(a: float, n: int) -> list[float]:
    """The same chance throughout."""
    return [a] * n


def zero(n: int) -> list[float]:
    """A draft that is never right."""
    return [0.0] * n


def jump(before: float, after: float, n: int) -> list[float]:
    """One chance in the first half, another in the second."""
    return [before] * (n // 2) + [after] * (n - n // 2)


def drift(first: float, last: float, n: int) -> list[float]:
    """A chance that moves evenly from one value to another."""
    return [first + (last - first) * i / max(n - 1, 1) for i in range(n)]


def synthetic(chances: Sequence[float], k: int, *, ratio: float = 1.0, seed: int = 0) -> Recording:
    """A recording drawn from chances, the same for the same seed."""
    draw = random.Random(seed).random
    return Recording(tuple(draw() < c for c in chances), (ratio,) * len(chances), k, "synthetic")
