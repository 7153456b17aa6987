"""What the running decoder knows of its costs and of the draft's luck: decayed estimates, updated every round."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

BINS = 10  # of the draft's confidence


class Costs:
    """Seconds by size (tokens verified, tokens drafted), from a profile, from this run, or from both.

    A measured size is smoothed exponentially; a size between measured ones is interpolated linearly, one
    beyond them costs as the last step did, and with one size known every size costs the same.
    """

    def __init__(self, known: Mapping[int, float] | None = None, weight: float = 0.2) -> None:
        self._seconds = dict(known or {})
        self._sizes = sorted(self._seconds)
        self._weight = weight

    def __bool__(self) -> bool:
        return bool(self._sizes)

    def observe(self, size: int, seconds: float) -> None:
        """Note one measurement. One far above the estimate (a page fault, another program) counts less."""
        old = self._seconds.get(size)
        if old is None:
            self._sizes.insert(bisect_left(self._sizes, size), size)
            self._seconds[size] = seconds
        else:
            self._seconds[size] = old + self._weight * (min(seconds, 2 * old) - old)

    def at(self, size: int) -> float:
        """Seconds for a size.

        Raises:
            ValueError: nothing is known yet.
        """
        if not self._sizes:
            raise ValueError("no cost is known yet")
        if size in self._seconds:
            return self._seconds[size]
        right = bisect_left(self._sizes, size)
        if right == 0:
            return self._seconds[self._sizes[0]]
        low = self._sizes[right - 1]
        if right < len(self._sizes):
            high = self._sizes[right]
            share = (size - low) / (high - low)
            return self._seconds[low] * (1 - share) + self._seconds[high] * share
        if right == 1:
            return self._seconds[low]
        before = self._sizes[right - 2]
        slope = max(0.0, (self._seconds[low] - self._seconds[before]) / (low - before))
        return self._seconds[low] + slope * (size - low)


class Survival:
    """How far drafts get: for each position the share of drafts reaching it that pass it, decayed.

    A position without evidence borrows that of all positions, and all of them lean on ``prior``.
    """

    def __init__(self, positions: int, prior: float, decay: float = 0.95) -> None:
        self._passed = [0.0] * positions
        self._tried = [0.0] * positions
        self._prior = prior
        self._decay = decay

    def observe(self, length: int, passed: int) -> None:
        """Note a draft of ``length`` tokens of which the first ``passed`` were right."""
        for j in range(min(length, passed + 1, len(self._tried))):
            self._tried[j] = self._tried[j] * self._decay + 1
            self._passed[j] = self._passed[j] * self._decay + (j < passed)

    def rates(self) -> list[float]:
        """The chance of each position, given that the one before passed."""
        pooled = (sum(self._passed) + 2 * self._prior) / (sum(self._tried) + 2)
        return [(p + 2 * pooled) / (t + 2) for p, t in zip(self._passed, self._tried, strict=True)]

    def expected(self, length: int) -> float:
        """Expected number of passed positions in a draft of ``length`` tokens."""
        total, alive = 0.0, 1.0
        for rate in self.rates()[:length]:
            alive *= rate
            total += alive
        return total


class Confidence:
    """The draft's own probability of a token, corrected by how often such tokens turned out right."""

    def __init__(self, decay: float = 0.99) -> None:
        self._right = [0.0] * BINS
        self._seen = [0.0] * BINS
        self._decay = decay

    def observe(self, confidence: Sequence[float], passed: int) -> None:
        """Note a draft's tokens up to the first wrong one."""
        for j, c in enumerate(confidence[: passed + 1]):
            b = self._bin(c)
            self._seen[b] = self._seen[b] * self._decay + 1
            self._right[b] = self._right[b] * self._decay + (j < passed)

    def chance(self, confidence: float) -> float:
        """The chance that a token of this confidence is right."""
        b = self._bin(confidence)
        return (self._right[b] + 4 * confidence) / (self._seen[b] + 4)

    @staticmethod
    def _bin(confidence: float) -> int:
        return min(BINS - 1, int(confidence * BINS))
