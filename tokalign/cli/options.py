"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class File(click.Path):
    """A path as `pathlib.Path`; whether it can be used is found out where it is used, in one sentence."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)


def offline(function: F) -> F:
    """``--offline``."""
    return click.option(
        "--offline",
        is_flag=True,
        help="Ask no network: only the caches on disk, installed packages and bundled samples.",
    )(function)


def as_json(function: F) -> F:
    """``--json``."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON on standard output and nothing else there."
    )(function)


_CORPUS = (
    click.option(
        "-c",
        "--corpus",
        "corpora",
        metavar="SPEC",
        multiple=True,
        default=("plwiki",),
        show_default=True,
        help="A named corpus (see `tokalign corpora`), a file, a folder, a glob, - for standard input, "
        "or hf:owner/name[:config][:split][:column]. Repeat for several.",
    ),
    click.option("--column", metavar="NAME", help="The column that holds the text (a,b: several, joined)."),
    click.option(
        "--sample",
        type=click.IntRange(min=1),
        metavar="N",
        help="Draw N documents of each corpus (default: all).",
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed of every draw and interval."),
    click.option(
        "--k",
        "ks",
        type=click.IntRange(1, 64),
        multiple=True,
        default=(2, 4, 6),
        show_default=True,
        help="Draft tokens a round. Repeat for several.",
    ),
    click.option(
        "--cuts",
        type=click.IntRange(min=1),
        default=1000,
        show_default=True,
        help="Rounds that the choice of p is measured on, for each draft and corpus.",
    ),
)


def workers(function: F) -> F:
    """``--workers``."""
    return click.option(
        "--workers",
        type=click.IntRange(min=0),
        metavar="N",
        help="Processes that measure (default: one for each core this process may use; 0 or 1: none but "
        "this one). Corpora below 5 MB are always measured in this one.",
    )(function)


_SCALE = (
    workers,
    click.option(
        "--shard",
        "shard_mb",
        type=click.FloatRange(min=0.001),
        default=4.0,
        show_default=True,
        metavar="MB",
        help="Megabytes of text that a worker is given at a time; less needs less memory.",
    ),
    click.option(
        "--resume",
        is_flag=True,
        help="Take the finished parts of the same command, interrupted before, and measure only the rest.",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Measure on the workers of this dask scheduler (tcp://host:port) instead of this machine's.",
    ),
)


def scale(function: F) -> F:
    """How large corpora are measured: the options of ``_SCALE``."""
    for option in reversed(_SCALE):
        function = option(function)
    return function


def corpus(function: F) -> F:
    """What to read and how to choose: the options of ``_CORPUS``."""
    for option in reversed(_CORPUS):
        function = option(function)
    return function
