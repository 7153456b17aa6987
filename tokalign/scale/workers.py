"""Worker processes of this machine: dealt to, watched, and replaced where one dies."""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, Pipe, wait
from typing import cast

from tokalign.errors import TokalignError
from tokalign.scale.outcome import ATTEMPTS, Outcome
from tokalign.scale.recipe import Task
from tokalign.scale.shards import Shard

_THREADS = (
    "RAYON_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Worker:
    """One process. ``shard`` is what it is measuring; it takes none before it is ``ready``."""

    def __init__(self, task: bytes, threads: int) -> None:
        here, there = Pipe()
        self.connection: Connection = here
        self.shard: Shard | None = None
        self.ready = False
        with there:
            # A program of its own: nothing of this process is imported or forked, whatever runs in it.
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tokalign.scale.worker", str(there.fileno())],
                pass_fds=(there.fileno(),),
                process_group=0,  # Ctrl-C is for this process alone
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=os.environ
                | {"PYTHONPATH": os.pathsep.join(p or os.curdir for p in sys.path)}
                | dict.fromkeys(_THREADS, str(threads))
                | {"TOKENIZERS_PARALLELISM": "false" if threads == 1 else "true", "MALLOC_ARENA_MAX": "2"},
            )
        self.connection.send_bytes(task)

    def end(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.wait()


class Workers:
    """At most ``n`` processes for one task, started when shards need them. ``notify`` is told of each that dies."""

    def __init__(self, task: Task, n: int, notify: Callable[[str], None]) -> None:
        self._task, self._n, self._notify = pickle.dumps(task, pickle.HIGHEST_PROTOCOL), n, notify
        self._workers: list[Worker] = []
        self._deaths: Counter[int] = Counter()  # by shard; -1: before a worker was ready

    @property
    def processes(self) -> list[int]:
        """The process ids of the workers."""
        return [worker.process.pid for worker in self._workers]

    def run(self, shards: Iterator[Shard]) -> Iterator[Outcome]:
        """See `Measurer`. At most ``n`` shards are read ahead of those under way."""
        waiting: deque[Shard] = deque()
        self._deaths.clear()
        more = True
        while True:
            while more and len(waiting) < self._n:
                shard = next(shards, None)
                if shard is None:
                    more = False
                else:
                    waiting.append(shard)
            needed = len(waiting) + sum(w.shard is not None for w in self._workers)
            if not needed:
                return
            while len(self._workers) < min(self._n, needed):
                self._workers.append(Worker(self._task, max(1, cores() // self._n)))
            for worker in self._workers:
                if worker.ready and worker.shard is None and waiting:
                    worker.shard = waiting.popleft()
                    with contextlib.suppress(OSError):  # its death is met below
                        worker.connection.send(worker.shard)
            for connection in wait([w.connection for w in self._workers]):
                worker = next(w for w in self._workers if w.connection is connection)
                try:
                    message = cast(Connection, connection).recv()
                except (EOFError, OSError, pickle.UnpicklingError):
                    yield from self._buried(worker, waiting)
                    continue
                if message[0] == "failed":
                    raise _failure(*message[1:])
                if message[0] == "done":
                    done, worker.shard = cast(Shard, worker.shard), None
                    yield Outcome(done, message[1])
                worker.ready = True

    def _buried(self, worker: Worker, waiting: deque[Shard]) -> Iterator[Outcome]:
        """Remove a dead worker; its shard is measured again, unless it has ended too many."""
        self._workers.remove(worker)
        worker.end()
        status = worker.process.returncode
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        shard = worker.shard
        key = -1 if shard is None else shard.number
        self._deaths[key] += 1
        if shard is None:
            if self._deaths[key] >= ATTEMPTS:
                raise TokalignError(
                    f"{ATTEMPTS} workers {how} before they could begin: give fewer with --workers, or "
                    "--workers 1 to measure without."
                )
            return
        if self._deaths[key] < ATTEMPTS:
            self._notify(f"a worker {how} and is replaced; documents {shard.where} are measured again")
            waiting.appendleft(shard)
            return
        yield Outcome(shard, None)

    def close(self) -> None:
        """End all workers at once."""
        for worker in self._workers:
            worker.end()
        self._workers.clear()


def _failure(message: str, exit_code: int) -> TokalignError:
    error = TokalignError(message)
    error.exit_code = exit_code
    return error
