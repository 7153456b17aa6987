"""Letting a draft write the word it stands in anew.

A target's token may end inside a word where the draft's vocabulary has no boundary ("konsty" before "tucja",
which the draft knows as one token). A draft model has seen such text only in its usual segmentation, so its
prediction from there is poor. Here the first drafted token may instead begin at any token boundary of the open
word, as long as it repeats what is committed and goes beyond it; the most probable such token wins, the token
that simply continues included.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import cast

import mlx.core as mx

from tokalign.tokenizers import Tokenizer


class Healer:
    """Chooses the first token of a draft, for one draft vocabulary of ``rows`` logits."""

    def __init__(self, tokenizer: Tokenizer, rows: int) -> None:
        table = tokenizer.vocabulary.table
        ordered = sorted((data, i) for i, data in enumerate(table[:rows]) if data)
        self._table = table
        self._sorted = [data for data, _ in ordered]
        self._top = b"\xff" * (max(map(len, self._sorted)) + 1)
        rank = [-1] * rows
        for position, (_, i) in enumerate(ordered):
            rank[i] = position
        self._rank = mx.array(rank, dtype=mx.int32)

    def first(self, logits: mx.array, word: Sequence[int]) -> tuple[int, mx.array]:
        """How many tokens of ``word`` stay, and the first drafted token behind them (int array of shape (1,)).

        ``logits`` of shape (len(word) + 1, rows) are those before each token of the open word and after its
        last. A token before which j tokens stay has the probability of those j tokens times its own.
        """
        lows, highs = zip(*(self._longer(word, j) for j in range(len(word))), strict=True)
        logprobs = logits - mx.logsumexp(logits, axis=-1, keepdims=True)
        repeated = mx.array(list(word))
        path = mx.cumsum(mx.take_along_axis(logprobs[:-1], repeated[:, None], axis=-1), axis=0)
        allowed = (self._rank >= mx.array(lows)[:, None]) & (self._rank < mx.array(highs)[:, None])
        before = mx.concatenate([mx.zeros((1, 1), path.dtype), path])
        open_end = logprobs[-1:] + before[-1:]
        healed = mx.where(allowed, logprobs[:-1] + before[:-1], -mx.inf)
        best = int(cast(int, mx.argmax(mx.concatenate([healed, open_end]).reshape(-1)).item()))
        kept, token = divmod(best, logits.shape[-1])
        return kept, mx.array([token])

    def _longer(self, word: Sequence[int], j: int) -> tuple[int, int]:
        """Ranks of the tokens that repeat the word's bytes from its j-th token on and go beyond them."""
        rest = b"".join(self._table[i] for i in word[j:])
        low = bisect_right(self._sorted, rest)
        return low, bisect_right(self._sorted, rest + self._top)
