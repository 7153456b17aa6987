"""What a result was made with: package versions and the machine."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

import tokalign
from tokalign.result import Machine

PACKAGES = (
    "tokenizers",
    "transformers",
    "sentencepiece",
    "polars",
    "numpy",
    "altair",
    "morfeusz2",
    "datasets",
)


def versions() -> dict[str, str]:
    """Python, tokalign, and of `PACKAGES` those that are installed."""
    found = {"python": platform.python_version(), "tokalign": tokalign.__version__}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def machine() -> Machine:
    """This machine; the processor by its marketing name where the system tells it."""
    return Machine(platform.platform(), _cpu(), os.cpu_count() or 1)


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()
