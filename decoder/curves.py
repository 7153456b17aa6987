"""Measured times as a function of how many tokens and how long a context."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """A measured quantity: the median, the lower and the upper quartile, over so many repeats."""

    median: float
    low: float
    high: float
    repeats: int


@dataclass(frozen=True)
class Timing:
    """Seconds for ``n`` tokens (or steps) behind a context of ``context`` tokens; see :class:`Spread`."""

    context: int
    n: int
    median: float
    low: float
    high: float
    repeats: int


class Curve:
    """The medians of a table of timings, at any n and context.

    Between measured values it is linear, first in n, then in the context. At a fractional n that is the mean
    over rounds that have the whole number below and above in that proportion. Beyond the largest n it goes on
    with the last slope (never downwards), below the smallest it keeps the first value; contexts outside the
    measured ones take the nearest.
    """

    def __init__(self, timings: Iterable[Timing]) -> None:
        rows: dict[int, dict[int, float]] = {}
        for t in timings:
            rows.setdefault(t.context, {})[t.n] = t.median
        self.contexts = sorted(rows)
        self._rows = {c: (sorted(row), [row[n] for n in sorted(row)]) for c, row in rows.items()}

    def __bool__(self) -> bool:
        return bool(self.contexts)

    @property
    def ns(self) -> tuple[int, ...]:
        """The numbers of tokens that were measured at every context."""
        found = [set(ns) for ns, _ in self._rows.values()]
        return tuple(sorted(set.intersection(*found))) if found else ()

    def at(self, n: float, context: int | None = None) -> float:
        """Seconds; without a context, at the middle one of those measured."""
        context = self.contexts[(len(self.contexts) - 1) // 2] if context is None else context
        return interpolated(self.contexts, [_row(*self._rows[c], n) for c in self.contexts], context)

    def line(self, context: int | None = None) -> tuple[float, float]:
        """Least squares of seconds = fixed + n × each over the measured n: (fixed, each)."""
        ns = self.ns
        return fitted_line(ns, [self.at(n, context) for n in ns])


def fitted_line(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Ordinary least squares of y = a + b·x, as (a, b); of a single point, (0, y / x)."""
    if len(xs) == 1:
        return 0.0, ys[0] / xs[0]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    b = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread
    return mean_y - b * mean_x, b


def interpolated(xs: Sequence[float], ys: Sequence[float], x: float) -> float:
    """Piecewise linear over sorted ``xs``, level beyond the ends."""
    if x <= xs[0]:
        return ys[0]
    if x >= xs[-1]:
        return ys[-1]
    i = bisect_left(xs, x)
    share = (x - xs[i - 1]) / (xs[i] - xs[i - 1])
    return ys[i - 1] + share * (ys[i] - ys[i - 1])


def _row(ns: Sequence[int], times: Sequence[float], n: float) -> float:
    if n <= ns[-1] or len(ns) == 1:
        return interpolated(ns, times, n)
    slope = (times[-1] - times[-2]) / (ns[-1] - ns[-2])
    return times[-1] + max(slope, 0.0) * (n - ns[-1])
