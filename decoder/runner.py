"""What is timed of one model: each case does once what decoding does, and leaves the cache as it found it."""

from __future__ import annotations

import random
import time
from typing import Any

import mlx.core as mx
from mlx_lm.generate import generate_step

from decoder.lane import Lane, read_ids
from decoder.sampling import Sampling

PLAIN_STEPS = 8  # tokens of one plain run that count


class Runner:
    """One model with a lane at a context length; every case leaves the lane as it found it."""

    def __init__(self, model: Any) -> None:
        self.model, self.lane = model, Lane(model)
        rows = int(model(mx.array([[0]])).shape[-1])
        draw = random.Random(0)
        self._ids = [draw.randrange(rows) for _ in range(64)]
        self.token = self._ids[0]

    def _some(self, n: int) -> list[int]:
        return (self._ids * (n // len(self._ids) + 1))[:n]

    def grow_to(self, context: int) -> None:
        """Prefill to a context length, never less than the present one."""
        self.lane.prefill(self._some(context - self.lane.length))

    def prefill(self, n: int) -> float:
        """Seconds to read a prompt of n tokens."""
        lane = Lane(self.model)
        begin = time.perf_counter()
        lane.prefill(self._some(n))
        return time.perf_counter() - begin

    def verify(self, n: int) -> float:
        """Seconds to verify n tokens."""
        ids = self._some(n)
        begin = time.perf_counter()
        logits = self.lane.feed(mx.array(ids))
        Sampling().choose(logits, (), ids[1:], 0).tolist()
        seconds = time.perf_counter() - begin
        self.lane.trim(n)
        return seconds

    def feed(self, n: int) -> float:
        """Seconds to feed n tokens and wait for the choice behind them."""
        begin = time.perf_counter()
        mx.argmax(self.lane.feed(mx.array(self._some(n)))[-1:], axis=-1).tolist()
        seconds = time.perf_counter() - begin
        self.lane.trim(n)
        return seconds

    def steps(self, k: int) -> float:
        """Seconds of k greedy steps, waited for once."""
        begin = time.perf_counter()
        self.drafted(k, trim=False)
        seconds = time.perf_counter() - begin
        self.lane.trim(k)
        return seconds

    def drafted(self, k: int, *, trim: bool = True) -> list[int]:
        """The k tokens of greedy steps."""
        y, found = mx.array([self.token]), []
        for _ in range(k):
            y = mx.argmax(self.lane.feed(y), axis=-1)
            found.append(y)
        ids = list(read_ids(mx.concatenate(found)))
        if trim:
            self.lane.trim(k)
        return ids

    def plain(self) -> float:
        """Seconds a token of mlx-lm's own generation behind the lane's context."""
        n = PLAIN_STEPS + 1
        stream = generate_step(mx.array([self.token]), self.model, max_tokens=n, prompt_cache=self.lane.cache)
        next(stream)
        begin = time.perf_counter()
        for _ in stream:
            end = time.perf_counter()
        self.lane.length += n + 1  # each step after a token is enqueued before the token is given out
        self.lane.trim(n + 1)
        return (end - begin) / PLAIN_STEPS

    def trim(self) -> float:
        """Seconds to take one token back."""
        self.lane.feed(mx.array([self.token])).tolist()
        begin = time.perf_counter()
        self.lane.trim(1)
        return time.perf_counter() - begin
