"""``tokalign report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tokalign.cli import options
from tokalign.cli.output import check_writable, notify, save

if TYPE_CHECKING:
    from tokalign.result import Result


@click.command(
    short_help="Write the HTML page of a stored result.",
    epilog="\b\nExample:\n  tokalign report wynik.json.gz --out raport.html",
)
@click.argument("result", type=options.File())
@click.option(
    "--out",
    type=options.File(),
    metavar="FILE",
    help="Where to write (default: reports/TARGET--DRAFTS.html).",
)
def report(result: Path, out: Path | None) -> None:
    """Write the HTML page of a stored RESULT (what `tokalign compare --out` wrote)."""
    from tokalign.result import read

    check_writable(out, "--out")
    stored = read(result)
    for notice in _notices(stored):
        notify(notice)
    save_report(stored, out or default_path(stored))


def save_report(result: Result, path: Path) -> None:
    """Write the page, whole or not at all."""
    from tokalign.report import write_report

    save(path, "report", lambda place: write_report(result, place))


def default_path(result: Result) -> Path:
    """``reports/TARGET--DRAFT--….html`` in the working folder."""
    return Path("reports") / f"{'--'.join(file_part(t.name) for t in (result.target, *result.drafts))}.html"


def file_part(name: str) -> str:
    """A tokenizer's name as part of a file name: of a path or hub id the last part."""
    kept = Path(name).stem if name.endswith((".json", ".model")) else Path(name).name
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in kept) or "tokenizer"


def _notices(result: Result) -> list[str]:
    found = [t.notice for t in (result.target, *result.drafts) if t.provisional]
    return [*dict.fromkeys(n for n in found if n)]
