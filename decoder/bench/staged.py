"""A recorded text decoded again with the cost of other models: real computation, recorded outcome.

The models that matter (11 B parameters) cannot always be had, but their cost can: models of their shape with
random weights compute as long. Here the decoding loop itself runs, with such models; only what the draft
proposes and what the target chooses is taken from a :class:`~decoder.bench.dense.Dense` recording.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import mlx.core as mx
from mlx_lm.generate import generate_step

from decoder.bench.dense import Dense
from decoder.drafters import AutoDrafter, LookupDrafter, ModelDrafter, Proposal
from decoder.healing import Healer
from decoder.lane import Lane
from decoder.loop import Decoding, Limits, Policy, Round, State
from decoder.policy import WIDEST, Adaptive
from decoder.sampling import Sampling
from tokalign.tokenizers import Tokenizer
from tokalign.translate import ExactTranslator, Tail, Translation

CONTEXT = 512  # tokens of context before a recording starts


@dataclass(frozen=True)
class RecordedChoice(Sampling):
    """Waits for the logits as a greedy choice does, then gives the recorded tokens."""

    tokens: tuple[int, ...] = ()

    def choose(
        self, logits: mx.array, history: Sequence[int] | mx.array, candidates: Sequence[int], position: int
    ) -> mx.array:
        """The recorded tokens at this position and the next ones; past the end any token."""
        n = logits.shape[0]
        known = [*self.tokens[position : position + n], *[0] * n][:n]
        return mx.argmax(logits, axis=-1) * 0 + mx.array(known, dtype=mx.uint32)


@dataclass
class StagedDrafter:
    """Runs a draft model for as many steps as are asked for and proposes what was recorded.

    The proposed ids are right as far as the recording says, and one that the target did not choose after that.
    """

    lane: Lane
    dense: Dense
    translator: ExactTranslator
    healer: Healer | None = None
    go_on: Callable[[Sequence[float]], bool] | None = None
    at: int = 0
    waiting: int = 1

    def propose(self, target: Tail, k: int) -> Proposal:
        """Draft, then translate the recorded text for its cost."""
        place = self.dense.places[self.at]
        k = min(k, len(place.candidates))
        if k == 0:
            return Proposal()
        begin = time.perf_counter()
        k = self._compute(k, place.confidence)
        drafted_at = time.perf_counter()
        right, n = place.accepted[k - 1], place.candidates[k - 1]
        truth = self.dense.tokens[self.at : self.at + right]
        wrong = (
            (self.dense.tokens[self.at + right] + 1) % 1000 if self.at + right < len(self.dense.tokens) else 1
        )
        ids = (*truth, *[wrong] * (n - right))
        self.translator.translate(target, self.translator.target.decode(ids))
        done = time.perf_counter()
        drafted = tuple(range(1, k + 1))
        times = drafted_at - begin, done - drafted_at
        return Proposal(Translation(ids), drafted, b"", False, tuple(place.confidence[:k]), *times)

    def _compute(self, k: int, confidence: Sequence[float]) -> int:
        """Real steps of the draft model: the catch-up with the first one, then one at a time; returns how many."""
        base = self.lane.length
        word = 2 if self.healer is not None else 0
        logits = self.lane.feed(mx.array([1] * (self.waiting + word)))
        if self.healer is not None:
            y = self.healer.first(logits[-1 - word :], [300] * word)[1]
        else:
            y = mx.argmax(logits[-1:], axis=-1)
        done, asked = 1, self.go_on is not None
        while done < k and (self.go_on is None or done == 1 or self.go_on(confidence[:done])):
            ahead = (1 if done == 1 else 2) if asked else k
            for _ in range(min(ahead, k - done)):
                y = mx.argmax(self.lane.feed(y), axis=-1)
                done += 1
            mx.eval(y)
        mx.eval(y)
        self.lane.trim(self.lane.length - base)
        return done

    def follow(self, committed: Sequence[int]) -> None:
        """Move on in the recording."""
        self.at += len(committed)
        self.waiting = max(1, len(committed))


@dataclass(frozen=True)
class Stage:
    """A target and a draft of the sizes in question, with the tokenizer and the healer of the recorded pair."""

    target: Any
    draft: Any
    tokenizer: Tokenizer
    healer: Healer | None = None

    def warm(self) -> None:
        """Run every size once, so that no kernel is compiled while the clock runs."""
        for model in (self.target, self.draft):
            lane = Lane(model)
            lane.prefill([1] * CONTEXT)
            for n in range(1, WIDEST + 2):
                mx.eval(mx.argmax(lane.feed(mx.array([1] * n)), axis=-1))
                lane.trim(n)

    def plain(self, n: int) -> float:
        """Seconds a token of mlx-lm's own generation of ``n`` tokens."""
        lane = Lane(self.target)
        lane.prefill([1] * CONTEXT)
        stream = generate_step(mx.array([1]), self.target, max_tokens=n + 1, prompt_cache=lane.cache)
        next(stream)
        begin = time.perf_counter()
        for _ in stream:
            pass
        return (time.perf_counter() - begin) / n

    def decode(self, dense: Dense, policy: Policy, *, whole: bool = False) -> tuple[float, list[Round]]:
        """Decode a recording once: seconds without the prompt, and the rounds.

        An adaptive policy also has prompt lookup and may stop inside a draft, unless the draft is to be
        ``whole``.
        """
        lane, other = Lane(self.target), Lane(self.draft)
        lane.prefill([1] * CONTEXT)
        other.prefill([1] * CONTEXT)
        go_on = policy.go_on if isinstance(policy, Adaptive) and not whole else None
        model = StagedDrafter(other, dense, ExactTranslator(self.tokenizer), self.healer, go_on, at=1)
        known = [*dense.prompt, dense.tokens[0]]
        drafter: Any = model
        if isinstance(policy, Adaptive):
            drafter = AutoDrafter(policy, LookupDrafter(self.tokenizer, known), cast(ModelDrafter, model))
        state = State(Tail.of(self.tokenizer, dense.tokens[:1]), dense.tokens[0])
        limits = Limits(frozenset(), len(dense.tokens) - 1)
        choice = RecordedChoice(tokens=dense.tokens[1:])
        run = Decoding(lane, self.tokenizer, drafter, choice, limits, policy, state, [0])
        mx.synchronize()
        begin = time.perf_counter()
        rounds = list(run.rounds())
        return time.perf_counter() - begin, rounds
