"""``decoder bench``."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from decoder.cli import options
from decoder.cli.output import echo_json, err, notify, out
from tokalign.errors import UsageError

if TYPE_CHECKING:
    from decoder.bench.grid import Plan
    from decoder.bench.prompts import BenchPrompt
    from decoder.bench.store import Store

WIDTH = 128  # columns of the table where the terminal is narrower
DEFAULT = "none,naive,counted:5,context:5,anchored"
DEMO = {"names": "anchored,length:5,counted:5,naive", "ks": "4", "per_group": 2, "max_tokens": 16}
DEMO_CORPUS = "sample:plwiki"


@click.command(
    short_help="Measure drafts, translations and draft lengths.",
    epilog="\b\nExamples:\n"
    "  decoder bench --demo\n"
    "  decoder bench ./cel ./szkic --prompts teksty.jsonl --k 2,4 --out wyniki\n"
    "  decoder bench ./cel ./szkic ./drugi --corpus samples --per-group 8 --float32 --identity --out wyniki\n"
    "  decoder bench bielik-11b bielik-1.5b --corpus samples --translation anchored --k 2 --json --out wyniki",
)
@click.argument("target", required=False)
@click.argument("drafts", nargs=-1, metavar="DRAFT...")
@options.demo
@click.option(
    "--prompts",
    type=options.File(),
    metavar="FILE",
    help="JSONL with a prompt and, optionally, a group a line.",
)
@click.option("--corpus", metavar="SPEC", help="Prompts cut from a corpus instead (see `tokalign corpora`).")
@click.option("--groups", default="", metavar="G,…", help="Only prompts of these groups.")
@click.option("--per-group", type=click.IntRange(min=1), metavar="N", help="At most so many of each group.")
@click.option("--k", "ks", default="2,4,6", show_default=True, metavar="K,…", help="Draft tokens a round.")
@click.option(
    "--translation",
    "names",
    default=DEFAULT,
    show_default=True,
    metavar="NAME,…",
    help="anchored, context:P, intersection; published: none, naive, counted:P, length:P.",
)
@click.option("--no-heal", is_flag=True, help="Also run the exact ones without rewriting the open word.")
@click.option("--hold-back", is_flag=True, help="Also run them with the last candidate left out.")
@click.option("--lookup", is_flag=True, help="Also draft from the text itself (prompt lookup).")
@click.option("--transformers", metavar="PYTHON", help="Also run transformers' assisted generation there.")
@click.option(
    "--max-tokens", type=click.IntRange(min=1), default=64, show_default=True, help="Tokens a prompt."
)
@click.option("--float32", is_flag=True, help="Compute in float32, for comparing outputs exactly.")
@click.option("--device", type=click.Choice(["cpu", "gpu"]), help="Where to compute (default: MLX's choice).")
@click.option("--out", "folder", type=options.File(), metavar="DIR", help="Where results go.")
@click.option("--resume/--fresh", default=True, help="Go on with what DIR has (the default), or begin anew.")
@click.option("--identity", is_flag=True, help="Exit with 1 if any output differs from plain decoding.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of corpus samples and intervals.")
@click.option("--note", metavar="TEXT", help="Kept with the results, such as the machine's name.")
@options.as_json
@click.pass_context
def bench(
    context: click.Context,
    target: str | None,
    drafts: tuple[str, ...],
    demo: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Run TARGET with each DRAFT, every translation and every draft length over many prompts.

    Plain decoding runs beside them: its speed is what speed is measured against, its output what every output
    must equal. Results are kept as they come, so that an interrupted run goes on where it was; the page about
    them is `decoder report`.

    With --demo the models are those that come with decoder, and what is not asked for is chosen so that a
    minute is enough; without --out nothing is kept.
    """
    from decoder.bench.summary import divergences, summarise_rows

    _check(target, demo, given)
    if given["device"]:
        import mlx.core as mx

        mx.set_default_device(mx.Device(getattr(mx, given["device"])))
    if target is None:
        plan = _demo_plan(given | _demo_choices(context, given))
    else:
        plan = _plan(target, _labels(drafts), given)
    rows = _rows(plan, given)
    summary, different = summarise_rows(rows, seed=given["seed"]), divergences(rows)
    if as_json:
        echo_json({"summary": summary, "runs": len(rows), "different": different})
    else:
        _print(summary, different, len(rows))
    ours = [d for d in different if d["translation"] != "transformers"]
    if given["identity"] and ours:
        context.exit(1)


def _check(target: str | None, demo: bool, given: dict[str, Any]) -> None:
    if demo and target is not None:
        raise UsageError("--demo brings its own models; leave out either it or TARGET.")
    if not demo and target is None:
        raise UsageError("give a TARGET, or --demo.")
    if not demo and given["folder"] is None:
        raise UsageError("say with --out DIR where the results go.")


