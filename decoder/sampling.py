"""How the target chooses its next token: greedily, or by sampling that speculation cannot disturb."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mlx.core as mx
from mlx_lm.sample_utils import apply_min_p, apply_top_k, apply_top_p

from tokalign.errors import UsageError

LogitsProcessor = Callable[[mx.array, mx.array], mx.array]


@dataclass(frozen=True)
class Sampling:
    """The choice rule.

    The randomness of position i (the i-th token after the prompt, from 0) is a key made from ``seed`` and i,
    and nothing else. So the choice at a position is a function of the logits there, the same function in
    plain and in speculative decoding, and verification by exact match leaves the sampled text unchanged:
    not only its distribution but every token of it.
    """

    temperature: float = 0.0
    top_p: float = 0.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int = 0
    processors: tuple[LogitsProcessor, ...] = ()

    def __post_init__(self) -> None:
        _within("temperature", self.temperature, 0.0, float("inf"))
        _within("top_p", self.top_p, 0.0, 1.0)
        _within("min_p", self.min_p, 0.0, 1.0)
        _within("top_k", self.top_k, 0, float("inf"))

    @property
    def greedy(self) -> bool:
        """Whether the most likely token is always taken."""
        return self.temperature == 0.0

    def choose(
        self, logits: mx.array, history: Sequence[int] | mx.array, candidates: Sequence[int], position: int
    ) -> mx.array:
        """The target's choices, lazily: int array of shape (n,) for logits of shape (n, vocabulary).

        Row j is the choice after ``history`` (prompt and committed tokens) and the first j of
        ``candidates``; ``position`` is that of row 0.
        """
        if self.processors:
            past = history if isinstance(history, mx.array) else mx.array(list(history))
            rows = []
            for j in range(logits.shape[0]):
                row = logits[j : j + 1]
                tokens = mx.concatenate([past, mx.array(list(candidates[:j]), dtype=past.dtype)]) if j else past
                for processor in self.processors:
                    row = processor(tokens, row)
                rows.append(row)
            logits = mx.concatenate(rows)
        if self.greedy:
            return mx.argmax(logits, axis=-1)
        logprobs = logits - mx.logsumexp(logits, axis=-1, keepdims=True)
        if 0 < self.top_p < 1:
            logprobs = apply_top_p(logprobs, self.top_p)
        if self.min_p > 0:
            logprobs = apply_min_p(logprobs, self.min_p)
        if 0 < self.top_k < logprobs.shape[-1]:
            logprobs = apply_top_k(logprobs, self.top_k)
        scaled = logprobs / self.temperature
        return mx.concatenate(
            [
                mx.random.categorical(scaled[j : j + 1], key=_key(self.seed, position + j))
                for j in range(scaled.shape[0])
            ]
        )


def _key(seed: int, position: int) -> mx.array:
    return mx.random.key((seed * 0x9E3779B97F4A7C15 + position) & 0x7FFFFFFFFFFFFFFF)


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        upper = "" if high == float("inf") else f" and at most {high:g}"
        raise UsageError(f"{name} is {value:g}; it must be at least {low:g}{upper}.")
