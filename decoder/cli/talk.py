"""What `chat` and `serve` share with each other: which pair, and the options that say so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from decoder.cli import options
from decoder.cli.opening import ABOUT_DRAFTS, LOADING, note_idle_profile, open_pair, processors
from tokalign.errors import UsageError

__all__ = ["LOADING", "check", "drafting", "open_pair", "processors", "sampling", "without"]


def without(*names: str) -> Callable[[options.F], options.F]:
    """Take options that decorators below gave a function off again."""

    def taken(function: options.F) -> options.F:
        found = getattr(function, "__click_params__", [])
        found[:] = [p for p in found if p.name not in names]
        return function

    return taken


def drafting(function: options.F) -> options.F:
    """--demo and the options about drafts, where the draft model itself is an argument."""
    return options.demo(without("draft")(options.drafting(function)))


def sampling(function: options.F) -> options.F:
    """How the target chooses."""
    return options.sampling(function)


def check(target: str | None, draft: str | None, demo: bool, lookup: bool, asked: Mapping[str, Any]) -> None:
    """Refuse options that do not go together.

    Raises:
        UsageError: one of them is about something that is not there, or out of range.
    """
    if demo and target is not None:
        raise UsageError("--demo brings its own models; leave out either it or TARGET.")
    if not demo and target is None:
        raise UsageError("give a TARGET, or --demo.")
    if draft is not None and lookup:
        raise UsageError("--lookup drafts from the text itself; leave out either it or DRAFT.")
    given = [f"--{name.replace('_', '-')}" for name in ABOUT_DRAFTS if asked[name]]
    drafting = draft is not None or (demo and not lookup)
    if given and not drafting:
        raise UsageError(f"{given[0]} is about a draft model; name one after TARGET.")
    note_idle_profile(lookup, asked)
    if not drafting and not lookup and asked["k"] not in (None, 0, "auto"):
        raise UsageError("-k is about drafts; name a draft model after TARGET, or give --lookup.")
    penalty = asked.get("repetition_penalty")
    if penalty is not None and not penalty > 0:
        raise UsageError(f"--repetition-penalty is {penalty:g}; it must be above 0.")
