"""The group of commands and what all of them share: how errors end."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import IO, Any

import click

from decoder.cli.bench import bench
from decoder.cli.calibrate import calibrate
from decoder.cli.chat import chat
from decoder.cli.check import check
from decoder.cli.cost import cost
from decoder.cli.generate import generate
from decoder.cli.report import report
from decoder.cli.serve import serve
from tokalign import __version__
from tokalign.errors import TokalignError

INTERRUPTED = 130


class Failure(click.ClickException):
    """One line on standard error and an exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click declares it for the class

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line."""
        click.echo(f"decoder: {self.format_message()}", file=file or sys.stderr)


class Commands(click.Group):
    """A group whose commands end in one line whatever goes wrong."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; see the class."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except TokalignError as error:
            raise Failure(str(error), error.exit_code) from error
        except KeyboardInterrupt as interrupt:
            raise Failure(f"interrupted; {_done(interrupt)}", INTERRUPTED) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                _give_up_on_stdout()
                raise click.exceptions.Exit(1) from None
            raise _system_failure(error) from error
        return result


def _done(interrupt: KeyboardInterrupt) -> str:
    return str(interrupt) or "nothing was written"


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
  decoder check bielik-11b bielik-1.5b
  decoder generate bielik-11b "Opowiedz o Wiśle." --draft bielik-1.5b --settings ustawienia.json
  decoder generate ./model-mlx - --lookup --stats < pytanie.txt

Exit codes: 0 done, 1 failed, 2 the request cannot be met, 130 interrupted.
"""


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EPILOG)
@click.version_option(__version__, "-V", "--version", prog_name="decoder", message="%(prog)s %(version)s")
def cli() -> None:
    """Decode faster with a draft of any vocabulary, with the output that the target gives on its own.

    A model is named by a folder with an MLX model, a hub id (owner/name), or an alias (see `tokalign
    models`).
    """


for _command in (generate, chat, serve, check, calibrate, cost, bench, report):
    cli.add_command(_command)


def main() -> None:
    """The entry point of the installed command."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure") and (stream.encoding or "").lower() not in ("utf-8", "utf8"):
            stream.reconfigure(errors="replace")
    cli.main(prog_name="decoder")
