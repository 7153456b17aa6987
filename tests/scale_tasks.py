"""Work for worker processes: what tests send them, importable there."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tokalign.errors import UsageError
from tokalign.measurement import Measurement
from tokalign.scale.recipe import Recipe
from tokalign.scale.shards import Shard


@dataclass(frozen=True)
class Count:
    """Counts documents. A worker dies on a shard that holds ``deadly``, ``times`` times (None: always)."""

    folder: str
    deadly: str = ""
    times: int | None = None

    def prepare(self) -> Callable[[Shard], int]:
        def work(shard: Shard) -> int:
            if any(name == self.deadly for name, _ in shard.documents):
                marks = len(list(Path(self.folder).iterdir()))
                if self.times is None or marks < self.times:
                    (Path(self.folder) / str(marks)).touch()
                    os.kill(os.getpid(), signal.SIGKILL)
            return len(shard.parts)

        return work


@dataclass(frozen=True)
class Unprepared:
    """Cannot begin: ``how`` is "die" or "refuse"."""

    how: str

    def prepare(self) -> Callable[[Shard], int]:
        if self.how == "die":
            os._exit(7)
        raise UsageError("nothing is as it was")


class Poisoned(Recipe):
    """Measures, but a worker dies on any shard that holds the document "t.jsonl:3"."""

    def prepare(self) -> Callable[[Shard], tuple[Measurement, ...]]:
        work = super().prepare()

        def poisoned(shard: Shard) -> tuple[Measurement, ...]:
            if any(name == "t.jsonl:3" for name, _ in shard.parts):
                os.kill(os.getpid(), signal.SIGKILL)
            return work(shard)

        return poisoned
