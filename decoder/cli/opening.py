"""Which models a command works with: the options of a pair made into the pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from decoder.cli.output import notify

if TYPE_CHECKING:
    from decoder.generation import Pair

ABOUT_DRAFTS = ("settings", "allow_provisional", "translation", "hold_back", "no_heal")
LOADING = (*ABOUT_DRAFTS, "k", "profile", "float32")


def open_pair(
    target: str | None,
    draft: str | None,
    *,
    hold_back: bool,
    no_heal: bool,
    lookup: bool = False,
    **loading: Any,
) -> Pair:
    """The pair that the options of ``LOADING`` describe; without a target the demo pair, which is announced.

    With ``lookup`` the demo's draft is left out.
    """
    from dataclasses import replace

    from decoder.demo import load_demo, notice
    from decoder.generation import load_pair

    if target is None:
        notify(notice(draft=not lookup))
        pair = load_demo(draft=not lookup, **loading)
    else:
        pair = load_pair(target, draft, **loading)
    return replace(pair, strategy=replace(pair.strategy, hold_back=hold_back, heal=not no_heal))


def note_idle_profile(lookup: bool, asked: Mapping[str, Any]) -> None:
    """Say so where a profile was given that nothing will use."""
    if asked["profile"] is not None and (lookup or asked["k"] not in (None, "auto")):
        why = "--lookup" if lookup else f"-k {asked['k']}"
        notify(f"--profile has no effect with {why}; it helps -k auto.")


def processors(penalty: float | None) -> tuple[Any, ...]:
    """mlx-lm's logits processors for a repetition penalty."""
    if penalty is None:
        return ()
    from mlx_lm.sample_utils import make_logits_processors

    return tuple(make_logits_processors(repetition_penalty=penalty))
