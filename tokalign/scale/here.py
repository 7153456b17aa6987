"""Shards measured in this process."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence

from tokalign.scale.outcome import Outcome
from tokalign.scale.pace import Pace
from tokalign.scale.recipe import measured
from tokalign.scale.shards import Shard
from tokalign.tokenizers import Tokenizer


class Here:
    """This process, as a `Measurer`."""

    def __init__(self, target: Tokenizer, drafts: Sequence[Tokenizer], pace: Pace) -> None:
        self._target, self._drafts, self._pace = target, drafts, pace

    def run(self, shards: Iterator[Shard]) -> Iterator[Outcome]:
        """See `Measurer`; one shard at a time, in order."""
        for shard in shards:
            seen, last = 0, 0

            def step(_: int, n_bytes: int) -> None:
                nonlocal seen, last
                seen += n_bytes - last if n_bytes > last else n_bytes
                last = n_bytes
                self._pace.within(seen // len(self._drafts))

            found = measured(shard, self._target, self._drafts, step)
            yield Outcome(shard, pickle.dumps(found, pickle.HIGHEST_PROTOCOL))

    def close(self) -> None:
        """Nothing is held."""
