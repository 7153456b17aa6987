"""Measurements of shards, added up as they come, so that few are held."""

from __future__ import annotations

from collections.abc import Sequence

from tokalign.measurement import Measurement, merge
from tokalign.scale.recipe import measured
from tokalign.scale.shards import Shard
from tokalign.tokenizers import Tokenizer

_PENDING = 8  # measurements that wait to be added up


class Total:
    """A sum for each draft."""

    def __init__(self, drafts: int) -> None:
        self._pending: list[list[Measurement]] = [[] for _ in range(drafts)]

    def add(self, found: Sequence[Measurement]) -> None:
        """One shard's measurements, a draft each."""
        for pending, measurement in zip(self._pending, found, strict=True):
            pending.append(measurement)
            if len(pending) > _PENDING:
                pending[:] = [merge(pending)]

    def measurements(self, target: Tokenizer, drafts: Sequence[Tokenizer]) -> tuple[Measurement, ...]:
        """The sums, a draft each; of no documents where no shard was added."""
        empty = Shard(0, (), 0, "")
        return tuple(
            merge(pending) if pending else measured(empty, target, (draft,))[0]
            for pending, draft in zip(self._pending, drafts, strict=True)
        )
