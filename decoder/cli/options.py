"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

LONGEST = 64
F = TypeVar("F", bound=Callable[..., Any])


class File(click.Path):
    """A path as `pathlib.Path`; whether it can be used is found out where it is used, in one sentence."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)


class DraftLength(click.ParamType):
    """A number of draft tokens a round, or ``auto``."""

    name = "k"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """See the class."""
        if value == "auto" or isinstance(value, int):
            return value
        if not value.isdecimal() or int(value) > LONGEST:
            self.fail(f"{value!r} is neither auto nor a number from 0 to {LONGEST}.", param, ctx)
        return int(value)


def as_json(function: F) -> F:
    """``--json``."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON on standard output and nothing else there."
    )(function)


def demo(function: F) -> F:
    """``--demo``."""
    return click.option(
        "--demo", is_flag=True, help="Use the small models that come with decoder; name none yourself."
    )(function)


_DRAFTING = (
    click.option("-d", "--draft", metavar="DRAFT", help="The draft model, of any vocabulary."),
    click.option(
        "--settings",
        type=File(),
        metavar="FILE",
        help="What `tokalign compare` or `tokalign tune` wrote for the pair: the translation.",
    ),
    click.option(
        "--allow-provisional", is_flag=True, help="Accept settings that rest on a stand-in vocabulary."
    ),
    click.option(
        "--translation",
        metavar="NAME",
        help="anchored (the default), context:P (P committed tokens), intersection (common tokens only), or, to "
        "measure against: none, naive, counted:P, length:P.",
    ),
    click.option("--hold-back", is_flag=True, help="Leave out the last candidate of every draft."),
    click.option("--no-heal", is_flag=True, help="Do not let the draft write its unfinished word anew."),
    click.option(
        "-k",
        type=DraftLength(),
        metavar="K",
        help="Draft tokens a round, 0 for none, or auto: as many as pay (the default).",
    ),
    click.option(
        "--profile",
        type=File(),
        metavar="FILE",
        help="What `decoder calibrate` measured on this machine: -k auto starts from it.",
    ),
    click.option("--float32", is_flag=True, help="Dequantize and compute in float32: slow, for comparisons."),
)


def drafting(function: F) -> F:
    """Which draft and how it is translated: the options of ``_DRAFTING``."""
    for option in reversed(_DRAFTING):
        function = option(function)
    return function


_SAMPLING = (
    click.option(
        "--temperature", type=float, default=0.0, show_default=True, help="0 takes the likeliest token."
    ),
    click.option("--top-p", type=float, default=0.0, metavar="P", help="Sample from this share (0: from all)."),
    click.option(
        "--top-k", type=int, default=0, metavar="N", help="Sample from the N likeliest (0: from all)."
    ),
    click.option(
        "--min-p",
        type=float,
        default=0.0,
        metavar="P",
        help="Leave out what is less likely than P times the best.",
    ),
    click.option(
        "--seed", type=int, default=0, show_default=True, help="Seed; the same text with and without a draft."
    ),
    click.option(
        "--repetition-penalty", type=float, metavar="X", help="Above 1, make the last 20 tokens less likely."
    ),
)


def sampling(function: F) -> F:
    """How the target chooses: the options of ``_SAMPLING``."""
    for option in reversed(_SAMPLING):
        function = option(function)
    return function
