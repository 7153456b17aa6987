"""Playing recorded rounds again under another draft length, on any machine's profile.

What is replayed. A recording says of every emitted token whether the draft had it right: accepted candidates
were right, the target's own token behind a refused one was not. The token behind a fully accepted draft was
never proposed; it is taken as ``bonus`` says, so that both assumptions bracket the truth. A round of k tokens
from any place then gives the candidates that its place had for each drafted token, accepts those that are
right up to the first that is not, and emits one token more.

The approximation: whether the draft gets a token right is taken not to depend on where the round began, and
a shorter draft to give the beginning of the longer one's candidates. A longer draft than the recorded one
cannot be answered; record with the largest k. Nothing of this is needed for a :class:`Dense` recording, which
asked the draft at every token.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Protocol

from decoder.cost import Setup
from decoder.errors import ProfileUsageError


class Policy(Protocol):
    """Chooses the draft length of every round and learns what became of it."""

    def choose(self) -> int:
        """Draft tokens for the next round; 0 is a plain step."""
        ...

    def observe(self, k: int, candidates: int, accepted: int) -> None:
        """What a round of ``k`` drafted tokens gave: candidates verified and accepted."""
        ...


@dataclass(frozen=True)
class Fixed:
    """The same draft length in every round."""

    k: int

    def choose(self) -> int:
        """The length."""
        return self.k

    def observe(self, k: int, candidates: int, accepted: int) -> None:
        """Nothing to learn."""


class Recorded(Protocol):
    """One generation that can be played again with up to ``k`` drafted tokens a round."""

    @property
    def k(self) -> int:
        """The largest draft length that can be answered."""
        ...

    @property
    def length(self) -> int:
        """Its tokens."""
        ...

    def round_at(self, at: int, k: int, bonus: bool) -> tuple[int, int]:
        """Candidates and accepted of a round of ``k`` drafted tokens from token ``at`` on."""
        ...


@dataclass(frozen=True)
class Dense:
    """A generation whose draft was asked at every token, so that the answers are exact.

    ``places`` has for each token the candidates and the accepted of drafts of 1, 2, … tokens; a draft that
    ends sooner has fewer. ``k`` is the longest that was asked for.
    """

    places: tuple[tuple[tuple[int, int], ...], ...]
    k: int
    group: str = "all"

    @property
    def length(self) -> int:
        """Its tokens."""
        return len(self.places)

    def round_at(self, at: int, k: int, bonus: bool) -> tuple[int, int]:
        """As recorded, without what lies beyond the end; ``bonus`` is not needed."""
        known = self.places[at][:k]
        candidates, accepted = known[-1] if known else (0, 0)
        left = self.length - at - 1
        return min(candidates, left), min(accepted, left)


@dataclass(frozen=True)
class Recording:
    """One generation, a token an element.

    ``right`` says whether the draft had the token, None where it proposed nothing for it; ``ratio`` is the
    candidates that a drafted token becomes there. ``k`` is the draft length it was recorded with.
    """

    right: tuple[bool | None, ...]
    ratio: tuple[float, ...]
    k: int
    group: str = "all"

    @property
    def length(self) -> int:
        """Its tokens."""
        return len(self.right)

    def round_at(self, at: int, k: int, bonus: bool) -> tuple[int, int]:
        """Candidates and accepted of a round of ``k`` drafted tokens from token ``at`` on."""
        candidates = min(int(k * self.ratio[at] + 0.5), len(self.right) - at - 1)
        accepted = 0
        while accepted < candidates and (bonus if (r := self.right[at + accepted]) is None else r):
            accepted += 1
        return candidates, accepted


@dataclass(frozen=True)
class Replayed:
    """Totals of a replay. ``ks`` counts rounds by draft length; times are simulated seconds."""

    tokens: int
    rounds: int
    proposed: int
    accepted: int
    seconds: float
    plain_seconds: float
    ks: Mapping[int, int]

    @property
    def tokens_per_s(self) -> float | None:
        """Emitted tokens a second; None without any."""
        return self.tokens / self.seconds if self.tokens else None

    @property
    def speedup(self) -> float | None:
        """Over plain decoding of the same tokens; None without any."""
        return self.plain_seconds / self.seconds if self.tokens else None


@dataclass(frozen=True)
class Outcome:
    """A policy beside what could be known only in hindsight.

    ``regret_fixed`` and ``regret_oracle`` are the share of time lost against the best single k and against the
    best k in every round (negative: faster than any single k). None without tokens.
    """

    policy: Replayed
    best_k: int
    best_fixed: Replayed
    oracle_seconds: float

    @property
    def regret_fixed(self) -> float | None:
        """Seconds over those of the best single k, less 1."""
        return self.policy.seconds / self.best_fixed.seconds - 1 if self.policy.tokens else None

    @property
    def regret_oracle(self) -> float | None:
        """Seconds over those of the best k in every round, less 1."""
        return self.policy.seconds / self.oracle_seconds - 1 if self.policy.tokens else None


def replay(
    recordings: Sequence[Recorded], setup: Setup, make: Callable[[], Policy], *, bonus: bool = True
) -> Replayed:
    """Replay all recordings, each with a policy of its own from ``make``.

    Raises:
        ProfileUsageError: the policy asks for more draft tokens than were recorded.
    """
    price = cache(setup.round_s)
    seconds, proposed, accepted_all, tokens = 0.0, 0, 0, 0
    ks: Counter[int] = Counter()
    for recording in recordings:
        policy, at = make(), 0
        while at < recording.length:
            k = policy.choose()
            if not 0 <= k <= recording.k:
                raise ProfileUsageError(
                    f"a draft of {k} tokens cannot be replayed: the rounds were recorded with {recording.k}; "
                    "record them with the largest k."
                )
            candidates, accepted = recording.round_at(at, k, bonus)
            seconds += price(k, candidates)
            policy.observe(k, candidates, accepted)
            at += accepted + 1
            ks[k] += 1
            proposed, accepted_all = proposed + candidates, accepted_all + accepted
        tokens += at
    plain = tokens * setup.profile.plain_s(setup.context)
    return Replayed(tokens, ks.total(), proposed, accepted_all, seconds, plain, dict(sorted(ks.items())))


def assess(
    recordings: Sequence[Recorded], setup: Setup, make: Callable[[], Policy], *, bonus: bool = True
) -> Outcome:
    """Replay a policy and measure its regret."""
    if not recordings:
        raise ProfileUsageError("there are no rounds to replay.")
    largest = min(r.k for r in recordings)
    fixed = {k: replay(recordings, setup, partial(Fixed, k), bonus=bonus) for k in range(largest + 1)}
    best = min(fixed, key=lambda k: (fixed[k].seconds, k))
    return Outcome(
        replay(recordings, setup, make, bonus=bonus), best, fixed[best], oracle(recordings, setup, bonus=bonus)
    )


def oracle(recordings: Sequence[Recorded], setup: Setup, *, bonus: bool = True) -> float:
    """The least seconds that any choice of k in every round can take, by working back from the end."""
    price = cache(setup.round_s)
    total = 0.0
    for recording in recordings:
        n = recording.length
        left = [0.0] * (n + 1)
        for at in range(n - 1, -1, -1):
            options = []
            for k in range(recording.k + 1):
                candidates, accepted = recording.round_at(at, k, bonus)
                options.append(price(k, candidates) + left[at + accepted + 1])
            left[at] = min(options)
        total += left[0]
    return total
