"""``tokalign models``."""

from __future__ import annotations

from typing import Any

import click

from tokalign.cli import options
from tokalign.cli.output import echo_json, out, progress


@click.command(
    short_help="List the known tokenizers and where each was found.",
    epilog="\b\nExamples:\n  tokalign models --offline\n  tokalign models --json",
)
@options.offline
@options.as_json
def models(offline: bool, as_json: bool) -> None:
    """List the tokenizers that have a short name, where each was found, and its fingerprint.

    Equal fingerprints mean one vocabulary: such models need no translation.
    """
    from tokalign.tokenizers import ALIASES

    with progress() as show:
        found = []
        for i, name in enumerate(ALIASES):
            show(name, i / len(ALIASES))
            found.append(_row(name, offline))
    if as_json:
        echo_json(found)
    else:
        _print(found)


def _row(name: str, offline: bool) -> dict[str, Any]:
    from tokalign.errors import TokalignError
    from tokalign.identity import described
    from tokalign.records import to_json
    from tokalign.tokenizers import ALIASES, load

    alias = ALIASES[name]
    known = {"name": name, "hub": alias.hub, "vocabulary": alias.vocabulary}
    try:
        info = to_json(described(load(name, offline=offline)))
    except TokalignError as error:
        return known | {"error": str(error)}
    return known | info | {"error": None}


def _print(found: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("name", "vocabulary", "ids", "fingerprint", "found in"):
        table.add_column(title, justify="right" if title == "ids" else "left", overflow="fold")
    for row in found:
        if row["error"]:
            table.add_row(row["name"], row["vocabulary"], "—", "—", Text(row["error"], "red"))
            continue
        place = row["detail"]
        if row["kind"] == "distribution":
            place = f"package {place.partition(':')[0]}"
        elif row["kind"] == "hub":
            place = f"hub or its cache, {place}"
        style = "yellow" if row["provisional"] else ""
        table.add_row(
            row["name"], row["vocabulary"], f"{row['ids']:,}", row["fingerprint"][:12], Text(place, style)
        )
    out().print(table)
