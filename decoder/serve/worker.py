"""One thread that does all the work, and the queue before it: first come, first served.

MLX stays on the thread that loaded the models. Nothing here knows of models: a job is a function of whatever
the thread made for itself, and gives pieces.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Job = Callable[[T], Generator[Any, None, None]]


class Full(Exception):
    """The queue is full; ``wait_s`` is a guess at when it will not be."""

    def __init__(self, wait_s: float) -> None:
        super().__init__("the queue is full")
        self.wait_s = wait_s


class Closing(Exception):
    """No more work is taken."""


class Ticket(Generic[T]):
    """A job in the queue, seen from the loop that submitted it. ``begun`` is a time of ``perf_counter``."""

    def __init__(self, job: Job[T], worker: Worker[T]) -> None:
        self.job = job
        self.cancelled = False
        self.submitted = time.perf_counter()
        self.begun: float | None = None
        self._worker = worker
        self._loop = asyncio.get_running_loop()
        self._results: asyncio.Queue[tuple[Any, BaseException | None]] = asyncio.Queue()

    async def next(self) -> Any:
        """The next piece, None at the end.

        Raises:
            Closing: the worker closed before the job began, or was stopped before it ended.
            Exception: what the job raised.
        """
        piece, error = await self._results.get()
        if error is not None:
            raise error
        return piece

    def cancel(self) -> None:
        """Nobody waits any more: leave the queue, or stop at the next piece."""
        self.cancelled = True
        self._worker.forget(self)

    def put(self, piece: Any, error: BaseException | None = None) -> None:
        """Hand a piece over; from any thread."""
        try:
            self._loop.call_soon_threadsafe(self._results.put_nowait, (piece, error))
        except RuntimeError:  # the loop has ended, and who waited with it
            self.cancelled = True


class Worker(Generic[T]):
    """Runs one job at a time, in the order of their coming; at most ``limit`` more may wait."""

    def __init__(self, make: Callable[[], T], limit: int) -> None:
        self.limit = limit
        self.running: Ticket[T] | None = None
        self._make = make
        self._made: T | None = None
        self._failed: BaseException | None = None
        self._ready = threading.Event()
        self._changed = threading.Condition()
        self._queue: deque[Ticket[T]] = deque()
        self._closing = False
        self._usual_s = 1.0
        self._thread = threading.Thread(target=self._work, name="decoder-worker", daemon=True)

    def start(self) -> T:
        """Start the thread and wait for what it makes, which stays its own: look at it, do not use it.

        Raises:
            BaseException: what making it raised.
        """
        self._thread.start()
        while not self._ready.wait(0.2):  # in short waits, so that an interrupt is heard
            pass
        if self._failed is not None:
            raise self._failed
        return self._made  # type: ignore[return-value]

    @property
    def waiting(self) -> int:
        """Jobs in the queue, without the running one."""
        return len(self._queue)

    @property
    def closing(self) -> bool:
        """Whether no more work is taken."""
        return self._closing

    def submit(self, job: Job[T]) -> Ticket[T]:
        """Put a job at the end of the queue; from a coroutine.

        Raises:
            Full: ``limit`` jobs wait already.
            Closing: see :meth:`close`.
        """
        with self._changed:
            if self._closing:
                raise Closing
            busy = self.running is not None or bool(self._queue)
            if busy and len(self._queue) >= self.limit:
                raise Full(self._usual_s * (len(self._queue) + 1))
            ticket = Ticket(job, self)
            self._queue.append(ticket)
            self._changed.notify()
            return ticket

    def forget(self, ticket: Ticket[T]) -> None:
        """Take a job out of the queue if it is there."""
        with self._changed, contextlib.suppress(ValueError):
            self._queue.remove(ticket)

    def close(self) -> None:
        """Take no more work and turn away what waits; the running job goes on."""
        with self._changed:
            self._closing = True
            turned_away = list(self._queue)
            self._queue.clear()
            self._changed.notify()
        for ticket in turned_away:
            ticket.put(None, Closing())

    def stop(self, timeout_s: float | None = None) -> None:
        """Close, stop the running job at its next piece, and wait for the thread to end."""
        self.close()
        if (ticket := self.running) is not None:
            ticket.cancelled = True
        if self._thread.is_alive():
            self._thread.join(timeout_s)

    def _work(self) -> None:
        try:
            self._made = made = self._make()
        except BaseException as error:
            self._failed = error
            return
        finally:
            self._ready.set()
        while (ticket := self._take()) is not None:
            failure = self._run(ticket, made)
            self.running = None
            ticket.put(None, failure)

    def _take(self) -> Ticket[T] | None:
        with self._changed:
            while not self._queue and not self._closing:
                self._changed.wait()
            self.running = self._queue.popleft() if self._queue else None
            return self.running

    def _run(self, ticket: Ticket[T], made: T) -> Exception | None:
        """Do a job; how it ended is for its ticket to hear when the thread is free again."""
        ticket.begun = time.perf_counter()
        try:
            with contextlib.closing(ticket.job(made)) as pieces:
                for piece in pieces:
                    if ticket.cancelled:
                        return Closing()
                    ticket.put(piece)
        except Exception as error:
            return error
        finally:
            self._usual_s += 0.2 * (time.perf_counter() - ticket.begun - self._usual_s)
        return None
