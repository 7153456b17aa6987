"""``tokalign tune``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from tokalign.cli import options
from tokalign.cli.output import check_writable, echo_json, notify, out, progress, save
from tokalign.errors import TokalignError


@click.command(
    short_help="Choose p alone, and write the settings file.",
    epilog="\b\nExamples:\n"
    "  tokalign tune bielik-11b qwen2.5-1.5b --settings ustawienia.json\n"
    "  tokalign tune bielik-11b llama3.2-1b -c pl_alpaca --k 4 --k 8 --json",
)
@click.argument("target")
@click.argument("draft")
@options.corpus
@options.offline
@options.as_json
@click.option(
    "--settings", type=options.File(), metavar="FILE", help="Write the settings file for the decoder."
)
def tune(target: str, draft: str, settings: Path | None, as_json: bool, **asked: Any) -> None:
    """Measure the translation of DRAFT for TARGET alone, over p, and choose the settings of a decoder.

    The draft is perfect (the corpus itself), so what is lost is lost by the translation. This is the part of
    `compare` that the settings file needs.
    """
    from tokalign.cli.curves import curve_table, length_table, verdict
    from tokalign.compare import Job, tuned

    check_writable(settings, "--settings")
    job = Job(target=target, drafts=(draft,), **asked)
    with progress() as show:
        found = tuned(job, show, notify)
    if found.settings is None:
        raise TokalignError(
            f"nothing can be chosen: no text holds a target token with {max(job.ks)} draft tokens after it; "
            "give longer texts or a smaller --k."
        )
    if as_json:
        echo_json(found.json())
    else:
        console = out()
        verdict(console, found.draft.label, found.settings)
        if not found.settings.same_vocabulary:
            console.print(curve_table(found.settings.k, [(found.draft.label, found.frame)]))
            console.print(length_table([(found.draft.label, found.settings.lengths)]))
    if settings is not None:
        from tokalign.settings import write

        save(settings, "settings", partial(write, found.settings))
