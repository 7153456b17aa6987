"""``tokalign compare``."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tokalign.cli import options
from tokalign.cli.output import announce, check_writable, echo_text, notify, progress, save
from tokalign.cli.report import default_path, file_part, save_report
from tokalign.errors import TokalignError

if TYPE_CHECKING:
    from tokalign.result import Result


@click.command(
    short_help="Compare drafts with a target on corpora, and choose p.",
    epilog="\b\nExamples:\n"
    "  tokalign compare bielik-11b qwen2.5-1.5b\n"
    "  tokalign compare bielik-11b bielik-1.5b llama3.2-1b -c plwiki -c questions --sample 500\n"
    "  tokalign compare bielik-11b qwen2.5-1.5b -c teksty.jsonl --column tresc --settings ustawienia.json\n"
    "  tokalign compare bielik-11b ./moj-model --json --no-report > wynik.json\n"
    "  tokalign compare bielik-11b qwen2.5-1.5b -c korpus.jsonl.zst --workers 8 --resume",
)
@click.argument("target")
@click.argument("drafts", metavar="DRAFT...", nargs=-1, required=True)
@options.corpus
@options.scale
@options.offline
@options.as_json
@click.option("--samples", is_flag=True, help="Show sample sentences under both segmentations.")
@click.option(
    "--out", type=options.File(), metavar="FILE", help="Keep the result (JSON; name it .json.gz to compress)."
)
@click.option(
    "--settings",
    type=options.File(),
    metavar="FILE",
    help="Write the settings file for the decoder; with several drafts FILE--DRAFT.json for each.",
)
@click.option(
    "--report",
    type=options.File(),
    metavar="FILE",
    help="Where the HTML report goes (default: reports/TARGET--DRAFTS.html).",
)
@click.option("--no-report", is_flag=True, help="Write no HTML report.")
def compare(
    samples: bool,
    as_json: bool,
    out: Path | None,
    settings: Path | None,
    report: Path | None,
    no_report: bool,
    shard_mb: float,
    **asked: Any,
) -> None:
    """Compare how TARGET and each DRAFT cut the corpora into tokens, and choose how to translate the drafts.

    Prints the verdict, the key figures with 95 % intervals (bootstrap over documents) and the curve over p;
    writes an HTML report. A corpus of any size is read as it is measured, by several processes; a run that was
    interrupted goes on with --resume.
    """
    from tokalign.compare import compare as run
    from tokalign.job import Job

    for path, option in ((out, "--out"), (settings, "--settings"), (report, "--report")):
        check_writable(path, option)
    job = Job(**asked, shard_bytes=int(shard_mb * 1e6), command=("tokalign", *sys.argv[1:]))
    with progress() as show:
        result = run(job, show, notify, announce)
    if as_json:
        from tokalign.result import dumps

        echo_text(dumps(result))
    else:
        from tokalign.cli.tables import show_result

        show_result(result, samples=samples)
    _save(result, out, settings, None if no_report else report or default_path(result))


def _save(result: Result, out: Path | None, settings: Path | None, report: Path | None) -> None:
    from tokalign.result import write
    from tokalign.settings import write as write_settings

    if out is not None:
        save(out, "result", lambda path: write(result, path))
    if settings is not None:
        if not result.settings:
            raise TokalignError(
                "no settings were written: the texts are too short to choose p; give longer ones."
            )
        for found in result.settings:
            place = settings_path(settings, found.draft.name, len(result.drafts))
            save(place, "settings", partial(write_settings, found))
    if report is not None:
        save_report(result, report)


def settings_path(path: Path, draft: str, drafts: int) -> Path:
    """Where a draft's settings go: the file asked for or, with several drafts, one beside it for each."""
    return path if drafts == 1 else path.with_name(f"{path.stem}--{file_part(draft)}{path.suffix}")
