"""Speed side by side in one run: mlx-lm's own generation, ``auto`` and fixed draft lengths, repeat by repeat.

    python -m decoder.bench.race TARGET DRAFT… --prompts prompts.jsonl --k auto,2,4 --out race.jsonl
    python -m decoder.bench.race bielik-11b bielik-1.5b --staged dense.jsonl.gz --bits 8 --out race.jsonl

With ``--staged`` TARGET and DRAFT are published shapes with random weights that compute what was recorded (see
:mod:`decoder.bench.staged`). ``auto`` drafts while the draft is sure, ``whole`` is the same policy with drafts
that are never cut short. All modes of a prompt are run in another order at every repeat. FILE gets one line a
run; standard output the ratios.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import mlx.core as mx

from decoder.bench.dense import Dense
from decoder.bench.pace import errors, pair_modes, predicted, ratios, rows_of, staged_modes, staged_policies
from decoder.bench.prompts import read_prompts
from decoder.bench.staged import Stage
from decoder.calibrate import Plan, Subject, calibrate
from decoder.generation import load_pair
from decoder.healing import Healer
from decoder.known import known_costs
from decoder.models import load_model
from decoder.profile import dumps
from decoder.shapes import build
from tokalign.errors import TokalignError
from tokalign.files import write_text


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, run, write the rows and print the ratios."""
    given = _parser().parse_args(arguments)
    if given.device:
        mx.set_default_device(mx.Device(getattr(mx, given.device)))
    rows: list[dict[str, Any]] = []
    try:
        for row in _staged(given) if given.staged else _pairs(given):
            rows.append(row)
            with given.out.open("a" if len(rows) > 1 else "w", encoding="utf-8") as lines:
                lines.write(json.dumps(row) + "\n")  # at once, so that an interrupted race keeps its runs
            if row["repeat"] == 0:
                print(row["draft"], row["group"], row["prompt"], row["mode"], file=sys.stderr, flush=True)
    except TokalignError as error:
        print(f"race: {error}", file=sys.stderr)
        return error.exit_code
    for r in ratios(rows):
        shares = f"draft {r.draft_share:.0%} translate {r.translate_share:.1%} verify {r.verify_share:.0%}"
        spread = f"{r.ratio:.3f} ({r.low:.3f} to {r.high:.3f}, n = {r.n})"
        print(f"{r.draft} {r.group} {r.mode}: {spread}, {r.tokens_per_pass:.2f} tokens a pass, {shares}")
    if off := errors(rows):
        print(f"predicted against measured: median error {median(map(abs, off)):.1%}, n = {len(off)}")
    return 0


def _pairs(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    prompts = read_prompts(given.prompts, given.groups.split(",") if given.groups else [], given.per_group)
    for draft in given.drafts:
        pair = load_pair(given.target, draft, float32=given.float32)
        for n, prompt in enumerate(prompts):
            about = {"target": given.target, "draft": draft, "group": prompt.group, "prompt": n}
            modes = pair_modes(pair, prompt.text, given.max_tokens, given.k.split(","))
            yield from rows_of(about, modes, given.repeats)


def _staged(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    with gzip.open(given.staged, "rt", encoding="utf-8") as lines:
        recordings = [Dense.from_dict(json.loads(line)) for line in lines]
    recorded, drafting = load_model(given.recorded[0], "target"), load_model(given.recorded[1], "draft")
    target = build(given.target, given.bits)
    draft = build(given.drafts[0], given.draft_bits or given.bits)
    subjects = (
        Subject(given.target, target, recorded.tokenizer, True),
        Subject(given.drafts[0], draft, drafting.tokenizer, True),
    )
    profile = calibrate(subjects[0], [lambda: subjects[1]], Plan(contexts=(512,), prompts=(512,)))
    write_text(given.out.with_suffix(".profile.json"), dumps(profile))
    rows = int(draft(mx.array([[0]])).shape[-1])
    stage = Stage(target, draft, recorded.tokenizer, Healer(drafting.tokenizer, rows))
    stage.warm()
    policies = staged_policies(known_costs(profile, given.drafts[0]), given.k.split(","))
    for n, dense in enumerate(recordings):
        foretold = {k: predicted(profile, dense, int(k)) for k in policies if k.isdigit()}
        about = {"target": given.target, "draft": given.drafts[0], "group": dense.group, "prompt": n}
        for row in rows_of(about, staged_modes(stage, dense, policies), given.repeats):
            yield {**row, "bits": given.bits, "predicted": foretold.get(row["mode"])}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m decoder.bench.race")
    parser.add_argument("target")
    parser.add_argument("drafts", nargs="+")
    parser.add_argument("--prompts", type=Path)
    parser.add_argument("--groups", default="")
    parser.add_argument("--per-group", type=int)
    parser.add_argument("--max-tokens", type=int, default=64)
    parser.add_argument("--float32", action="store_true")
    parser.add_argument("--device", choices=("cpu", "gpu"))
    parser.add_argument("--staged", type=Path, help="recordings of decoder.bench.dense, JSON lines, gzip")
    parser.add_argument("--recorded", nargs=2, metavar=("TARGET", "DRAFT"), help="the pair that was recorded")
    parser.add_argument("--bits", type=int, default=16)
    parser.add_argument("--draft-bits", type=int)
    parser.add_argument("--k", default="auto,2,4")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, required=True)
    return parser


if __name__ == "__main__":
    sys.exit(main())
