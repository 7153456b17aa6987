"""``decoder calibrate``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from decoder.cli import options
from decoder.cli.output import echo_text, err, out
from tokalign.errors import UsageError

if TYPE_CHECKING:
    from decoder.calibrate import Subject
    from decoder.profile import Profile


@click.command(
    short_help="Measure what decoding costs on this machine.",
    epilog="\b\nExamples:\n"
    "  decoder calibrate bielik-11b bielik-1.5b qwen2.5-1.5b --out profil.json\n"
    "  decoder calibrate --shape bielik-11b --shape llama3.2-1b --bits 4 --context 64,512 -o profil.json",
)
@click.argument("target", required=False)
@click.argument("draft", nargs=-1)
@click.option("-o", "--out", "path", type=options.File(), metavar="FILE", required=True, help="Where to write.")
@click.option(
    "--context",
    default="64,512,2048",
    show_default=True,
    metavar="N,…",
    help="Context lengths in tokens.",
)
@click.option(
    "--shape",
    "shapes",
    multiple=True,
    metavar="NAME",
    help="Instead of models, a published architecture with random weights: bielik-11b, bielik-1.5b, "
    "qwen2.5-1.5b, llama3.2-1b. Repeat: the first is the target, the rest drafts.",
)
@click.option(
    "--bits",
    type=click.Choice(["4", "8", "16"]),
    default="8",
    show_default=True,
    help="Weights of the shapes; 16 is bfloat16.",
)
@click.option(
    "--repeats", type=click.IntRange(min=5), default=7, show_default=True, help="Runs behind each median."
)
@options.as_json
def calibrate(
    target: str | None,
    draft: tuple[str, ...],
    path: Path,
    context: str,
    shapes: tuple[str, ...],
    bits: str,
    repeats: int,
    as_json: bool,
) -> None:
    """Measure TARGET and each DRAFT on this machine and write a profile for `decoder cost` and `-k auto`.

    Every time is a median over warm runs, interleaved with all others so that drift meets all alike. Keep
    the machine otherwise idle.
    """
    contexts = _numbers(context)
    if bool(shapes) == (target is not None):
        raise UsageError("give a TARGET with its drafts, or shapes with --shape.")
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise UsageError(f"--out {path} cannot be written; give the name of a file in a folder that there is.")
    from decoder.calibrate import Plan
    from decoder.calibrate import calibrate as measure
    from decoder.profile import dumps, write

    first, *rest = _loaders((target, *draft), shapes, int(bits))
    with _progress() as progress:
        profile = measure(first(), rest, Plan(contexts, repeats), progress)
    write(profile, path)
    if as_json:
        echo_text(dumps(profile))
    else:
        _print(profile)
        click.echo(f"profile: {path}", err=True)


def _loaders(models: tuple[str | None, ...], shapes: tuple[str, ...], bits: int) -> list[Callable[[], Subject]]:
    """What loads the target and each draft, in this order."""
    from decoder.subjects import from_model, from_shape

    if shapes:
        return [partial(from_shape, name, bits) for name in shapes]
    roles = ("target", *("draft" for _ in models[1:]))
    return [partial(from_model, name, role) for name, role in zip(models, roles, strict=True) if name]


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--context {text} is no list of numbers; write it as 64,512,2048.") from None


@contextmanager
def _progress() -> Iterator[Callable[[str, float], None]]:
    """A bar on standard error where that is a terminal; otherwise nothing."""
    console = err()
    if not console.is_terminal:
        yield lambda what, share: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    text = TextColumn("{task.description}", markup=False)
    with Progress(
        text, BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), console=console, transient=True
    ) as bar:
        task = bar.add_task("loading", total=1.0)
        yield lambda what, share: bar.update(task, description=what, completed=share)


def _print(profile: Profile) -> None:
    from rich.table import Table

    console = out()
    ns = [n for n in (1, 2, 3, 5, 9, 16) if n in profile.verify_curve.ns]
    table = Table(box=None, header_style="bold", pad_edge=False, title_justify="left")
    table.title = (
        f"{profile.target.name}: ms a plain step and a verification of n tokens; roof: bandwidth reached"
    )
    for title in ("context", "plain", *(f"n = {n}" for n in ns), "roof"):
        table.add_column(title, justify="right")
    roofs = {r.context: f"{r.fraction:.0%}" for r in profile.roofline}
    for t in profile.plain:
        times = (profile.plain_s(t.context), *(profile.verify_s(n, t.context) for n in ns))
        table.add_row(str(t.context), *(f"{1e3 * s:.2f}" for s in times), roofs.get(t.context, "—"))
    console.print(table)
    table = Table(box=None, header_style="bold", pad_edge=False, title="Drafts: ms", title_justify="left")
    for title in ("draft", "context", "fixed", "each step", "unfused step", "translation"):
        table.add_column(title, justify="left" if title == "draft" else "right")
    for row in _draft_rows(profile):
        table.add_row(*row)
    if profile.drafts:
        console.print(table)


def _draft_rows(profile: Profile) -> Iterator[tuple[str, ...]]:
    from decoder.curves import Curve

    for draft in profile.drafts:
        seconds = profile.translate_s(draft.model.name)
        translation = "—" if seconds is None else f"{1e3 * seconds:.3f}"
        for context in draft.step_curve.contexts:
            fixed, each = draft.step_curve.line(context)
            plain = "—" if draft.unfused is None else f"{1e3 * Curve(draft.unfused).line(context)[1]:.2f}"
            times = (f"{1e3 * fixed:.2f}", f"{1e3 * each:.2f}", plain, translation)
            yield draft.model.name, str(context), *times
