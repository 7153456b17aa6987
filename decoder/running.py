"""What the running decoder knows of its costs and of the draft's luck: decayed estimates, updated every round."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Mapping, Sequence

BINS = 10  # of the draft's confidence


class Costs:
    """Seconds by size (tokens verified, tokens drafted): a curve to start from, corrected by what is measured.

    ``curve`` gives the seconds expected of a size. Of every measured size the ratio to it is kept, smoothed
    exponentially; sizes between measured ones interpolate the ratio, sizes beyond take the nearest one. So one
    measurement moves the whole curve, and its shape (the jumps of a kernel) stays until it is measured away.
    """

    def __init__(self, curve: Callable[[int], float], weight: float = 0.2) -> None:
        self._curve = curve
        self._ratio: dict[int, float] = {}
        self._sizes: list[int] = []
        self._weight = weight

    def observe(self, size: int, seconds: float) -> None:
        """Note one measurement. One far above the estimate (a page fault, another program) counts less."""
        expected = self._curve(size)
        if expected <= 0:
            return
        ratio = seconds / expected
        old = self._ratio.get(size)
        if old is None:
            insort(self._sizes, size)
            self._ratio[size] = ratio
        else:
            self._ratio[size] = old + self._weight * (min(ratio, 2 * old) - old)

    def at(self, size: int) -> float:
        """Seconds for a size."""
        return self._curve(size) * self._correction(size)

    def _correction(self, size: int) -> float:
        if not self._sizes:
            return 1.0
        right = bisect_left(self._sizes, size)
        if right == 0 or right == len(self._sizes):
            return self._ratio[self._sizes[min(right, len(self._sizes) - 1)]]
        low, high = self._sizes[right - 1], self._sizes[right]
        share = (size - low) / (high - low)
        return self._ratio[low] * (1 - share) + self._ratio[high] * share


def curve(known: Mapping[int, float]) -> Callable[[int], float]:
    """Linear between the known sizes (at least one), level before them, and on with the last slope after them."""
    sizes = sorted(known)

    def seconds(size: int) -> float:
        right = bisect_left(sizes, size)
        if right < len(sizes) and (right == 0 or sizes[right] == size):
            return known[sizes[right]]
        if right == len(sizes):
            if len(sizes) == 1:
                return known[sizes[0]]
            low, high = sizes[-2], sizes[-1]
        else:
            low, high = sizes[right - 1], sizes[right]
        return max(0.0, known[low] + (known[high] - known[low]) * (size - low) / (high - low))

    return seconds


class Survival:
    """How far candidates get: for each position the share of rounds reaching it that pass it, decayed.

    A position without evidence borrows that of all positions, and all of them lean on ``prior``.
    """

    def __init__(self, positions: int, prior: float, decay: float = 0.97) -> None:
        self._passed = [0.0] * positions
        self._tried = [0.0] * positions
        self._prior = prior
        self._decay = decay

    def observe(self, length: int, passed: int) -> None:
        """Note ``length`` candidates of which the first ``passed`` were right."""
        for j in range(min(length, passed + 1, len(self._tried))):
            self._tried[j] = self._tried[j] * self._decay + 1
            self._passed[j] = self._passed[j] * self._decay + (j < passed)

    def rates(self) -> list[float]:
        """The chance of each position, given that the one before passed."""
        pooled = (sum(self._passed) + 2 * self._prior) / (sum(self._tried) + 2)
        return [(p + 2 * pooled) / (t + 2) for p, t in zip(self._passed, self._tried, strict=True)]

    def expected(self, length: float, after: float = 0.0) -> float:
        """Expected number of candidates that pass among ``length`` behind the first ``after``, which passed.

        Fractional numbers are means over rounds; they count a part of a position.
        """
        rates = self.rates()
        total, alive, at = 0.0, 1.0, after
        while at < after + length and at < len(rates):
            step = min(int(at) + 1 - at, after + length - at)
            alive *= rates[int(at)] ** step
            total += alive * step
            at += step
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
