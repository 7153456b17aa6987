"""Shards measured by the workers of a dask.distributed scheduler."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from tokalign.errors import TokalignError, UsageError
from tokalign.scale.outcome import ATTEMPTS, Outcome
from tokalign.scale.recipe import Task
from tokalign.scale.shards import Shard

_CONNECT = 10  # seconds
_ONE = threading.Lock()  # a worker may have several threads; the morphology and the encoders have one


class Cluster:
    """The cluster behind ``address`` ("tcp://host:port").

    Its workers need this package; the tokenizers are sent to them. A shard whose worker dies is given to another
    one by the scheduler; one that ends `ATTEMPTS` workers is left out.

    Raises:
        UsageError: dask.distributed is not installed, or nothing answers at the address.
    """

    def __init__(self, task: Task, address: str) -> None:
        try:
            import distributed
        except ImportError:
            raise UsageError(
                "--scheduler needs dask.distributed, which is not installed: "
                "pip install 'tokalign-decoder[cluster]'."
            ) from None
        self._distributed = distributed
        self._task = pickle.dumps(task, pickle.HIGHEST_PROTOCOL)
        try:
            self._client = distributed.Client(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise UsageError(
                f"no scheduler answers at {address!r} ({error}): give its address as tcp://host:port."
            ) from error

    def run(self, shards: Iterator[Shard]) -> Iterator[Outcome]:
        """See `Measurer`. At most two shards for each thread of the cluster are under way."""
        under_way: dict[Any, Shard] = {}
        more = True
        while True:
            while more and len(under_way) < self._places():
                shard = next(shards, None)
                if shard is None:
                    more = False
                    break
                future = self._client.submit(done, self._task, shard, pure=False, retries=ATTEMPTS - 1)
                under_way[future] = shard
            if not under_way:
                return
            with self._client.as_current():
                finished = self._distributed.wait(list(under_way), return_when="FIRST_COMPLETED").done
            for future in finished:
                shard = under_way.pop(future)
                if future.status == "finished":
                    yield Outcome(shard, future.result())
                elif isinstance(error := future.exception(), self._distributed.KilledWorker):
                    yield Outcome(shard, None)
                elif isinstance(error, TokalignError):
                    raise error
                else:
                    raise TokalignError(
                        f"the cluster failed on documents {shard.where} ({type(error).__name__}: {error}): "
                        "look at the worker's log."
                    ) from error

    def _places(self) -> int:
        threads = sum(self._client.nthreads().values())
        return 2 * max(1, threads)

    def close(self) -> None:
        """Disconnect; the cluster stays."""
        self._client.close()


def done(task: bytes, shard: Shard) -> bytes:
    """What a cluster's worker does with a shard: the pickled result."""
    with _ONE:
        return pickle.dumps(_work(task)(shard), pickle.HIGHEST_PROTOCOL)


@lru_cache(maxsize=1)
def _work(task: bytes) -> Callable[[Shard], Any]:
    return pickle.loads(task).prepare()
