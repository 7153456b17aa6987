"""A draft step compiled once: its cache has a fixed size and its position is an array.

mlx-lm's ``KVCache`` counts its position in Python and slices by it, so that every step would be a new graph.
Here the whole step, cache included, is one function of arrays, which ``mx.compile`` traces once; the host then
enqueues a step without building its graph. Attention runs over the whole cache under a mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mlx.core as mx

from decoder.lane import Lane, read_ids

ROOM = 64  # free positions behind the context


class FixedCache:
    """Keys and values of shape (1, heads, size, dim), of which the first ``offset`` positions are filled.

    ``offset`` is an int32 array of shape (1,); writing at or beyond ``size`` is not checked.
    """

    def __init__(self, keys: mx.array, values: mx.array, offset: mx.array) -> None:
        self.keys, self.values, self.offset = keys, values, offset

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        """Write behind the filled positions; all positions come back, for attention under the mask."""
        self.keys = mx.slice_update(self.keys, keys, self.offset, axes=[2])
        self.values = mx.slice_update(self.values, values, self.offset, axes=[2])
        self.offset = self.offset + keys.shape[2]
        return self.keys, self.values

    def make_mask(self, n: int, return_array: bool = False, window_size: int | None = None) -> mx.array:
        """Which positions each of ``n`` new tokens may see: bool of shape (n, size)."""
        return mx.arange(self.keys.shape[2])[None] <= self.offset + mx.arange(n)[:, None]

    @property
    def state(self) -> list[mx.array]:
        """The arrays, as inputs and outputs of the compiled step."""
        return [self.keys, self.values, self.offset]


class CompiledSteps:
    """Greedy steps of a model behind the context that a lane holds; the lane itself is left as it is.

    Raises:
        TypeError: the lane's caches are not plain key-value caches.
    """

    def __init__(self, lane: Lane, room: int = ROOM) -> None:
        self._start = [_fixed(c, lane.length, lane.length + room) for c in lane.cache]

        def step(y: mx.array, states: Sequence[Sequence[mx.array]]) -> tuple[mx.array, list[list[mx.array]]]:
            caches = [FixedCache(*s) for s in states]
            logits = lane.model(y[None], cache=caches)[0]
            return mx.argmax(logits, axis=-1), [c.state for c in caches]

        self._step = mx.compile(step)

    def draft(self, token: int, k: int) -> list[int]:
        """The ``k`` tokens that follow ``token``; each call starts from the lane's context again."""
        y, states, steps = mx.array([token]), self._start, []
        for _ in range(k):
            y, states = self._step(y, states)
            steps.append(y)
        return list(read_ids(mx.concatenate(steps)))


def _fixed(cache: Any, length: int, size: int) -> list[mx.array]:
    if type(cache).__name__ != "KVCache":
        raise TypeError(f"a {type(cache).__name__} has no form of fixed size")
    found = []
    for kept in (cache.keys[..., :length, :], cache.values[..., :length, :]):
        room = mx.zeros((*kept.shape[:2], size - length, kept.shape[3]), kept.dtype)
        found.append(mx.concatenate([kept, room], axis=2))
    found.append(mx.array([length], dtype=mx.int32))
    mx.eval(found)
    return found
