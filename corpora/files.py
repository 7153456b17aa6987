"""Local text: a file, a folder, a glob, or standard input."""

from __future__ import annotations

import glob
import io
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from corpora.arrow_tables import parquet_file
from corpora.columns import default_columns, split_names, wrong_column
from corpora.corpus import Document
from corpora.csv_tables import csv_file
from corpora.json_tables import json_file, json_lines
from corpora.reading import Tally, broken, documents
from corpora.streams import BrokenStreamError, open_bytes, unreadable
from corpora.tables import Flaw, Row, Table, plain_text
from tokalign.errors import CorpusError, CorpusUsageError

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


def read(files: Sequence[tuple[Path, str]], column: str | None, tally: Tally) -> Iterator[Document]:
    """Documents of the files in order. ``column`` does not touch .txt, and is refused where all are .txt."""
    if column is not None and all(format_of(path) == ".txt" for path, _ in files):
        raise CorpusUsageError(f"{files[0][0]} is plain text, without columns: leave --column {column} away")
    for path, label in files:
        try:
            found = table(path)
        except BrokenStreamError as error:
            raise broken(str(path), error, 0) from error
        is_text = format_of(path) == ".txt"
        yield from documents(found, None if column is None or is_text else (column,), tally, label)


def table(path: Path) -> Table:
    match format_of(path):
        case ".txt":
            return Table(str(path), ("text",), True, lambda _: _text_rows(path))
        case ".jsonl":
            return _json_lines(path)
        case ".json":
            return json_file(path)
        case ".csv":
            return csv_file(path)
        case ".parquet":
            return parquet_file(path)
    raise CorpusUsageError(f"{path} has no supported format: give {SUPPORTED}")


def _json_lines(path: Path) -> Table:
    try:
        return json_lines(lambda: open_bytes(path), str(path))
    except BrokenStreamError:  # broken before the first object: met again, and counted, when its rows are read
        return Table(str(path), (), False, lambda _: _broken_rows(path))


def _broken_rows(path: Path) -> Iterator[Row | Flaw]:
    with open_bytes(path) as stream:
        for _ in stream:
            yield Flaw("line before the break", "line 1")


def _text_rows(path: Path) -> Iterator[Row | Flaw]:
    with open_bytes(path) as stream:
        yield from plain_text(stream.read(), str(path))


def standard_input(column: str | None, tally: Tally) -> Iterator[Document]:
    """Documents of standard input, read to its end.

    JSON lines when every line that is not blank is a JSON object; then ``column``, or the default column,
    must be among the keys of each. Anything else is one document of plain text, unless ``column`` is given.
    """
    where = "standard input"
    data = sys.stdin.buffer.read()
    if not data:
        raise CorpusError(f"{where} was empty: pipe text or JSON lines into it, or give a file")
    table = json_lines(lambda: io.BytesIO(data), where)
    objects = _objects(data)
    if objects is not None:
        wanted = split_names(column, table.columns) if column else default_columns(table.columns, where)
        if missing := [name for name in wanted if not all(name in keys for keys in objects)]:
            raise wrong_column(missing, table.columns, where)
        return documents(table, wanted, tally, "stdin")
    if column is not None:
        raise CorpusUsageError(f"{where} is not JSON lines, so has no column {column!r}: leave --column away")
    return documents(Table(where, ("text",), True, lambda _: plain_text(data, where)), None, tally, "stdin")


def _objects(data: bytes) -> list[set[str]] | None:
    """The keys of each line's object, None when a line is no JSON object."""
    keys = []
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if not line.strip():
            continue
        try:
            value = json.loads(line.decode())
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict):
            return None
        keys.append(set(value))
    return keys or None
