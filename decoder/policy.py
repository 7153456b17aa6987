"""Adaptive drafting: each round as many draft tokens as pay, from whom they pay, none where nothing does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from decoder.loop import Round, State
from decoder.running import Confidence, Costs, Survival, curve

Source = Literal["model", "lookup", "plain"]

LONGEST = 8  # draft tokens a round at most
WIDEST = 16  # tokens verified at once at most
ALLOWANCE = 0.01  # share of all time that may go into trying out drafts that lose
CREDIT = 4.0  # plain steps that may be lost before anything was decoded
LEARN_PLAIN = 4  # plain steps measured before drafting starts, without a profile
PRIOR = 0.6  # chance that a draft token is right, before any evidence
# Without a profile, in plain steps: what one more verified token adds, and what a draft token costs.
VERIFY_SLOPE = 0.1
DRAFT_SHARE = 0.2


@dataclass(frozen=True)
class KnownCosts:
    """Costs to start from, in seconds: verification by tokens, drafting by tokens, one plain step, and the
    translation and host work of a round. Empty where nothing was measured."""

    verify: Mapping[int, float] = field(default_factory=dict)
    draft: Mapping[int, float] = field(default_factory=dict)
    plain: float | None = None
    overhead: float | None = None


class Adaptive:
    """The policy behind ``k = auto``.

    A round of k draft tokens is expected to emit 1 + E(r·k) tokens, r being the candidates that one of them
    becomes and E(n) how many of n candidates pass, and to take draft(k) + verify(1 + r·k) + overhead. The k
    with the best ratio is drafted, 0 (plain decoding) included. Time lost against plain decoding is kept
    within a small share of all time: where drafts lose, they are tried again only when the account allows it,
    which is how a change of content is noticed.
    """

    def __init__(self, known: KnownCosts | None = None, *, model: bool = True, longest: int = LONGEST) -> None:
        known = known or KnownCosts()
        self._plain_s = known.plain
        self._jumps = bool(known.verify)  # only a measured curve can say that more tokens are faster
        self._verify = Costs(curve(known.verify) if known.verify else self._assumed(VERIFY_SLOPE, 1.0))
        self._draft = Costs(curve(known.draft) if known.draft else self._assumed(DRAFT_SHARE, DRAFT_SHARE))
        self._overhead = Costs(
            self._assumed(0.0, 0.02) if known.overhead is None else curve({1: known.overhead})
        )
        self._model = model
        self._longest = longest
        self._survival: dict[Source, Survival] = {
            "model": Survival(WIDEST, PRIOR),
            "lookup": Survival(WIDEST, PRIOR),
        }
        self._confidence = Confidence()
        self._worth = 1.0
        self._plain_steps: list[float] = []
        self._spent = 0.0
        self._lead = 0.0
        self.source: Source = "plain"
        self.offered = 0

    # -- what the loop asks

    def draft_length(self, state: State) -> int:
        """The best number of draft tokens now; sets ``source``. ``offered`` are the tokens that lookup has."""
        self.source = "plain"
        if self._plain_s is None:
            return 0
        options = self._options()
        if not options:
            return 0
        (source, k), rate = max(options.items(), key=lambda item: item[1])
        if rate <= 1 / self._step_s() and not self._may_try(source, k):
            return 0
        if self._lead < -self._account():
            return 0
        self.source = source
        return k

    def width(self, n: int) -> int:
        """The size at least ``n`` that is fastest to verify; quantized kernels jump, so more can be faster."""
        if n == 1 or not self._jumps:
            return n
        return min(range(n, max(n, WIDEST) + 1), key=lambda m: (self._verify.at(m), m))

    def observe(self, done: Round) -> None:
        """Learn from a round: costs, acceptance, what a draft token is worth, the account."""
        p = done.proposal
        if done.k == 0:
            self._learn_plain(done.verify_s)
            self._spent += done.verify_s
            return
        seconds = p.draft_s + p.translate_s + done.verify_s + done.host_s
        self._verify.observe(self.width(1 + len(done.candidates)), done.verify_s)
        self._overhead.observe(1, p.translate_s + done.host_s)
        if self.source == "lookup":
            self._survival["lookup"].observe(len(done.candidates), done.accepted)
        elif p.drafted:
            self._learn_draft(done)
        self._spent += seconds
        # luck in the past does not pay for loss now
        self._lead = min(self._lead + len(done.tokens) * self._step_s() - seconds, self._account())

    def go_on(self, confidence: Sequence[float]) -> bool:
        """Whether two more draft tokens are worth their time, after tokens of these confidences."""
        alive = 1.0
        for c in confidence:
            alive *= self._confidence.chance(c)
        k = len(confidence)
        gain = alive * self._survival["model"].expected(2 * self._worth, after=k * self._worth)
        cost = self._draft.at(k + 2) - self._draft.at(k) + self._verified(k + 2) - self._verified(k)
        return gain > cost / self._step_s()

    # -- how it decides

    def _options(self) -> dict[tuple[Source, int], float]:
        """Expected tokens per second of every choice."""
        overhead = self._overhead.at(1)
        options: dict[tuple[Source, int], float] = {}
        for k in range(1, min(self.offered, WIDEST - 1) + 1):
            seconds = self._verify.at(self.width(1 + k)) + overhead
            options["lookup", k] = (1 + self._survival["lookup"].expected(k)) / seconds
        for k in range(1, self._longest + 1 if self._model else 1):
            seconds = self._draft.at(k) + self._verified(k) + overhead
            options["model", k] = (1 + self._survival["model"].expected(self._worth * k)) / seconds
        return options

    def _verified(self, k: int) -> float:
        """Seconds to verify what ``k`` draft tokens become, as a mean of the whole numbers around."""
        n = 1 + self._worth * k
        whole = int(n)
        few, many = (self._verify.at(self.width(m)) for m in (whole, whole + 1))
        return few + (many - few) * (n - whole)

    def _may_try(self, source: Source, k: int) -> bool:
        """Whether a losing draft may be tried: its expected loss fits into the account, and it could win."""
        rate = self._options()[source, k]
        worth = self._worth if source == "model" else 1.0
        seconds = (1 + self._survival[source].expected(worth * k)) / rate
        best = (1 + worth * k) / seconds
        loss = seconds - self._step_s()
        return best > 1 / self._step_s() and self._lead + self._account() > loss

    def _account(self) -> float:
        """Seconds that may be lost so far."""
        return ALLOWANCE * self._spent + CREDIT * self._step_s()

    def _step_s(self) -> float:
        """Seconds of a plain step; a guess of the first microsecond until one was measured."""
        return self._plain_s if self._plain_s is not None else 1e-6

    def _assumed(self, slope: float, first: float) -> Callable[[int], float]:
        return lambda size: self._step_s() * (first + slope * (size - 1))

    def _learn_plain(self, seconds: float) -> None:
        """The median of the first steps (the very first waits for the prompt), then smoothed."""
        if self._plain_s is not None:
            self._plain_s += 0.05 * (min(seconds, 2 * self._plain_s) - self._plain_s)
            return
        self._plain_steps.append(seconds)
        if len(self._plain_steps) > LEARN_PLAIN:
            self._plain_s = median(self._plain_steps[1:])

    def _learn_draft(self, done: Round) -> None:
        p = done.proposal
        self._draft.observe(len(p.drafted), p.draft_s)
        self._survival["model"].observe(len(done.candidates), done.accepted)
        self._worth += 0.1 * (len(done.candidates) / len(p.drafted) - self._worth)
        if p.confidence:
            self._confidence.observe(p.confidence, drafted_right(done))


def drafted_right(done: Round) -> int:
    """How many drafted tokens had all their text accepted, by their share of the candidates."""
    n = len(done.candidates)
    return 0 if n == 0 else int(len(done.proposal.drafted) * done.accepted / n)
