"""Where words go: text and results to standard output, the rest to standard error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console


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


def echo_json(value: Any) -> None:
    """A value as JSON in UTF-8, whatever the terminal's encoding."""
    echo_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def echo_text(text: str) -> None:
    """Text in UTF-8 as it is, at once."""
    click.echo(text.encode(), nl=False)
