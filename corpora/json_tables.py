"""JSON lines and JSON files as rows."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from corpora.meter import Meter
from corpora.streams import open_bytes
from corpora.tables import BOM, BOM_KIND, Flaw, Row, Table, decoded
from tokalign.errors import CorpusError, CorpusUsageError

LINE_LIMIT = 32 << 20  # bytes


def json_lines(lines: Callable[[], IO[bytes]], where: str) -> Table:
    """JSON objects, one a line (LF ends a line, nothing else). ``lines`` opens the bytes anew.

    A line longer than `LINE_LIMIT` is never held as a whole, and counted as a flaw.
    """

    def rows(columns: Sequence[str] = ()) -> Iterator[Row | Flaw]:
        with lines() as stream:
            for number, line in enumerate(_bounded(stream), start=1):
                position = f"line {number}"
                if line is None:
                    yield Flaw(f"line longer than {LINE_LIMIT >> 20} MiB", position)
                    continue
                if number == 1 and line.startswith(BOM):
                    yield Flaw(BOM_KIND, position)
                    line = line[len(BOM) :]
                yield _json_line(line, position)

    first: Mapping[str, object] = {}
    head = rows()
    try:
        first = next((item.fields for item in head if isinstance(item, Row)), {})
    finally:
        head.close()  # type: ignore[attr-defined]
    return Table(where, tuple(first), False, rows)


def _bounded(stream: IO[bytes]) -> Iterator[bytes | None]:
    """The lines of a stream, None for one that is longer than `LINE_LIMIT`."""
    while line := stream.readline(LINE_LIMIT):
        if len(line) < LINE_LIMIT or line.endswith(b"\n"):
            yield line
            continue
        whole = True
        while rest := stream.readline(1 << 20):
            whole = whole and not rest.strip()
            if rest.endswith(b"\n"):
                break
        yield line if whole else None


def _json_line(line: bytes, position: str) -> Row | Flaw:
    if not line.strip():
        return Flaw("blank line", position)
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError:
        return Flaw("line that is not UTF-8", position)
    except (ValueError, RecursionError):
        return Flaw("invalid JSON line", position)
    return Row(position, value) if isinstance(value, dict) else Flaw("line that is no JSON object", position)


def json_file(path: Path, meter: Meter | None = None) -> Table:
    """A JSON array of objects, a single object, or JSON lines under the wrong suffix."""
    where = str(path)
    with open_bytes(path, meter) as stream:
        data = stream.read()
    text = decoded(data.removeprefix(BOM), where)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        first = next((line for line in data.removeprefix(BOM).splitlines() if line.strip()), b"")
        if isinstance(_json_line(first, ""), Row):
            return json_lines(lambda: io.BytesIO(data), where)
        raise CorpusError(
            f"{where} is not valid JSON ({error}): correct it, or give JSON lines as .jsonl"
        ) from error
    values = [value] if isinstance(value, dict) else value
    if not isinstance(values, list):
        raise CorpusUsageError(
            f"{where} holds a JSON {type(value).__name__}: give an array of objects, or an object"
        )

    def rows(_: Sequence[str] = ()) -> Iterator[Row | Flaw]:
        if data.startswith(BOM):
            yield Flaw(BOM_KIND, "byte 0")
        for number, item in enumerate(values, start=1):
            position = f"item {number}"
            yield (
                Row(position, item) if isinstance(item, dict) else Flaw("item that is no JSON object", position)
            )

    return Table(where, tuple(next((item for item in values if isinstance(item, dict)), {})), False, rows)
