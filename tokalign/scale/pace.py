"""How far the measuring of a corpus is, and how fast it goes."""

from __future__ import annotations

import time
from collections.abc import Callable

from corpora import Reader
from tokalign.scale.dealing import Dealt
from tokalign.scale.estimate import Estimate
from tokalign.scale.shards import Shard

Advance = Callable[[float, float], None]
"""Called with the share of the corpus that is measured, 0 to 1, and the bytes of text a second."""


class Pace:
    """Told of every shard that is begun or measured; tells ``advance``."""

    def __init__(self, reader: Reader, dealt: Dealt, advance: Advance) -> None:
        self._reader, self._dealt, self._advance = reader, dealt, advance
        self._start: float | None = None
        self._done = 0
        self._first: float | None = None  # when the first shard was measured
        self._since_first: list[int] = []  # bytes of each shard measured since

    def begun(self) -> None:
        self._start = self._start or time.monotonic()

    def within(self, n_bytes: int) -> None:
        """Of the shard under way so much is measured."""
        self._show(self._done + n_bytes)

    def measured(self, shard: Shard) -> None:
        self._done += shard.n_bytes
        self._show(self._done)

    def _show(self, done: int) -> None:
        share, read = self._reader.share, max(self._dealt.n_bytes, 1)
        seconds = time.monotonic() - self._start if self._start else 0.0
        self._advance(
            min(1.0, done / read * (1.0 if share is None else share)), done / seconds if seconds else 0.0
        )

    def estimate(self, shard: Shard, workers: int) -> Estimate | None:
        """Told of each shard that is measured and not taken from an earlier run; an estimate, once, when each
        worker has had time for one more after the first, whose time is that of its start too."""
        if self._first is None:
            self._first = time.monotonic()
            return None
        self._since_first.append(shard.n_bytes)
        if len(self._since_first) != workers:
            return None
        speed = sum(self._since_first) / max(time.monotonic() - self._first, 1e-9)
        return Estimate(self._dealt.n_bytes, self._dealt.documents, self._reader.share, speed, workers)
