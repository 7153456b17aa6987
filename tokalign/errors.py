"""The one tree of errors that users can meet.

Every message names the thing, the value and the remedy, in one sentence; the command line prints it on
standard error without a traceback and leaves with ``exit_code``.
"""

from __future__ import annotations


class TokalignError(Exception):
    """Something failed although the command was well formed; exit code 1."""

    exit_code = 1


class UsageError(TokalignError):
    """The request itself cannot be met: an unknown name, a wrong column, a bad option; exit code 2."""

    exit_code = 2


class UnknownTokenizer(UsageError):
    """No tokenizer answers to a name, offline or not."""


class TokenizerUnusable(TokalignError):
    """A tokenizer file exists but cannot be used: corrupt, wrong checksum, of no supported family."""


class CorpusError(TokalignError):
    """A corpus cannot be read, or holds no text."""


class CorpusUsageError(CorpusError, UsageError):
    """A corpus specification that cannot be met: unknown name, wrong column; exit code 2."""

    exit_code = 2


class SettingsError(TokalignError):
    """A settings file is unreadable, of another schema, or made for other tokenizers."""


class ResultError(TokalignError):
    """A stored result is unreadable or of another schema."""
