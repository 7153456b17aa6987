"""What `chat` and `serve` share with each other: which pair, and the options that say so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from decoder.cli import options
from decoder.cli.generate import _ABOUT_DRAFTS as ABOUT_DRAFTS
from decoder.cli.generate import _LOADING as LOADING
from decoder.cli.generate import _pair as open_pair
from decoder.cli.generate import _print as print_stats
from decoder.cli.generate import _processors as processors
from tokalign.errors import UsageError

__all__ = ["LOADING", "check", "drafting", "open_pair", "print_stats", "processors", "sampling", "without"]


def without(*names: str) -> Callable[[options.F], options.F]:
    """Take options that decorators below gave a function off again."""

    def taken(function: options.F) -> options.F:
        found = getattr(function, "__click_params__", [])
        found[:] = [p for p in found if p.name not in names]
        return function

    return taken


def drafting(function: options.F) -> options.F:
    """The options about drafts, where the draft model itself is an argument."""
    return without("draft")(options.drafting(function))


def sampling(function: options.F) -> options.F:
    """How the target chooses."""
    return options.sampling(function)


def check(draft: str | None, lookup: bool, asked: Mapping[str, Any]) -> None:
    """Refuse options that do not go together.

    Raises:
        UsageError: one of them is about something that is not there, or out of range.
    """
    if draft is not None and lookup:
        raise UsageError("--lookup drafts from the text itself; leave out either it or DRAFT.")
    given = [f"--{name.replace('_', '-')}" for name in ABOUT_DRAFTS if asked[name]]
    if draft is None and given:
        raise UsageError(f"{given[0]} is about a draft model; name one after TARGET.")
    if draft is None and not lookup and asked["k"] not in (None, 0, "auto"):
        raise UsageError("-k is about drafts; name a draft model after TARGET, or give --lookup.")
    penalty = asked.get("repetition_penalty")
    if penalty is not None and not penalty > 0:
        raise UsageError(f"--repetition-penalty is {penalty:g}; it must be above 0.")
