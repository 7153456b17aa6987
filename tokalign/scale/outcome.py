"""What comes back for a shard, and who brings it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from tokalign.scale.shards import Shard

ATTEMPTS = 3  # workers that a shard may end before it is left out


@dataclass(frozen=True)
class Outcome:
    """``result`` is pickled; None where the shard ended every worker that tried it."""

    shard: Shard
    result: bytes | None


class Measurer(Protocol):
    """Whoever measures shards: this process, workers of this machine, or a cluster."""

    def run(self, shards: Iterator[Shard]) -> Iterator[Outcome]:
        """The outcome of every shard, in any order; only a bounded number of shards is read ahead."""
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...
