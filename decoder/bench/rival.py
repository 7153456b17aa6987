"""transformers' assisted generation on the same prompts, in a Python of its own, as rows beside ours."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import decoder.rivals
from decoder.bench.cells import LOOKUP, Reference, diverges
from decoder.bench.grid import Plan, Unit
from decoder.bench.rows import full_row
from decoder.errors import BenchError, BenchUsageError

NAME = "transformers"
SCRIPT = Path(decoder.rivals.__file__).with_name("assisted.py")


def units(plan: Plan) -> Iterator[Unit]:
    """The units of the grid that transformers can run: its own translation takes the strategies' place."""
    first = plan.strategies[0]
    for u in plan.units():
        if u.draft != LOOKUP and u.strategy == first:
            yield u


def stem_of(unit: Unit) -> str:
    """Names the unit's files."""
    from decoder.bench.grid import stem

    return stem(unit.draft, NAME, unit.k, unit.batch)


def run_unit(python: str, plan: Plan, unit: Unit, found: Mapping[str, Reference]) -> list[dict[str, Any]]:
    """Rows of one unit.

    Raises:
        BenchError: the script failed.
        BenchUsageError: a model is no folder, or there is no such Python.
    """
    for name in (plan.target, plan.drafts[unit.draft]):
        if not Path(name).is_dir():
            raise BenchUsageError(
                f"--transformers reads a model's files, and {name!r} is no folder; give its path."
            )
    request = {
        "target": plan.target,
        "draft": plan.drafts[unit.draft],
        "prompts": [p.text for p in unit.prompts],
        "k": unit.k,
        "max_tokens": plan.max_tokens,
    }
    try:
        done = subprocess.run(
            [python, str(SCRIPT)], input=json.dumps(request), capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise BenchUsageError(f"--transformers {python} cannot be started: {error.strerror}.") from error
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or len(lines) != len(unit.prompts):
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise BenchError(f"transformers failed in {python}: {last}")
    return list(_rows(unit, lines, found))


def _rows(
    unit: Unit, lines: Sequence[Mapping[str, Any]], found: Mapping[str, Reference]
) -> Iterator[dict[str, Any]]:
    """Seconds are left out: another library on another device compares nothing."""
    for p, line in zip(unit.prompts, lines, strict=True):
        divergence = diverges(line["tokens"], found[p.id].tokens)
        yield full_row(
            {
                "draft": unit.draft,
                "translation": NAME,
                "k": unit.k,
                "group": p.group,
                "prompt": p.id,
                "identical": divergence is None,
                "diverges_at": divergence,
                "tokens": len(line["tokens"]),
                "rounds": line["passes"],
                "plain_tokens": len(found[p.id].tokens),
            }
        )


def run_rival(python: str, plan: Plan, sink: Any, step: Callable[[str, int], None]) -> None:
    """Run what is missing; ``sink`` has plain decoding already."""
    references = sink.references() or []
    found = dict(zip((p.id for p in plan.prompts), references, strict=True))
    for unit in units(plan):
        if not sink.has(stem_of(unit)):
            sink.add(stem_of(unit), run_unit(python, plan, unit, found), ())
        step(f"{NAME} {unit.draft} k={unit.k}", len(unit.prompts))
