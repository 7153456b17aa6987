"""The command line explains itself: every command, argument and option has its words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tokalign.cli import cli

README = Path(__file__).parents[1] / "README.md"


def commands(group: click.Group = cli, path: str = "tokalign") -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


ALL = dict(commands())


def test_the_commands_are_known():
    assert set(ALL) == {
        f"tokalign {n}" for n in ("compare", "tune", "inspect", "report", "models", "corpora", "bench")
    }


@pytest.mark.parametrize("name", ALL)
def test_a_command_has_help_with_an_example(name):
    command = ALL[name]
    assert command.help and len(command.help.split()) >= 8
    assert command.short_help and command.short_help.endswith(".") and len(command.short_help) < 60
    assert f"\n  {name} " in (command.epilog or "")


@pytest.mark.parametrize("name", ALL)
def test_every_option_has_help(name):
    for option in ALL[name].params:
        if isinstance(option, click.Option):
            assert option.help and option.help.endswith((".", ")")), f"{name} {option.opts}"


@pytest.mark.parametrize("name", ALL)
def test_every_argument_is_named_in_the_help(name):
    command = ALL[name]
    for argument in command.params:
        if isinstance(argument, click.Argument):
            shown = (argument.metavar or argument.name).strip(".").upper()
            assert shown in command.help, f"{name}: {shown}"


@pytest.mark.parametrize("name", ALL)
def test_help_fits_a_terminal(name):
    done = CliRunner().invoke(cli, [*name.split()[1:], "--help"], terminal_width=80)
    assert done.exit_code == 0
    examples = done.output.find("Example")
    assert all(len(line) <= 80 for line in done.output[:examples].splitlines())


@pytest.mark.skipif(not README.exists(), reason="there is no README.md yet")
@pytest.mark.parametrize("name", ALL)
def test_the_readme_tells_of_the_command(name):
    assert name in README.read_text(encoding="utf-8")
