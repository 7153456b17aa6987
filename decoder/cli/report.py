"""``decoder report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from decoder.cli import options
from decoder.cli.output import echo_json, notify, out
from tokalign.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from decoder.bench.findings import Finding
    from decoder.bench.grouping import Bench
    from decoder.bench.store import Store
    from decoder.profile import Profile


@click.command(
    short_help="Write the page about a bench.",
    epilog="\b\nExamples:\n"
    "  decoder report wyniki --html wyniki.html\n"
    "  decoder report wyniki --alignment para.json.gz --polish szkic --html wyniki.html",
)
@click.argument("folder", type=options.File(), metavar="DIR")
@click.option(
    "--html", type=options.File(), metavar="FILE", help="Where the page goes (default: DIR/report.html)."
)
@click.option(
    "--alignment",
    type=options.File(),
    multiple=True,
    metavar="RESULT",
    help="What `tokalign compare --out` wrote for the same vocabularies. Repeat for several.",
)
@click.option(
    "--polish",
    metavar="DRAFT",
    help="The draft with a Polish vocabulary (default: that of the longest tokens).",
)
@click.option(
    "--profile", metavar="PROFILE", help="Predict speed on this machine (default: the published study's)."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the intervals.")
@options.as_json
def report(
    folder: Path,
    html: Path | None,
    alignment: tuple[Path, ...],
    polish: str | None,
    profile: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Write one self-contained page about the bench in DIR, and print its answers.

    The page shows every measure by draft, translation, k and kind of text, says why tokens were lost, sets the
    figures beside a published study's, and predicts what they would bring on its machine.
    """
    from decoder.bench import findings
    from decoder.bench.alignment import read_alignment
    from decoder.bench.examples import examples
    from decoder.bench.page import write_page

    store, bench = _bench(folder, seed, polish)
    aligned = [a for path in alignment for a in read_alignment(path)]
    target = html or folder / "report.html"
    write_page(
        target,
        bench,
        rounds=examples(store.traces()),
        aligned=aligned,
        profile=_profile(profile),
        polish=polish,
    )
    polish = polish or findings.longest_tokens(bench)
    answers = findings.answers(bench, polish)
    if as_json:
        echo_json({"summary": bench.summary, "by_group": bench.by_group, "answers": [vars(a) for a in answers]})
        return
    _print(answers)
    click.echo(f"report: {target}", err=True)


def _bench(folder: Path, seed: int, polish: str | None) -> tuple[Store, Bench]:
    from decoder.bench.grouping import Bench
    from decoder.bench.store import Store
    from decoder.errors import BenchUsageError

    store = Store.read(folder)
    bench = Bench(store.rows(), store.identity, seed)
    if not bench.rows:
        raise BenchUsageError(f"{folder} holds no finished runs yet; run `decoder bench` with it as --out.")
    if polish is not None and polish not in bench.drafts:
        raise UsageError(f"--polish {polish} is no draft of this bench; it has: {', '.join(bench.drafts)}.")
    return store, bench


def _print(answers: Sequence[Finding]) -> None:
    console = out()
    for answer in answers:
        console.print(answer.question, style="bold", soft_wrap=True)
        for sentence in answer.sentences:
            console.print(f"  {sentence}", soft_wrap=True)


def _profile(name: str | None) -> Profile | None:
    """A profile by file or name, by default that of the study where there is one."""
    from decoder.bench.prediction import study_profile
    from decoder.profile import read, shipped

    if name is None:
        found = study_profile()
        if found is None:
            notify("the study's machine is not among the profiles; no speed is predicted for it.")
        return found
    return read(Path(name)) if Path(name).exists() else shipped(name)
