"""``tokalign bench``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tokalign.cli import options
from tokalign.cli.output import echo_json, notify, out, progress

if TYPE_CHECKING:
    from tokalign.bench import Bench, Spread


@click.command(
    short_help="Time the comparison beside reading and encoding.",
    epilog="\b\nExamples:\n"
    "  tokalign bench bielik-11b llama3.2-1b --corpus korpus.jsonl.zst\n"
    "  tokalign bench bielik-11b qwen2.5-1.5b --corpus korpus.jsonl --repeats 5 --json > czasy.json",
)
@click.argument("target")
@click.argument("draft")
@click.option("-c", "--corpus", type=options.File(), required=True, metavar="FILE", help="The file to measure.")
@click.option("--column", metavar="NAME", help="The column that holds the text (a,b: several, joined).")
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True, help="Runs of everything.")
@options.workers
@options.offline
@options.as_json
def bench(
    target: str,
    draft: str,
    corpus: Path,
    column: str | None,
    repeats: int,
    workers: int | None,
    offline: bool,
    as_json: bool,
) -> None:
    """Time `tokalign compare` of TARGET and DRAFT on a file, with report, beside what it cannot do without.

    Read alone, encoded alone by both tokenizers (with tokenizers, and with gigatoken where it is installed), and
    compared, once and with the file given twice. Shown are median, least and largest over the repeats.
    """
    from tokalign.bench import bench as run

    with progress() as show:
        found = run(
            target,
            draft,
            corpus,
            repeats=repeats,
            workers=workers,
            offline=offline,
            column=column,
            progress=show,
            notify=notify,
        )
    if as_json:
        echo_json(found.json())
    else:
        _print(found)


def _print(found: Bench) -> None:
    from rich.table import Table

    console = out()
    console.print(
        f"{found.corpus}: {found.documents:,} documents, {found.bytes:,} bytes of text; {found.repeats} repeats"
    )
    stages = Table(box=None, header_style="bold", pad_edge=False)
    ratios = Table(box=None, header_style="bold", pad_edge=False)
    for table, first in ((stages, "stage"), (ratios, "ratio")):
        table.add_column(first, no_wrap=True)
        for title in ("time", "processor time", "peak memory"):
            table.add_column(title, justify="right", no_wrap=True)
    for stage in found.stages:
        peak = _spread(stage.peak, " MB", 1e6, 0) if stage.peak else ""
        stages.add_row(stage.name, _spread(stage.wall, " s"), _spread(stage.cpu, " s"), peak)
    for ratio in found.ratios:
        peak = _spread(ratio.peak, "×") if ratio.peak else ""
        name = f"{ratio.above} ÷ {ratio.below}"
        ratios.add_row(name, _spread(ratio.wall, "×"), _spread(ratio.cpu, "×"), peak)
    for table in (stages, ratios):
        console.print()
        console.print(table)


def _spread(found: Spread, unit: str, scale: float = 1, places: int = 2) -> str:
    places = places if found.median / scale < 100 else 0
    median, low, high = (f"{v / scale:,.{places}f}" for v in (found.median, found.low, found.high))
    return f"{median}{unit} ({low}–{high})"
