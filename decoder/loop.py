"""The decoding loop: draft, translate, verify, commit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal, Protocol

import mlx.core as mx

from decoder.drafters import Drafter, Proposal
from decoder.lane import Lane, read_ids
from decoder.sampling import Sampling
from tokalign.tokenizers import Tokenizer
from tokalign.translate import Tail

Finish = Literal["stop", "length"]


@dataclass(frozen=True, slots=True)
class State:
    """Where decoding stands between rounds.

    ``pending`` is the last token of the stream, chosen but not yet fed: the target's cache holds everything
    before it. ``emitted`` counts the tokens since the prompt, ``tail`` is the end of the target's stream.
    """

    tail: Tail
    pending: int
    emitted: int = 0
    finish: Finish | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """One pass of the target. ``tokens`` are the committed ids, the first ``accepted`` of them drafted, ``k``
    the draft tokens asked for (0: none).

    ``candidates`` were verified, ``choices`` (one more) are what the target chose at each of them. ``logits``
    of shape (len(candidates) + 1, vocabulary) are lazy. Times are seconds; ``host_s`` is what is left.
    """

    state: State
    k: int
    proposal: Proposal
    candidates: tuple[int, ...]
    choices: tuple[int, ...]
    tokens: tuple[int, ...]
    accepted: int
    logits: mx.array
    verify_s: float
    host_s: float


@dataclass(frozen=True)
class Limits:
    """When to stop: at an end-of-sequence id of the target, or after ``max_tokens`` tokens (None: never).

    ``end`` is the one of ``eos`` that is proposed where the draft would stop.
    """

    eos: frozenset[int]
    max_tokens: int | None = None
    end: int | None = None

    def left(self, emitted: int) -> float:
        """How many tokens may still come."""
        return float("inf") if self.max_tokens is None else self.max_tokens - emitted

    def cut(self, tokens: Sequence[int], emitted: int) -> tuple[tuple[int, ...], Finish | None]:
        """The tokens up to and with the first end of sequence, at most as many as are left."""
        left = self.left(emitted)
        for n, token in enumerate(tokens, 1):
            if token in self.eos:
                return tuple(tokens[:n]), "stop"
            if n >= left:
                return tuple(tokens[:n]), "length"
        return tuple(tokens), None


PLAIN_RUN = 16  # tokens decoded without a draft before the policy is asked again


class Policy(Protocol):
    """Who decides how much is drafted, and learns from what came of it."""

    def draft_length(self, state: State) -> int:
        """Draft tokens for the next round; 0 for a stretch of plain decoding."""
        ...

    def width(self, n: int) -> int:
        """How many tokens to verify at once where ``n`` are needed; more where the hardware is faster so."""
        ...

    def observe(self, done: Round) -> None:
        """Take note of a finished round."""
        ...


@dataclass(frozen=True)
class Fixed:
    """Always ``k`` draft tokens."""

    k: int

    def draft_length(self, state: State) -> int:
        """``k``."""
        return self.k

    def width(self, n: int) -> int:
        """``n``."""
        return n

    def observe(self, done: Round) -> None:
        """Nothing to learn."""


@dataclass
class Decoding:
    """A generation in progress: the target's lane and what decides about it.

    ``history`` is the prompt and everything committed, kept only where logits processors want to see it.
    """

    target: Lane
    tokenizer: Tokenizer
    drafter: Drafter
    sampling: Sampling
    limits: Limits
    policy: Policy
    state: State
    history: list[int]

    def rounds(self) -> Iterator[Round]:
        """All rounds to the end."""
        while self.state.finish is None:
            k = self._length()
            for done in self._speculate(k) if k > 0 else self._plain():
                self.policy.observe(done)
                yield done

    def _length(self) -> int:
        """Draft tokens that the policy wants now, no more than can be used."""
        return int(min(self.policy.draft_length(self.state), self.limits.left(self.state.emitted) - 1))

    def _speculate(self, k: int) -> Iterator[Round]:
        """Draft, translate, verify, commit."""
        begin = time.perf_counter()
        state = self.state
        proposal = self.drafter.propose(state.tail, k)
        candidates = _candidates(proposal, self.limits, state.emitted)
        verify_at = time.perf_counter()
        fed = [state.pending, *candidates]
        padding = max(0, self.policy.width(len(fed)) - len(fed))
        logits = self.target.feed(mx.array(fed + [state.pending] * padding))[: len(fed)]
        choices = read_ids(self.sampling.choose(logits, self.history, candidates, state.emitted))
        verify_s = time.perf_counter() - verify_at
        accepted = agreement(candidates, choices)
        tokens, finish = self.limits.cut((*candidates[:accepted], choices[accepted]), state.emitted)
        self.target.trim(len(fed) + padding - len(tokens))
        self.drafter.follow(tokens)
        self._commit(tokens, finish)
        host_s = time.perf_counter() - begin - verify_s - proposal.draft_s - proposal.translate_s
        accepted = min(accepted, len(tokens))
        yield Round(self.state, k, proposal, candidates, choices, tokens, accepted, logits, verify_s, host_s)

    def _plain(self) -> Iterator[Round]:
        """A stretch without drafts, until the policy wants one.

        Each step is enqueued before the host reads the last one's token, as plain decoding does it, so that not
        speculating costs nothing. The policy is asked every ``PLAIN_RUN`` tokens.
        """
        begin = time.perf_counter()
        following = self._step(mx.array([self.state.pending]), 0)
        for n in count(1):
            logits, choice = following
            ahead = self.limits.left(self.state.emitted) > 1 and (n % PLAIN_RUN != 0 or self._length() == 0)
            if ahead:
                following = self._step(choice, 1)
            choices = read_ids(choice)
            tokens, finish = self.limits.cut(choices, self.state.emitted)
            self.drafter.follow(tokens)
            self._commit(tokens, finish)
            now = time.perf_counter()
            yield Round(self.state, 0, Proposal(), (), choices, tokens, 0, logits, now - begin, 0.0)
            begin = now
            if finish is not None and ahead and self.target.trimmable:
                self.target.trim(1)  # else the cache is left one token past the end
            if finish is not None or not ahead:
                return

    def _step(self, token: mx.array, ahead: int) -> tuple[mx.array, mx.array]:
        """Enqueue one plain step: lazy logits of shape (1, vocabulary) and the choice, shape (1,)."""
        logits = self.target.feed(token)
        history: Sequence[int] | mx.array = self.history
        if self.sampling.processors and ahead:
            history = mx.concatenate([mx.array(self.history), token])
        choice = self.sampling.choose(logits, history, (), self.state.emitted + ahead)
        mx.async_eval(choice)
        return logits, choice

    def _commit(self, tokens: tuple[int, ...], finish: Finish | None) -> None:
        state = self.state
        self.history += tokens
        tail = state.tail.extend(self.tokenizer, tokens)
        self.state = State(tail, tokens[-1], state.emitted + len(tokens), finish)


def decode(
    target: Lane,
    tokenizer: Tokenizer,
    drafter: Drafter,
    prompt: Sequence[int],
    *,
    sampling: Sampling,
    limits: Limits,
    policy: Policy,
) -> Iterator[Round]:
    """Decode from a prompt, one round at a time.

    ``target`` may hold a beginning of the prompt already (at most all but the last token). The tokens of all
    rounds together are those that the target chooses on its own under the same ``sampling``: a candidate is
    kept only where it equals that choice.
    """
    target.prefill(prompt[target.length : -1])
    state = State(Tail.of(tokenizer, prompt), prompt[-1])
    yield from Decoding(target, tokenizer, drafter, sampling, limits, policy, state, list(prompt)).rounds()


def agreement(candidates: Sequence[int], choices: Sequence[int]) -> int:
    """How many candidates from the first on equal the target's choices."""
    return next(
        (n for n, (a, b) in enumerate(zip(candidates, choices, strict=False)) if a != b), len(candidates)
    )


def _candidates(proposal: Proposal, limits: Limits, emitted: int) -> tuple[int, ...]:
    """The translated tokens, an end of sequence where the draft would stop, and no more than can be used."""
    ids = proposal.translation.ids
    if proposal.ended and limits.end is not None:
        ids = (*ids, limits.end)
    left = limits.left(emitted) - 1
    return ids if len(ids) <= left else ids[: int(left)]
