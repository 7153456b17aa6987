"""What a command costs: time, processor time and memory of it and of all processes that it starts."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokalign.errors import TokalignError

_SHARE = re.compile(r"^Pss:\s+(\d+) kB", re.M)
_EVERY = 0.25  # seconds between two looks at the memory


@dataclass(frozen=True)
class Cost:
    """``wall`` and ``cpu`` in seconds; ``peak`` bytes of resident memory, None where not measured."""

    wall: float
    cpu: float
    peak: int | None = None


def cost_of(command: Sequence[str], env: Mapping[str, str] | None = None) -> Cost:
    """Run a command to its end, its output unseen.

    Memory is the sum over the process tree, sampled 20 times a second from /proc; where there is none (macOS)
    that of the largest process, as the system reports it.

    Raises:
        TokalignError: it fails; the message has its last line.
    """
    with tempfile.TemporaryFile() as said:
        begun = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, env=env)
        watch = _Watch(process.pid)
        try:
            _, status, used = os.wait4(process.pid, 0)
            wall = time.perf_counter() - begun
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            if process.returncode is None:
                process.kill()
                process.wait()
            watch.end()
        if process.returncode:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines() or ["it said nothing"]
            raise TokalignError(f"`{' '.join(command)}` ended with status {process.returncode}: {lines[-1]}")
    peak = watch.peak or _largest(used)
    return Cost(wall, used.ru_utime + used.ru_stime, peak)


class _Watch:
    """A thread that keeps the largest memory of a process tree."""

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._pid, self._stop = pid, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(_EVERY):
            self.peak = max(self.peak, resident(self._pid))

    def end(self) -> None:
        self._stop.set()
        self._thread.join()


def resident(pid: int) -> int:
    """Bytes of memory of a process and its descendants, a page that several share counted once in all; 0 where
    the system does not tell."""
    found, left = 0, [pid]
    while left:
        here = Path(f"/proc/{left.pop()}")
        try:
            found += 1024 * int(_SHARE.search((here / "smaps_rollup").read_text())[1])  # type: ignore[index]
            for task in (here / "task").iterdir():
                left += map(int, (task / "children").read_text().split())
        except (OSError, TypeError):  # it has ended
            continue
    return found


def _largest(used: resource.struct_rusage) -> int:
    return used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
