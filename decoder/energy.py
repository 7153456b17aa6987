"""Energy of a piece of work, where the machine counts it; null with the reason where it does not.

Uses zeus (https://ml.energy/zeus), the optional extra ``energy``: NVIDIA's counters, RAPL on x86 (as root), the
counters of Apple silicon.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

_SOC = ("cpu_total_mj", "gpu_mj", "gpu_sram_mj", "dram_mj", "ane_mj")  # parts that do not contain one another
_windows = itertools.count()


@dataclass(frozen=True)
class Energy:
    """What a piece of work took. ``joules`` is the sum of ``parts`` (cpu, gpu, dram, …), None with a ``reason``
    where nothing was counted. Everything that the chip does meanwhile is in it. ``seconds`` is wall time."""

    joules: float | None
    seconds: float
    reason: str | None = None
    parts: Mapping[str, float] = field(default_factory=dict)

    def per_token(self, tokens: int) -> float | None:
        """Joules a token; None without energy or tokens."""
        return None if self.joules is None or tokens < 1 else self.joules / tokens


@dataclass
class Meter:
    """Holds the reading once its block has ended."""

    energy: Energy | None = None


@contextmanager
def measured() -> Iterator[Meter]:
    """Count the energy of a block; ``energy`` of what it yields is there when the block has ended.

    The block's work on a device must have been waited for by then.
    """
    meter = Meter()
    monitor, reason = _monitor()
    window = f"decoder-{next(_windows)}"
    if monitor is not None:
        try:
            monitor.begin_window(window, sync_execution=False)
        except Exception as error:  # a counter that was there and cannot be read
            monitor, reason = None, _said(error)
    begin = time.perf_counter()
    try:
        yield meter
    finally:
        seconds = time.perf_counter() - begin
        meter.energy = _reading(monitor, window, seconds, reason)


def _reading(monitor: Any, window: str, seconds: float, reason: str | None) -> Energy:
    if monitor is None:
        return Energy(None, seconds, reason)
    try:
        parts = _parts(monitor.end_window(window, sync_execution=False))
    except Exception as error:  # as above
        return Energy(None, seconds, _said(error))
    if not parts:
        return Energy(None, seconds, "this machine has no energy counter that zeus can read")
    total = sum(parts.values())
    if total <= 0:
        return Energy(None, seconds, "the energy counters did not move; measure for longer")
    return Energy(total, seconds, None, parts)


def _parts(found: Any) -> dict[str, float]:
    """Joules by part of the machine."""
    parts = {}
    for name in ("gpu", "cpu", "dram"):
        counted = getattr(found, f"{name}_energy", None)
        if counted:
            parts[name] = float(sum(counted.values()))
    for name in _SOC:
        value = getattr(getattr(found, "soc_energy", None), name, None)
        if value is not None:
            parts[name.removesuffix("_mj").removesuffix("_total")] = value / 1000
    return parts


@lru_cache(maxsize=1)
def _monitor() -> tuple[Any, str | None]:
    try:
        from zeus.monitor import ZeusMonitor
    except ImportError:
        return None, "zeus is not installed; install tokalign-decoder[energy]"
    try:
        return ZeusMonitor(), None
    except Exception as error:  # drivers and permissions fail in their own ways
        return None, _said(error)


def _said(error: Exception) -> str:
    lines = str(error).splitlines()
    return f"zeus cannot measure here: {lines[0].rstrip('.') if lines else type(error).__name__}"
