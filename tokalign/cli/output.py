"""Where words go: results to standard output, the rest to standard error, files whole or not at all."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tokalign.errors import TokalignError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

written: list[Path] = []
"""Files that the running command has finished."""


class WriteError(TokalignError):
    """A file cannot be written."""


def out() -> Console:
    """Standard output; text is shown as it is, without mark-up."""
    return _console(stderr=False)


def err() -> Console:
    """Standard error."""
    return _console(stderr=True)


def _console(stderr: bool) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=False)


def notify(sentence: str) -> None:
    """Something the user has to know, on standard error."""
    from rich.text import Text

    err().print(Text.assemble(("note: ", "yellow"), sentence), soft_wrap=True)


def announce(sentence: str) -> None:
    """Something that is worth knowing while the command runs: on standard error where that is a terminal."""
    if err().is_terminal:
        notify(sentence)


def echo_json(value: Any) -> None:
    """A value as JSON in UTF-8, whatever the terminal's encoding."""
    echo_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def echo_text(text: str) -> None:
    """Text in UTF-8 as it is."""
    click.echo(text.encode(), nl=False)


@contextmanager
def progress() -> Iterator[Callable[[str, float], None]]:
    """A bar on standard error where that is a terminal; otherwise nothing."""
    # Polars puts its own handler before Python's, with which a read that waits is resumed after Ctrl-C.
    signal.siginterrupt(signal.SIGINT, True)
    console = err()
    if not console.is_terminal:
        yield lambda what, share: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("loading", total=1.0)

        def show(what: str, share: float) -> None:
            bar.update(task, description=what, completed=share)

        yield show


def check_writable(path: Path | None, option: str) -> None:
    """Refuse a place that cannot be written before the work begins.

    Raises:
        UsageError: it is a folder, or its folder cannot be written.
    """
    if path is None:
        return
    if path.is_dir():
        raise UsageError(f"{option} {path} is a folder; give the name of a file.")
    folder = next(p for p in (path.absolute(), *path.absolute().parents)[1:] if p.exists())
    if not folder.is_dir():
        raise UsageError(f"{option} {path} cannot be written: {folder} is no folder; give another place.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{option} {path} cannot be written: no permission in {folder}; give another place.")


def save(path: Path, what: str, write: Callable[[Path], None]) -> None:
    """Write a file and say so on standard error.

    Raises:
        WriteError: the system refuses; an older file of the name is as it was.
    """
    try:
        write(path)
    except OSError as error:
        raise WriteError(f"{path} cannot be written: {error.strerror or error}; give another place.") from error
    written.append(path)
    sys.stdout.flush()
    click.echo(f"{what}: {path}", err=True)