def _demo_choices(context: click.Context, given: dict[str, Any]) -> dict[str, Any]:
    """What --demo chooses where nothing was asked for."""
    from click.core import ParameterSource

    from decoder.demo import wants_float32

    found = {n: v for n, v in DEMO.items() if context.get_parameter_source(n) is ParameterSource.DEFAULT}
    if given["prompts"] is None and given["corpus"] is None:
        found["corpus"] = DEMO_CORPUS
    return found | {"float32": given["float32"] or wants_float32()}


def _demo_plan(given: dict[str, Any]) -> Plan:
    from decoder.demo import NAMES, demo_pair, notice

    target, draft = demo_pair()
    notify(notice())
    return _plan(str(target), {NAMES[1]: str(draft)}, given)


def _labels(drafts: tuple[str, ...]) -> dict[str, str]:
    from decoder.bench.grid import labels

    return labels(drafts)


def _rows(plan: Plan, given: dict[str, Any]) -> list[dict[str, Any]]:
    """Run the plan and read its rows; without --out in a folder that is gone afterwards."""
    if given["folder"] is not None:
        return _kept(plan, given["folder"], given)
    try:
        with tempfile.TemporaryDirectory(prefix="decoder-bench-") as passing:
            return _kept(plan, Path(passing), given)
    except KeyboardInterrupt:
        raise KeyboardInterrupt from None  # there is nothing to go on from


def _kept(plan: Plan, folder: Path, given: dict[str, Any]) -> list[dict[str, Any]]:
    store = _store(plan, folder, given)
    return store.rows(_run(plan, store, given["transformers"]))


def _plan(target: str, drafts: dict[str, str], given: dict[str, Any]) -> Plan:
    from decoder.bench.cells import LOOKUP
    from decoder.bench.grid import Plan, strategies

    found = drafts | ({LOOKUP: LOOKUP} if given["lookup"] else {})
    if not found:
        raise UsageError("give a DRAFT to measure, or --lookup.")
    chosen = strategies(given["names"].split(","), no_heal=given["no_heal"], hold_back=given["hold_back"])
    ks = [_length(k) for k in given["ks"].split(",")]
    return Plan(target, found, chosen, ks, _prompts(given), given["max_tokens"], given["float32"])


def _length(text: str) -> int:
    if not text.strip().isdecimal() or not 1 <= int(text) <= options.LONGEST:
        raise UsageError(f"--k has {text!r}, no number from 1 to {options.LONGEST}; write it as 2,4,6.")
    return int(text)


def _prompts(given: dict[str, Any]) -> list[BenchPrompt]:
    from decoder.bench.prompts import corpus_prompts, read_prompts

    if (given["prompts"] is None) == (given["corpus"] is None):
        raise UsageError("give the prompts with --prompts FILE or --corpus SPEC, one of them.")
    if given["corpus"] is not None:
        return corpus_prompts(given["corpus"], given["per_group"], seed=given["seed"])
    groups = [g for g in given["groups"].split(",") if g]
    return read_prompts(given["prompts"], groups, given["per_group"])


def _store(plan: Plan, folder: Path, given: dict[str, Any]) -> Store:
    import mlx.core as mx

    from decoder.bench.cells import LOOKUP
    from decoder.bench.grid import BATCH
    from decoder.bench.identity import identify
    from decoder.bench.store import Store

    identity = identify(
        plan.target,
        {label: name for label, name in plan.drafts.items() if label != LOOKUP},
        plan.prompts,
        max_tokens=plan.max_tokens,
        float32=plan.float32,
        device=given["device"] or mx.default_device().type.name,
        batch=BATCH,
        note=given["note"],
    )
    return Store.open(folder, identity, fresh=not given["resume"])


def _run(plan: Plan, store: Store, transformers: str | None) -> list[str]:
    """Run the plan; the stems of all its units."""
    from decoder.bench import rival
    from decoder.bench.grid import run_plan

    units = list(plan.units())
    others = list(rival.units(plan)) if transformers else []
    total = len(plan.prompts) + sum(len(u.prompts) for u in units + others)
    try:
        with _progress(total) as step:
            run_plan(plan, store, step)
            if transformers:
                rival.run_rival(transformers, plan, store, step)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"the same command goes on from what is in {store.folder}.") from None
    return [u.stem for u in units] + [rival.stem_of(u) for u in others]


@contextmanager
def _progress(total: int) -> Iterator[Callable[[str, int], None]]:
    """A bar on standard error where that is a terminal; otherwise nothing."""
    console = err()
    if not console.is_terminal:
        yield lambda what, runs: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    text = TextColumn("{task.description}", markup=False)
    with Progress(
        text, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console, transient=True
    ) as bar:
        task = bar.add_task("loading", total=total)
        yield lambda what, runs: bar.update(task, description=what, advance=runs)


def _print(summary: list[dict[str, Any]], different: list[dict[str, Any]], runs: int) -> None:
    from decoder.bench.table import difference_lines, summary_table

    console = out()
    console.width = max(console.width, WIDTH)
    console.print(summary_table(summary))
    console.print(f"{runs - len(different)} of {runs} runs gave the output of plain decoding.", soft_wrap=True)
    for line in difference_lines(different):
        console.print(line, soft_wrap=True)
