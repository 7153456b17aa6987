"""CSV files as rows."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from corpora.columns import listed
from corpora.meter import Meter
from corpora.streams import open_bytes
from corpora.tables import BOM_KIND, Flaw, Row, Table
from tokalign.errors import CorpusError, CorpusUsageError


def csv_file(path: Path, meter: Meter | None = None) -> Table:
    """Rows under a header row; the separator is a comma, else a semicolon or tab found in the header."""
    where = str(path)
    with open_bytes(path) as stream:
        head = stream.readline().decode(errors="replace")
    separator = next((sign for sign in ",;\t" if sign in head), ",")

    def records() -> Iterator[list[str]]:
        csv.field_size_limit(sys.maxsize)  # the default refuses fields over 131,072 characters
        with io.TextIOWrapper(
            open_bytes(path, meter), "utf-8-sig", errors="surrogateescape", newline=""
        ) as lines:
            reader = csv.reader(lines, delimiter=separator, strict=True)
            try:
                yield from reader
            except csv.Error as error:
                raise CorpusError(
                    f"{where} is not valid CSV at line {reader.line_num} ({error}): correct the quotes there"
                ) from error

    start = records()
    header = next(start, [])
    start.close()  # type: ignore[attr-defined]
    _check_header(header, where)

    def rows(_: Sequence[str] = ()) -> Iterator[Row | Flaw]:
        if head.startswith("\ufeff"):
            yield Flaw(BOM_KIND, "byte 0")
        for number, record in enumerate(records()):
            position = f"row {number}"
            if number == 0:
                continue
            if not record:
                yield Flaw("blank line", position)
            elif len(record) != len(header):
                yield Flaw("row of another length than the header", position)
            else:
                yield Row(position, dict(zip(header, record, strict=True)))

    return Table(where, tuple(header), True, rows)


def _check_header(header: list[str], where: str) -> None:
    """Refuse a first row that cannot be names: empty, repeated, or a lone cell that reads like a sentence."""
    sentence = len(header) == 1 and not re.fullmatch(r"\w[\w.-]{0,63}", header[0])
    number = any(re.fullmatch(r"[-+]?\d+([.,]\d+)?", cell) for cell in header)
    if not header or "" in header or len(set(header)) < len(header) or sentence or number:
        raise CorpusUsageError(
            f"{where} has no header row (its first row reads {listed(header, 5)}): "
            "add a row with the column names"
        )
