"""The choice of p on a terminal: the verdict, the curve in short, what a draft of k tokens brings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tokalign.figures import MISSING, share
from tokalign.settings import DraftLength, Settings

SHOWN_P = (0, 1, 2, 3, 4, 5, 8, 16)
METHODS = {"exact": "exact", "length": "strip by length", "counted": "strip by count"}


def plain(text: str) -> str:
    """A figure without the space before its sign, for narrow columns."""
    return text.replace("\u00a0", "")


def verdict(console: Console, label: str, settings: Settings) -> None:
    """One draft's verdict, with a warning where it is provisional."""
    console.print(Text(label, "bold"))
    console.print(Padding(Text(settings.verdict), (0, 0, 0, 2)))
    if settings.provisional:
        warning = (
            f"Provisional: {settings.reason}. The decoder takes these settings only with --allow-provisional."
        )
        console.print(Padding(Text(warning, "yellow"), (0, 0, 0, 2)))


def curve_table(k: int, curves: Sequence[tuple[str, pl.DataFrame]]) -> Table:
    """Fidelity by method and p at one k, for each draft; the window anchored at the word start comes last."""
    table = Table(title=f"Fidelity by p, perfect draft, k={k} (%)", title_justify="left", **STYLE)
    table.add_column("", overflow="fold")
    for p in SHOWN_P:
        table.add_column(f"p={p}", justify="right", no_wrap=True)
    table.add_column("anchored", justify="right", no_wrap=True)
    for label, curve in curves:
        at = {
            (m, p): f
            for m, p, f in curve.filter(pl.col("k") == k).select("method", "p", "fidelity").iter_rows()
        }
        table.add_row(Text(label, "bold"))
        for method, words in METHODS.items():
            values = [percent(at.get((method, p))) for p in SHOWN_P]
            last = percent(at.get(("anchored", None))) if method == "exact" else ""
            table.add_row(f"  {words}", *values, last)
        table.add_row("  text round trip", percent(at.get(("naive", None))), *[""] * len(SHOWN_P))
    return table


def length_table(lengths: Sequence[tuple[str, Sequence[DraftLength]]]) -> Table:
    """What drafts of k tokens can bring; the best k depends on the machine, so none is named best."""
    ks = [each.k for each in lengths[0][1]]
    table = Table(title="Target tokens inside a draft of k tokens, and the share translated right", **STYLE)
    table.title_justify = "left"
    table.add_column("", overflow="fold")
    for k in ks:
        table.add_column(f"k={k}", justify="right")
    for label, found in lengths:
        table.add_row(label, *(f"{each.ceiling:.2f} · {plain(share(each.fidelity))}" for each in found))
    return table


def percent(value: float | None) -> str:
    """A share in per cent with one decimal, which never rounds up to 100."""
    if value is None:
        return MISSING
    shown = f"{100 * value:.1f}"
    return "99.9" if shown == "100.0" and value < 1 else shown


STYLE: dict[str, Any] = {
    "box": None,
    "header_style": "dim",
    "title_style": "bold",
    "pad_edge": False,
    "padding": (0, 1, 0, 0),
}
