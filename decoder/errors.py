"""What can go wrong in decoding, beside what tokalign already names."""

from __future__ import annotations

from tokalign.errors import TokalignError, UsageError


class ModelError(TokalignError):
    """A model cannot be loaded."""


class UnknownModel(ModelError, UsageError):
    """A name that no model can have: no folder, no alias, no hub id; exit code 2."""

    exit_code = 2


class CacheError(TokalignError):
    """A key-value cache did not do what exact decoding needs."""


class UntrimmableCache(CacheError, UsageError):
    """A model whose cache cannot take tokens back; speculation with it would change the output."""

    exit_code = 2


class PairError(UsageError):
    """A target and a draft that cannot work together as asked."""


class ProfileError(TokalignError):
    """A machine's profile or a recording of rounds is unreadable or of another form."""


class ProfileUsageError(ProfileError, UsageError):
    """A profile, a draft or a draft length was asked for that there is not; exit code 2."""

    exit_code = 2


class ServeError(UsageError):
    """The server cannot start as asked."""


class BenchError(TokalignError):
    """A bench's stored results are damaged, or another engine failed in it."""


class BenchUsageError(BenchError, UsageError):
    """A bench that cannot be run or continued as asked; exit code 2."""

    exit_code = 2
