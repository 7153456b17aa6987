"""Rows of a data set on the Hugging Face hub, within bounded time."""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tokalign.hub import probe as _probe

STALL_SECONDS = 30.0  # without a new row (the first one waits for the file list and one row group)
_OFFLINE_SWITCHES = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE")
_LOGGERS = ("huggingface_hub", "datasets")


class HubUnavailableError(Exception):
    """The hub gave no answer in time; the message is the reason, without a full stop."""


class HubRefusedError(Exception):
    """The hub answered that there is no such data set, configuration or split, or no access to it."""


@dataclass(frozen=True)
class HubData:
    """A data set's split: ``repo`` as owner/name; ``config`` None for its default one."""

    repo: str
    config: str | None = None
    split: str = "train"

    def __str__(self) -> str:
        return f"{self.repo}, {f'{self.config}, ' if self.config else ''}split {self.split}"


def offline_by_environment() -> str | None:
    """The variable that forbids the hub, None when none does."""
    return next((name for name in _OFFLINE_SWITCHES if os.environ.get(name, "").upper() in _TRUE), None)


_TRUE = {"1", "ON", "YES", "TRUE"}


def check_reachable() -> None:
    """Return when the hub answers within `PROBE_SECONDS`; raise HubUnavailableError otherwise.

    `datasets` itself retries for 23 seconds, with warnings, before it gives up without a network. The
    answer is remembered for a minute.
    """
    endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    if reason := _probe(endpoint, int(time.monotonic() // 60)):
        raise HubUnavailableError(reason)


def stream(data: HubData, limit: int) -> Iterator[Mapping[str, object]]:
    """The first ``limit`` rows in the published order, streamed with `datasets`.

    Raises HubUnavailableError when `STALL_SECONDS` pass without a row or the connection fails, and
    HubRefusedError when the request itself is refused. A thread does the reading, so that no retry inside
    a library can hang the caller.
    """
    rows: queue.Queue[tuple[str, Any]] = queue.Queue(maxsize=256)
    stop = threading.Event()
    threading.Thread(target=_read, args=(data, limit, rows, stop), daemon=True, name="hub-stream").start()
    try:
        while True:
            try:
                kind, value = rows.get(timeout=STALL_SECONDS)
            except queue.Empty:
                raise HubUnavailableError(f"no data came for {STALL_SECONDS:.0f} seconds") from None
            if kind == "end":
                return
            if kind == "error":
                raise _named(value) from value
            yield value
    finally:
        stop.set()


def _read(data: HubData, limit: int, rows: queue.Queue[tuple[str, Any]], stop: threading.Event) -> None:
    def put(kind: str, value: Any) -> bool:
        while not stop.is_set():
            try:
                rows.put((kind, value), timeout=0.2)
                return True
            except queue.Full:
                continue
        return False

    levels = {name: logging.getLogger(name).level for name in _LOGGERS}
    try:
        import datasets

        for name in _LOGGERS:  # their warnings on every retry would stand between the lines of a report
            logging.getLogger(name).setLevel(logging.ERROR)
        stream = datasets.load_dataset(data.repo, data.config, split=data.split, streaming=True)
        for number, row in enumerate(stream, start=1):
            if not put("row", row) or number >= limit:
                break
        put("end", None)
    except Exception as error:
        put("error", error)
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def _named(error: Exception) -> HubUnavailableError | HubRefusedError:
    names = {kind.__name__ for kind in type(error).__mro__}
    reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
    if "DatasetNotFoundError" in names or not (
        isinstance(error, OSError)
        or type(error).__module__.split(".")[0].startswith(("http", "requests", "aiohttp"))
    ):
        return HubRefusedError(reason)
    return HubUnavailableError(reason)
