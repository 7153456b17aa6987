"""The group of commands and what all of them share: how errors end."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import IO, Any

import click

from tokalign import __version__
from tokalign.cli.bench import bench
from tokalign.cli.compare import compare
from tokalign.cli.corpora import corpora
from tokalign.cli.inspect import inspect
from tokalign.cli.models import models
from tokalign.cli.output import written
from tokalign.cli.report import report
from tokalign.cli.tune import tune
from tokalign.errors import TokalignError

INTERRUPTED = 130


class Failure(click.ClickException):
    """One line on standard error and an exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click declares it for the class

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line."""
        click.echo(f"tokalign: {self.format_message()}", file=file or sys.stderr)


class Commands(click.Group):
    """A group whose commands end in one line whatever goes wrong."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; see the class."""
        written.clear()
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except TokalignError as error:
            raise Failure(str(error), error.exit_code) from error
        except KeyboardInterrupt as error:
            done = (
                f"before that, {' and '.join(map(str, written))} was written"
                if written
                else "nothing was written"
            )
            raise Failure(
                "; ".join(["interrupted", done, *getattr(error, "__notes__", ())]), INTERRUPTED
            ) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                _give_up_on_stdout()
                raise click.exceptions.Exit(1) from None
            raise _system_failure(error) from error
        return result


def _system_failure(error: OSError) -> Failure:
    if error.filename is not None:
        return Failure(f"{error.filename}: {error.strerror}", 1)
    _give_up_on_stdout()
    return Failure(f"standard output cannot be written: {error.strerror or error}", 1)


def _give_up_on_stdout() -> None:
    """Let Python's last flush go nowhere, so that it does not fail once more."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


EPILOG = """\
\b
Examples:
  tokalign compare bielik-11b qwen2.5-1.5b
  tokalign compare bielik-11b bielik-1.5b llama3.2-1b -c plwiki -c moje.jsonl --settings ustawienia.json
  tokalign inspect bielik-11b qwen2.5-1.5b "w źdźble żółw"

Exit codes: 0 done, 1 failed, 2 the request cannot be met, 130 interrupted.
"""


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EPILOG)
@click.version_option(__version__, "-V", "--version", prog_name="tokalign", message="%(prog)s %(version)s")
def cli() -> None:
    """Measure how two tokenizers segment Polish text, and choose how drafts are translated between them.

    A tokenizer is named by an alias (see `tokalign models`), a hub id (owner/name) or a path. Nothing is
    downloaded with --offline.
    """


for _command in (compare, tune, inspect, report, models, corpora, bench):
    cli.add_command(_command)


def main() -> None:
    """The entry point of the installed command."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure") and (stream.encoding or "").lower() not in ("utf-8", "utf8"):
            stream.reconfigure(errors="replace")
    cli.main(prog_name="tokalign")
