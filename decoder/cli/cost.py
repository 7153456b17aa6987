"""``decoder cost``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from decoder.cli import options
from decoder.cli.output import echo_json, out
from tokalign.errors import UsageError

if TYPE_CHECKING:
    from decoder.cost import Setup
    from decoder.cost_table import CostTable
    from decoder.profile import Profile
    from decoder.replay import Outcome, Policy, Recorded

PUBLISHED = "study-m2-pro"


@click.command(
    short_help="Say what a draft length brings on a machine.",
    epilog="\b\nExamples:\n"
    "  decoder cost\n"
    "  decoder cost profil.json --draft qwen2.5-1.5b --acceptance 0.4,0.6 --html koszt.html\n"
    "  decoder cost profil.json --replay rundy.jsonl --json",
)
@click.argument("profile", required=False)
@click.option("--profile", "named", metavar="PROFILE", help="The same as the argument.")
@click.option("-d", "--draft", metavar="NAME", help="One draft of the profile (default: all of them).")
@click.option("--context", type=click.IntRange(min=0), metavar="N", help="Context length in tokens.")
@click.option(
    "--ratio",
    type=click.FloatRange(min=0.1, max=10),
    default=1.0,
    show_default=True,
    help="Target candidates that one drafted token becomes.",
)
@click.option(
    "--pad", is_flag=True, help="Verify with as many more tokens as make it faster, as `-k auto` does."
)
@click.option("--acceptance", metavar="A,…", help="Chances that a candidate is right (default: 0.2 to 0.9).")
@click.option(
    "-k", "lengths", metavar="K,…", help="Draft lengths (default: those that were measured, up to 8)."
)
@click.option("--html", type=options.File(), metavar="FILE", help="Also write a page with a chart.")
@click.option(
    "--replay",
    type=options.File(),
    metavar="FILE",
    help="Play recorded rounds (JSONL) again under every draft length and under auto, instead of the table.",
)
@options.as_json
def cost(
    profile: str | None,
    named: str | None,
    draft: str | None,
    context: int | None,
    ratio: float,
    pad: bool,
    acceptance: str | None,
    lengths: str | None,
    html: Path | None,
    replay: Path | None,
    as_json: bool,
) -> None:
    """Speed over plain decoding for each draft length and acceptance, and where speculation breaks even.

    PROFILE is a file of `decoder calibrate`, or study-m2-pro, which is built from a published study's figures
    and is the default. Beside the costs of the profile stands the study's closed formula, fitted to them.
    """
    if profile is not None and named is not None:
        raise UsageError("the profile is given twice; leave out --profile.")
    if replay is not None and html is not None:
        raise UsageError("--html shows the table, not a replay; leave out one of them.")
    from decoder.cost import Setup

    found = _profile(profile or named or PUBLISHED)
    drafts = [found.draft(draft).model.name] if draft else [d.model.name for d in found.drafts]
    setups = [Setup(found, name, context, ratio, pad=pad) for name in drafts]
    if replay is not None:
        _replay(setups, replay, as_json)
    else:
        _tables(setups, _parsed(acceptance, float, "--acceptance"), _parsed(lengths, int, "-k"), html, as_json)


def _profile(name: str) -> Profile:
    from decoder.profile import read, shipped

    path = Path(name)
    return read(path) if path.suffix == ".json" or path.exists() else shipped(name)


def _parsed(text: str | None, kind: Any, option: str) -> list[Any] | None:
    try:
        found = None if text is None else [kind(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"{option} {text} is no list of numbers; separate them by commas.") from None
    high = 1 if kind is float else options.LONGEST
    low = 0 if kind is float else 1
    if found is not None and not all(low <= value <= high for value in found):
        raise UsageError(f"{option} {text}: the values lie from {low} to {high}.")
    return found


def _tables(
    setups: list[Setup], chances: list[float] | None, ks: list[int] | None, html: Path | None, as_json: bool
) -> None:
    from decoder.cost_table import ACCEPTANCES, cost_table

    tables = [cost_table(setup, ks, chances or ACCEPTANCES) for setup in setups]
    if html is not None:
        from decoder.cost_page import write_page

        write_page(tables, html)
    if as_json:
        echo_json([table.as_dict() for table in tables])
    else:
        for table in tables:
            _print(table)
    if html is not None:
        click.echo(f"page: {html}", err=True)


def _print(table: CostTable) -> None:
    from rich.table import Table

    from decoder.cost_page import percent, summary

    console = out()
    console.print(f"{table.draft} drafts for {table.target}: speed over plain decoding")
    shown = Table(box=None, header_style="bold", pad_edge=False)
    titles = ("k", "round", "break-even", "accepted", "study's")
    n = len(table.best)
    some = range(n) if n <= 5 else range(1, n, 2)  # what fits a terminal; --json and --html have all
    for title in (*titles, *(f"{table.best[i].acceptance:.0%}" for i in some)):
        shown.add_column(title, justify="right")
    for row in table.rows:
        shares = (row.break_even, row.break_even_share, row.study_break_even_share)
        speeds = (f"{row.speeds[i].measured:.2f}" for i in some)
        shown.add_row(str(row.k), f"{row.cost:.2f}", *map(percent, shares), *speeds)
    best = (f"{table.best[i].k or 'none'}" for i in some)
    shown.add_row("best k", "", "", "", "", *best)
    console.print(shown)
    console.print(
        "A round is in plain steps. Break-even is the chance that a candidate is right; accepted and study's "
        "are the same as accepted over proposed, from the profile and from the formula.",
        soft_wrap=True,
    )
    console.print(summary(table), soft_wrap=True)
    console.print()


def _replay(setups: list[Setup], path: Path, as_json: bool) -> None:
    from decoder.recordings import read_recordings

    recordings = read_recordings(path)
    rows = [row for setup in setups for row in _replayed(setup, recordings)]
    if as_json:
        echo_json(rows)
        return
    from rich.table import Table

    shown = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("draft", "policy", "bonus tokens", "tokens/s", "speed", "accepted", "lost to the oracle"):
        shown.add_column(title, justify="left" if title in ("draft", "policy") else "right")
    for row in rows:
        figures = (f"{row['tokens_per_s']:.1f}", f"{row['speedup']:.2f}×", f"{row['acceptance'] or 0:.0%}")
        lost = f"{row['regret_oracle']:.1%}"
        shown.add_row(row["draft"], row["policy"], "right" if row["bonus"] else "wrong", *figures, lost)
    out().print(shown)
    out().print(
        "Simulated. In recorded rounds a token counts as right for the draft wherever a round begins; the "
        "tokens behind fully accepted drafts, which were never proposed, once as right and once as wrong.",
        soft_wrap=True,
    )


def _replayed(setup: Setup, recordings: list[Recorded]) -> Iterator[dict[str, Any]]:
    from functools import partial

    from decoder.replay import Fixed, assess
    from decoder.replay_auto import Auto

    largest = min(r.k for r in recordings)
    policies: dict[str, Callable[[], Policy]] = {f"k={k}": partial(Fixed, k) for k in range(largest + 1)}
    policies["auto"] = partial(Auto, setup, largest)
    for bonus in (True, False):
        for name, make in policies.items():
            outcome = assess(recordings, setup, make, bonus=bonus)
            yield {"draft": setup.draft, "policy": name, "bonus": bonus, **_figures(outcome)}


def _figures(outcome: Outcome) -> dict[str, Any]:
    done = outcome.policy
    return {
        **asdict(done),
        "acceptance": done.accepted / done.proposed if done.proposed else None,
        "tokens_per_s": done.tokens_per_s,
        "speedup": done.speedup,
        "best_k": outcome.best_k,
        "regret_fixed": outcome.regret_fixed,
        "regret_oracle": outcome.regret_oracle,
    }
