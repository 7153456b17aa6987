"""The decoding loop: draft, translate, verify, commit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import mlx.core as mx

from decoder.drafters import Drafter, Proposal
from decoder.lane import Lane
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
    """One pass of the target. ``tokens`` are the committed ids, the first ``accepted`` of them drafted.

    ``candidates`` were verified, ``choices`` (one more) are what the target chose at each of them. ``logits``
    of shape (len(candidates) + 1, vocabulary) are lazy. Times are seconds; ``host_s`` is what is left.
    """

    state: State
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
    """When to stop: at an end-of-sequence id of the target, or after ``max_tokens`` tokens (None: never)."""

    eos: frozenset[int]
    max_tokens: int | None = None

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


def decode(
    target: Lane,
    tokenizer: Tokenizer,
    drafter: Drafter,
    prompt: Sequence[int],
    *,
    sampling: Sampling,
    limits: Limits,
    draft_length: Callable[[State], int],
    cached: int = 0,
) -> Iterator[Round]:
    """Decode from a prompt, one round at a time.

    ``target`` holds the first ``cached`` prompt tokens already (at most all but the last). The tokens of all
    rounds together are those that the target chooses on its own under the same ``sampling``: a candidate is
    kept only where it equals that choice.
    """
    target.prefill(prompt[cached:-1])
    history = list(prompt)
    state = State(Tail.of(tokenizer, prompt), prompt[-1])
    while state.finish is None:
        begin = time.perf_counter()
        k = min(draft_length(state), limits.left(state.emitted) - 1)
        proposal = drafter.propose(state.tail, int(k))
        candidates = _candidates(proposal, limits, state.emitted)
        verify_at = time.perf_counter()
        logits = target.feed(mx.array([state.pending, *candidates]))
        choices = tuple(sampling.choose(logits, history, candidates, state.emitted).tolist())
        verified_at = time.perf_counter()
        accepted = agreement(candidates, choices)
        tokens, finish = limits.cut((*candidates[:accepted], choices[accepted]), state.emitted)
        target.trim(1 + len(candidates) - len(tokens))
        drafter.follow(tokens)
        history += tokens
        state = State(state.tail.extend(tokenizer, tokens), tokens[-1], state.emitted + len(tokens), finish)
        verify_s = verified_at - verify_at
        host_s = time.perf_counter() - begin - verify_s - proposal.draft_s - proposal.translate_s
        yield Round(
            state, proposal, candidates, choices, tokens, min(accepted, len(tokens)), logits, verify_s, host_s
        )


def agreement(candidates: Sequence[int], choices: Sequence[int]) -> int:
    """How many candidates from the first on equal the target's choices."""
    return next((n for n, (a, b) in enumerate(zip(candidates, choices, strict=False)) if a != b), len(candidates))


def _candidates(proposal: Proposal, limits: Limits, emitted: int) -> tuple[int, ...]:
    """The translated tokens, an end of sequence where the draft would stop, and no more than can be used."""
    ids = proposal.translation.ids
    if proposal.ended and limits.eos:
        ids = (*ids, min(limits.eos))
    left = limits.left(emitted) - 1
    return ids if len(ids) <= left else ids[: int(left)]
