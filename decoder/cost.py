"""What a round costs and brings: speed from acceptance and a machine's profile. Pure arithmetic, no models.

Two kinds of acceptance are in use and must not be mixed. ``a`` is the chance that a candidate is right where
all before it were; ``share`` is accepted over proposed, which is what a run reports. For n candidates they
are tied by share = (E - 1) / n, with E the expected tokens a round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from decoder.errors import ProfileUsageError
from decoder.profile import Profile

WIDEST = 16  # tokens verified at once at most

Acceptance = float | Sequence[float]
"""One chance for every candidate, or the chance at each position given that all before were accepted."""


def expected_tokens(a: float, n: float) -> float:
    """Expected tokens a round, 1 to n + 1: E = (1 - a^(n+1)) / (1 - a).

    Leviathan, Kalman and Matias, "Fast Inference from Transformers via Speculative Decoding", 2023, eq. 1:
    n candidates, each accepted with chance ``a`` independently while all before it were, and one token more.
    A fractional n is the mean over rounds with the whole number below and above.
    """
    return expected_at((a,), n)


def expected_at(chances: Sequence[float], n: float) -> float:
    """Expected tokens a round for the chance at each position, E = 1 + Σ_j Π_{i≤j} chances_i.

    Positions beyond the last one known repeat it.
    """
    if n < 0 or not chances or not all(0 <= c <= 1 for c in chances):
        raise ProfileUsageError(f"acceptance {list(chances)} over {n:g} candidates: chances lie from 0 to 1.")
    total, product = 1.0, 1.0
    whole = int(n)
    for i in range(whole + (n > whole)):
        product *= chances[min(i, len(chances) - 1)]
        total += product * min(1.0, n - i)
    return total


def accepted_share(tokens: float, n: float) -> float | None:
    """Accepted over proposed, (E - 1) / n; None where nothing was proposed."""
    return (tokens - 1) / n if n else None


@dataclass(frozen=True)
class Setup:
    """What stays the same over a comparison of draft lengths.

    ``draft`` names one of the profile's drafts (None: the first), ``context`` is in target tokens (None: the
    middle one measured), ``ratio`` the target candidates that one drafted token becomes, ``feed`` how many
    tokens the draft catches up with. With ``pad`` a verification takes as many more tokens as make it faster,
    up to ``WIDEST``: quantized kernels have such sizes.
    """

    profile: Profile
    draft: str | None = None
    context: int | None = None
    ratio: float = 1.0
    feed: int = 1
    pad: bool = False

    def candidates(self, k: int) -> float:
        """Candidates from ``k`` drafted tokens."""
        return k * self.ratio

    def round_s(self, k: int, candidates: float | None = None) -> float:
        """Seconds of a round: draft(k) + translation both ways + verify(n + 1) + host.

        Parts that the profile does not have count nothing here; :func:`unmeasured` names them. A round without
        a draft is a plain step.
        """
        p = self.profile
        if k == 0:
            return p.plain_s(self.context)
        n = self.candidates(k) if candidates is None else candidates
        beside = (p.translate_s(self.draft) or 0.0) + (p.host_s(self.draft) or 0.0)
        drafting = p.draft_s(k, self.context, draft=self.draft, feed=self.feed)
        return drafting + beside + self.verify_s(n + 1)

    def verify_s(self, n: float) -> float:
        """Seconds to verify ``n`` tokens, padded where that is asked for and faster."""
        sizes = [n, *range(ceil(n), WIDEST + 1)] if self.pad else [n]
        return min(self.profile.verify_s(size, self.context) for size in sizes)

    def speedup(self, k: int, acceptance: Acceptance) -> float:
        """Speed over plain decoding: plain seconds a token × E / seconds a round."""
        chances = (acceptance,) if isinstance(acceptance, int | float) else tuple(acceptance)
        expected = expected_at(chances, self.candidates(k))
        return self.profile.plain_s(self.context) * expected / self.round_s(k)

    def known(self) -> dict[str, Any]:
        """The measured tables in seconds, by the field names of `decoder.policy.KnownCosts`.

        ``verify`` and ``draft`` by tokens, ``plain``, and ``overhead``: translation and host, None where
        neither was measured.
        """
        p = self.profile
        beside = [s for s in (p.translate_s(self.draft), p.host_s(self.draft)) if s is not None]
        ks = p.draft(self.draft).step_curve.ns
        return {
            "verify": {n: p.verify_s(n, self.context) for n in p.verify_curve.ns},
            "draft": {k: p.draft_s(k, self.context, draft=self.draft, feed=self.feed) for k in ks},
            "plain": p.plain_s(self.context),
            "overhead": sum(beside) if beside else None,
        }

    def relative_cost(self, k: int) -> float:
        """A round's seconds in plain steps: the tokens it must bring to break even."""
        return self.round_s(k) / self.profile.plain_s(self.context)

    def break_even(self, k: int) -> float | None:
        """The chance ``a`` at which a round of ``k`` is as fast as plain decoding; None if 1 is too little."""
        return solve(lambda a: self.speedup(k, a) - 1)

    def break_even_share(self, k: int) -> float | None:
        """The same as accepted over proposed; it does not depend on how acceptance falls with the position."""
        share = (self.relative_cost(k) - 1) / self.candidates(k)
        return max(share, 0.0) if share <= 1 else None


def unmeasured(profile: Profile, draft: str | None = None) -> list[str]:
    """Parts of a round that the profile does not have, so that a computed speed leaves them out."""
    found = []
    if profile.translate_s(draft) is None:
        found.append("translation")
    if profile.host_s(draft) is None:
        found.append("host")
    return found


def best_k(setup: Setup, acceptance: Acceptance, ks: Iterable[int] = range(17)) -> tuple[int, float]:
    """The fastest draft length, the least of equals, and its speed over plain decoding, which is k = 0."""
    speeds = [(k, 1.0 if k == 0 else setup.speedup(k, acceptance)) for k in sorted(set(ks))]
    return max(speeds, key=lambda pair: (pair[1], -pair[0]))


def solve(rising: Callable[[float], float]) -> float | None:
    """The root in [0, 1] of a rising function, by bisection; 0 if it starts above, None if it ends below."""
    low, high = 0.0, 1.0
    if rising(low) >= 0:
        return low
    if rising(high) < 0:
        return None
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) >= 0 else (middle, high)
    return high
