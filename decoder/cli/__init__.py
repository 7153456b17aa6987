"""The command line: parse, one call of the library, print."""

from decoder.cli.main import cli, main

__all__ = ["cli", "main"]
