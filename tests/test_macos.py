"""The commands of docs/macos.md exist with the options that it gives them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from decoder.cli import cli as decoder
from tokalign.cli import cli as tokalign

PAGE = (Path(__file__).parents[1] / "docs" / "macos.md").read_text(encoding="utf-8")
BLOCKS = "".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL))
COMMANDS = [line for line in BLOCKS.splitlines() if re.match(r"(tokalign|decoder) [a-z]", line)]


def test_there_are_commands():
    assert {line.split()[1] for line in COMMANDS} >= {"compare", "generate", "check", "chat", "serve"}


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_can_be_parsed(line):
    group: click.Group = {"tokalign": tokalign, "decoder": decoder}[line.split()[0]]
    _, name, *rest = shlex.split(line)
    group.commands[name].make_context(name, rest)
