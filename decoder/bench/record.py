"""Run the grid on a machine that has MLX and little else, and keep it as JSON lines.

    python -m decoder.bench.record TARGET DRAFT… --prompts prompts.jsonl --k 2,4,6 --out FOLDER

Needs neither polars nor rich. FOLDER gets ``bench.json``, ``plain.json``, ``rows.jsonl.gz`` and
``traces.jsonl.gz``, which :mod:`decoder.bench.ingest` turns into a bench's folder elsewhere; ``parts`` in it is
what a repeated command goes on from.
"""

from __future__ import annotations

import argparse
import gzip
import json
import signal
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import mlx.core as mx

from decoder.bench.grid import BATCH, Plan, labels, run_plan, strategies
from decoder.bench.identity import Identity, identify
from decoder.bench.prompts import read_prompts
from decoder.bench.store import Store
from tokalign.errors import TokalignError
from tokalign.files import replacing

DEFAULT = "none,naive,counted:5,length:5,context:5,intersection,anchored"


class Lines(Store):
    """A folder of JSON lines instead of parquet; a :class:`decoder.bench.grid.Sink`."""

    def __init__(self, folder: Path, identity: Identity) -> None:
        super().__init__(folder, identity)
        (folder / "parts").mkdir(parents=True, exist_ok=True)

    def _part(self, stem: str) -> Path:
        return self.folder / "parts" / f"rows-{stem}.jsonl.gz"

    def add(self, stem: str, rows: Iterable[dict[str, Any]], traces: Iterable[dict[str, Any]]) -> None:
        """See :class:`~decoder.bench.grid.Sink`."""
        _write(self.folder / "parts" / f"traces-{stem}.jsonl.gz", traces)
        _write(self._part(stem), rows)
        print(stem, file=sys.stderr, flush=True)

    def pack(self) -> None:
        """Put all parts into the two files that travel."""
        for kind in ("rows", "traces"):
            with replacing(self.folder / f"{kind}.jsonl.gz") as partial, partial.open("wb") as out:
                for path in sorted((self.folder / "parts").glob(f"{kind}-*.jsonl.gz")):
                    out.write(path.read_bytes())


def _write(path: Path, records: Iterable[dict[str, Any]]) -> None:
    lines = "".join(json.dumps(r) + "\n" for r in records)
    with replacing(path) as partial:
        partial.write_bytes(gzip.compress(lines.encode(), mtime=0))


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, run, pack; 0 where every output was that of plain decoding."""
    given = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _stop)
    try:
        return _run(given)
    except TokalignError as error:
        print(f"record: {error}", file=sys.stderr)
        return error.exit_code


def _run(given: argparse.Namespace) -> int:
    if given.device:
        mx.set_default_device(mx.Device(getattr(mx, given.device)))
    prompts = read_prompts(given.prompts, given.groups.split(",") if given.groups else [], given.per_group)
    drafts = labels(given.drafts)
    chosen = strategies(given.translation.split(","), no_heal=given.no_heal, hold_back=given.hold_back)
    ks = [int(k) for k in given.k.split(",")]
    plan = Plan(given.target, drafts, chosen, ks, prompts, given.max_tokens, given.float32)
    identity = identify(
        given.target,
        drafts,
        prompts,
        max_tokens=given.max_tokens,
        float32=given.float32,
        device=given.device or mx.default_device().type.name,
        batch=BATCH,
        note=given.note,
    )
    sink = Lines.open(given.out, identity)
    assert isinstance(sink, Lines)
    try:
        run_plan(plan, sink, lambda what, runs: print(f"{what}: {runs}", file=sys.stderr) if runs > 1 else None)
    finally:
        sink.pack()
    with gzip.open(given.out / "rows.jsonl.gz", "rt") as lines:
        different = sum(not json.loads(line)["identical"] for line in lines)
    print(f"{different} runs differ from plain decoding", file=sys.stderr)
    return 1 if different else 0


def _stop(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m decoder.bench.record")
    parser.add_argument("target")
    parser.add_argument("drafts", nargs="+")
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--groups", default="")
    parser.add_argument("--per-group", type=int)
    parser.add_argument("--k", default="2,4,6")
    parser.add_argument("--translation", default=DEFAULT)
    parser.add_argument("--no-heal", action="store_true")
    parser.add_argument("--hold-back", action="store_true")
    parser.add_argument("--max-tokens", type=int, default=64)
    parser.add_argument("--float32", action="store_true")
    parser.add_argument("--device", choices=("cpu", "gpu"))
    parser.add_argument("--note")
    parser.add_argument("--out", type=Path, required=True)
    return parser


if __name__ == "__main__":
    sys.exit(main())
