"""Rows and rounds that another machine wrote as JSON lines, into a bench's folder.

python -m decoder.bench.ingest FOLDER… --out DIR           # what decoder.bench.record wrote
python -m decoder.bench.ingest --rows all.jsonl.gz --target NAME --out DIR   # rows alone
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from decoder.bench.grid import BATCH, stem
from decoder.bench.identity import Identity, ModelIdentity
from decoder.bench.rows import full_row
from decoder.bench.store import Store, read_identity
from decoder.errors import BenchError
from tokalign.errors import TokalignError

Record = dict[str, Any]
Cell = tuple[str, str, int]


def ingest(
    rows: Path,
    folder: Path,
    *,
    traces: Path | None = None,
    identity: Identity | None = None,
    plain: Path | None = None,
    target: str = "target",
) -> Store:
    """Add rows (and their rounds) to the bench in ``folder``, which is made where there is none.

    JSON lines, gzipped or not. Columns that a row lacks become null. Without an ``identity`` only the names
    are known, of the ``target`` too, and figures of such a folder rest on trust. ``plain`` is plain decoding
    as a bench stores it; with it and the identity, a bench can be continued here.

    Raises:
        BenchError: a line is no row or no round.
        BenchUsageError: the folder holds another bench.
    """
    found = [_named(row, rows) for row in _lines(rows)]
    cells = _grouped(found)
    batch = identity.batch if identity is not None else BATCH
    store = Store.open(folder, identity or _bare(found, target))
    if plain is not None and plain.exists() and store.references() is None:
        (folder / "plain.json").write_bytes(plain.read_bytes())
    rounds = _rounds(traces)
    for cell, members in cells.items():
        for n, begin in enumerate(range(0, len(members), batch)):
            part = members[begin : begin + batch]
            of_part = [t for row in part for t in rounds.get((*cell, row["prompt"]), ())]
            store.add(stem(*cell, n), part, of_part)
    return store


def ingest_recording(recording: Path, folder: Path) -> Store:
    """Add the folder that :mod:`decoder.bench.record` wrote."""
    return ingest(
        recording / "rows.jsonl.gz",
        folder,
        traces=recording / "traces.jsonl.gz",
        identity=read_identity(recording),
        plain=recording / "plain.json",
    )


def _rounds(traces: Path | None) -> dict[tuple[str, str, int, str], list[Record]]:
    """Rounds by cell and prompt."""
    rounds: dict[tuple[str, str, int, str], list[Record]] = {}
    for trace in _lines(traces) if traces is not None and traces.exists() else ():
        trace["draft"] = short(trace["draft"])
        rounds.setdefault((*_cell(trace), trace["prompt"]), []).append(trace)
    return rounds


def short(name: str) -> str:
    """A draft's name; of a path its last part."""
    return Path(name).name if name.startswith(("/", ".", "~")) else name


def _cell(record: Mapping[str, Any]) -> Cell:
    return record["draft"], record["translation"], record["k"]


def _grouped(rows: Iterable[Record]) -> dict[Cell, list[Record]]:
    """Rows by cell; of a prompt that was run twice the last one counts."""
    cells: dict[Cell, dict[str, Record]] = {}
    for row in rows:
        cells.setdefault(_cell(row), {})[row["prompt"]] = row
    return {cell: [found[p] for p in sorted(found)] for cell, found in cells.items()}


def _named(row: Record, where: Path) -> Record:
    try:
        return full_row(row | {"draft": short(row["draft"])})
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise BenchError(f"{where} has a line that is no row of a bench: {error}.") from error


def _lines(path: Path) -> Iterator[Record]:
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        yield from (json.loads(line) for line in data.splitlines() if line.strip())
    except OSError as error:
        raise BenchError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, EOFError) as error:
        raise BenchError(f"{path} is cut off or no JSON lines ({error}); copy it again.") from error


def _bare(rows: Sequence[Record], target: str) -> Identity:
    """What can be said of rows alone."""
    names = {row["draft"]: ModelIdentity(row["draft"], None) for row in rows}
    prompts = {row["prompt"] for row in rows}
    return Identity(ModelIdentity(target, None), None, len(prompts), None, None, None, None, BATCH, names)


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse and ingest."""
    parser = argparse.ArgumentParser(prog="python -m decoder.bench.ingest")
    parser.add_argument("recordings", nargs="*", type=Path)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--traces", type=Path)
    parser.add_argument("--target", default="target")
    parser.add_argument("--note", help="where it was measured")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    try:
        for recording in given.recordings:
            ingest_recording(recording, given.out)
        if given.rows:
            ingest(given.rows, given.out, traces=given.traces, target=given.target)
        if given.note:
            store = Store.read(given.out)
            Store(given.out, replace(store.identity, note=given.note))._save()
    except TokalignError as error:
        print(f"ingest: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
