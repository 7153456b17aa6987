"""``tokalign corpora``."""

from __future__ import annotations

import click

from tokalign.cli import options
from tokalign.cli.output import echo_json, out


@click.command(
    short_help="List the named corpora and where each is read from.",
    epilog="\b\nExamples:\n  tokalign corpora --offline\n  tokalign corpora --json",
)
@options.offline
@options.as_json
def corpora(offline: bool, as_json: bool) -> None:
    """List the named corpora: what each is, where it can be read from now, and its licence.

    The first place is the one that is used. Documents and bytes are those of the bundled sample.
    """
    from corpora import catalogue
    from tokalign.records import to_json

    entries = catalogue(offline)
    if as_json:
        echo_json([to_json(entry) for entry in entries])
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("name", "description", "read from", "sample", "licence"):
        table.add_column(title, overflow="fold")
    for entry in entries:
        size = f"{entry.documents:,} documents, {entry.n_bytes / 1000:,.0f} kB"
        places = ", else ".join(entry.available)
        licence = (
            entry.licence
            if entry.licence == entry.sample_licence
            else f"{entry.licence}; sample {entry.sample_licence}"
        )
        table.add_row(entry.name, entry.description, places, size, licence)
    out().print(table)
