"""Rows and rounds that another machine wrote as JSON lines, into a bench's folder.

python -m decoder.bench.ingest FOLDER… --out DIR           # what decoder.bench.record wrote
python -m decoder.bench.ingest FOLDER… --untimed "16 processes shared one GPU" --single --out DIR
python -m decoder.bench.ingest --rows all.jsonl.gz --target NAME --out DIR   # rows alone
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
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
TIMES = ("seconds", "plain_seconds", "draft_s", "translate_s", "verify_s", "host_s", "joules", "plain_joules")


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


def ingest_recordings(
    recordings: Sequence[Path],
    folder: Path,
    *,
    target: str | None = None,
    note: str | None = None,
    drafts: Mapping[str, str] | None = None,
    untimed: str | None = None,
    single: bool = False,
) -> Store:
    """Make one bench of recordings with the same target and settings, of several drafts or sets of prompts.

    Several sets of prompts get a common SHA-256 over theirs, so such a bench cannot be continued.

    Args:
        recordings: folders that :mod:`decoder.bench.record` wrote.
        folder: where the bench goes; it must hold none.
        target: what to call the target.
        drafts: what to say of drafts, by their names in rows.
        note: where it was measured.
        untimed: why times and joules mean nothing; they are then left out.
        single: rows in one part, without rounds.

    Raises:
        BenchError: the recordings do not belong together.
    """
    identity = _joined(recordings)
    identity = replace(
        identity,
        note=note or identity.note,
        target=replace(identity.target, name=target or identity.target.name),
        drafts={d: replace(m, name=(drafts or {}).get(d, m.name)) for d, m in identity.drafts.items()},
    )
    paths = [r / "rows.jsonl.gz" for r in recordings]
    found = [_named(row, path) for path in paths for row in _lines(path)]
    if untimed is not None:
        found = [row | dict.fromkeys(TIMES) | {"energy_reason": untimed} for row in found]
    cells = _grouped(found)
    store = Store.open(folder, identity)
    if single:
        store.add("all", [row for members in cells.values() for row in members], ())
        return store
    rounds: dict[tuple[str, str, int, str], list[Record]] = {}
    for r in recordings:
        rounds |= _rounds(r / "traces.jsonl.gz")
    for cell, members in cells.items():
        for n, begin in enumerate(range(0, len(members), identity.batch)):
            part = members[begin : begin + identity.batch]
            store.add(stem(*cell, n), part, [t for row in part for t in rounds.get((*cell, row["prompt"]), ())])
    return store


def _joined(recordings: Sequence[Path]) -> Identity:
    """The identity of all of them together."""
    found = [read_identity(r) for r in recordings]
    first = found[0]
    for recording, other in zip(recordings, found, strict=True):
        clash = first.clash(replace(other, prompts=first.prompts))
        if clash is not None:
            raise BenchError(f"{recording} has another {clash[0]} than {recordings[0]}; keep them apart.")
        first = first.merged(other)
    sets = {i.prompts or "": i.count for i in found}
    if len(sets) > 1:
        digest = hashlib.sha256(" ".join(sorted(sets)).encode()).hexdigest()
        first = replace(first, prompts=digest, count=sum(sets.values()))
    return first


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
    parser.add_argument("--target", help="what to call the target")
    parser.add_argument("--draft", action="append", default=[], metavar="DRAFT=WORDS", help="what a draft is")
    parser.add_argument("--note", help="where it was measured")
    parser.add_argument("--untimed", metavar="WHY", help="leave out times and joules, and why")
    parser.add_argument("--single", action="store_true", help="rows in one part, without rounds")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    try:
        if len(given.recordings) > 1 or given.untimed or given.single:
            ingest_recordings(
                given.recordings,
                given.out,
                target=given.target,
                note=given.note,
                drafts=dict(pair.split("=", 1) for pair in given.draft),
                untimed=given.untimed,
                single=given.single,
            )
        elif given.recordings:
            ingest_recording(given.recordings[0], given.out)
        if given.rows:
            ingest(given.rows, given.out, traces=given.traces, target=given.target or "target")
        if given.note:
            store = Store.read(given.out)
            Store(given.out, replace(store.identity, note=given.note))._save()
    except TokalignError as error:
        print(f"ingest: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
