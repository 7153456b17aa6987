"""Taking times: warm, interleaved, as medians with their quartiles."""

from __future__ import annotations

import os
import platform
import random
import subprocess
import sys
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import mlx.core as mx
import numpy as np

from decoder.curves import Spread, Timing
from decoder.profile import Machine

K = TypeVar("K", bound=Hashable)
Case = Callable[[], float]
"""Does something once and says how many seconds of it count."""

WARM = 2  # runs of each case before the first that counts
COPIES = 4  # copies that wait for one another before the host waits once


def interleaved(
    cases: Mapping[K, Case], repeats: int, tick: Callable[[float], None] = lambda share: None
) -> dict[K, Spread]:
    """Run all cases ``repeats`` times, each time in another order, so that drift meets all alike."""
    order = list(cases)
    shuffle = random.Random(0).shuffle
    seconds: dict[K, list[float]] = {key: [] for key in order}
    runs = (WARM + repeats) * len(order)
    done = 0
    for turn in range(-WARM, repeats):
        shuffle(order)
        for key in order:
            took = cases[key]()
            if turn >= 0:
                seconds[key].append(took)
            done += 1
            tick(done / runs)
    return {key: spread(seconds[key]) for key in cases}


def spread(values: Sequence[float]) -> Spread:
    """Median and quartiles."""
    low, median, high = (float(q) for q in np.quantile(values, [0.25, 0.5, 0.75]))
    return Spread(median, low, high, len(values))


def timing(context: int, n: int, s: Spread) -> Timing:
    """A spread of seconds with what it is the time of."""
    return Timing(context, n, s.median, s.low, s.high, s.repeats)


def bandwidth(nbytes: int, repeats: int) -> Spread:
    """Bytes per second of a device copy of ``nbytes``, read and write counted."""
    source = mx.random.normal((max(nbytes // 4, 1),))
    mx.eval(source)

    def copy() -> float:
        begin = time.perf_counter()
        found = source
        for _ in range(COPIES):
            found = -found
        mx.eval(found)
        return time.perf_counter() - begin

    s = interleaved({"copy": copy}, repeats)["copy"]
    moved = 2 * COPIES * source.nbytes
    mx.clear_cache()
    return Spread(moved / s.median, moved / s.high, moved / s.low, s.repeats)


def machine() -> Machine:
    """This machine, as far as it says what it is."""
    device = mx.default_device()
    info = mx.device_info() if hasattr(mx, "device_info") else {}
    name = info.get("device_name")
    return Machine(
        platform.platform(),
        _chip(),
        os.cpu_count(),
        _memory(),
        "gpu" if device.type == mx.DeviceType.gpu else "cpu",
        None if name is None else str(name),
    )


def _chip() -> str | None:
    try:
        if sys.platform == "darwin":
            command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() or None
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), None)
    except (OSError, subprocess.SubprocessError):
        return None


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None
