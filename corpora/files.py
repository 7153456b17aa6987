"""Local text: a file, a folder, or a glob."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from pathlib import Path

from corpora.arrow_tables import parquet_file
from corpora.corpus import Document
from corpora.csv_tables import csv_file
from corpora.json_tables import json_file, json_lines
from corpora.meter import Meter
from corpora.names import Names
from corpora.reading import Tally, documents
from corpora.streams import BrokenStreamError, open_bytes, unreadable
from corpora.tables import Flaw, Row, Table, plain_text
from tokalign.errors import CorpusUsageError

FORMATS = (".txt", ".jsonl", ".json", ".parquet", ".csv")
COMPRESSIONS = (".gz", ".zst")
SUPPORTED = ", ".join(FORMATS) + "; all but .parquet also as .gz or .zst"


def format_of(path: Path) -> str | None:
    """The format by suffix, in either case, compression set aside; None for others."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] in COMPRESSIONS
    if compressed:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    return suffix if suffix in FORMATS and not (compressed and suffix == ".parquet") else None


def is_pattern(spec: str) -> bool:
    return any(sign in spec for sign in "*?[")


def matching(pattern: str, tally: Tally) -> list[tuple[Path, str]]:
    """(file, label) of a glob, sorted; ``**`` enters folders. Files of other formats are counted."""
    found = [Path(name) for name in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207 - the pattern may be absolute
    return _supported(found, pattern, tally)


def in_folder(folder: Path, tally: Tally) -> list[tuple[Path, str]]:
    """(file, label) of the files right in a folder, sorted by name; folders inside are only counted."""
    try:
        found = sorted(folder.iterdir(), key=lambda path: path.name)
    except OSError as error:
        raise unreadable(folder, error) from error
    return [(path, path.name) for path, _ in _supported(found, str(folder), tally)]


def _supported(found: Sequence[Path], where: str, tally: Tally) -> list[tuple[Path, str]]:
    kept = []
    for path in found:
        if path.is_dir():
            tally.add("folder not entered", where, path.name)
        elif path.name.startswith("."):
            tally.add("hidden file", where, path.name)
        elif format_of(path) is None:
            tally.add("file of no supported format", where, path.name)
        else:
            kept.append((path, path.as_posix()))
    if not kept:
        raise CorpusUsageError(f"{where} has no file that can be read as a corpus: give {SUPPORTED}")
    return kept


def read(
    files: Sequence[tuple[Path, str]],
    column: str | None,
    tally: Tally,
    meter: Meter | None = None,
    names: Names | None = None,
) -> Iterator[Document]:
    """Documents of the files in order. ``column`` does not touch .txt, and is refused where all are .txt.

    A damaged file is counted, with the documents before the damage used; ``meter`` follows the bytes read.
    """
    if column is not None and all(format_of(path) == ".txt" for path, _ in files):
        raise CorpusUsageError(f"{files[0][0]} is plain text, without columns: leave --column {column} away")
    meter = meter or Meter()
    meter.expect([_size(path) for path, _ in files])
    for path, label in files:
        meter.begin()
        try:
            found = table(path, meter)
        except BrokenStreamError as error:
            tally.broken(str(path), error, 0)
            continue
        is_text = format_of(path) == ".txt"
        columns = None if column is None or is_text else (column,)
        yield from documents(found, columns, tally, label, names)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise unreadable(path, error) from error


def table(path: Path, meter: Meter | None = None) -> Table:
    match format_of(path):
        case ".txt":
            return Table(str(path), ("text",), True, lambda _: _text_rows(path, meter))
        case ".jsonl":
            return _json_lines(path, meter)
        case ".json":
            return json_file(path, meter)
        case ".csv":
            return csv_file(path, meter)
        case ".parquet":
            return parquet_file(path, meter)
    raise CorpusUsageError(f"{path} has no supported format: give {SUPPORTED}")


def _json_lines(path: Path, meter: Meter | None) -> Table:
    try:
        return json_lines(lambda: open_bytes(path, meter), str(path))
    except BrokenStreamError:  # broken before the first object: met again, and counted, when its rows are read
        return Table(str(path), (), False, lambda _: _broken_rows(path))


def _broken_rows(path: Path) -> Iterator[Row | Flaw]:
    with open_bytes(path) as stream:
        for _ in stream:
            yield Flaw("line before the break", "line 1")


def _text_rows(path: Path, meter: Meter | None) -> Iterator[Row | Flaw]:
    with open_bytes(path, meter) as stream:
        yield from plain_text(stream.read(), str(path))
