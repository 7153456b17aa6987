"""The command line: parse, one call of the library, print."""

from tokalign.cli.main import cli, main

__all__ = ["cli", "main"]
