"""One source as rows: the shape that every format takes, and the simplest format, plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from corpora.columns import DEFAULT
from tokalign.errors import CorpusUsageError

BOM = b"\xef\xbb\xbf"
BOM_KIND = "byte-order mark"


class Row(NamedTuple):
    """``position`` is "line 3" or "row 3", from 1; None where the file is one document."""

    position: str | None
    fields: Mapping[str, object]


class Flaw(NamedTuple):
    """``number`` things of a file that are no rows, to be counted under ``kind``. ``damage`` is a sentence
    where the file itself is broken."""

    kind: str
    position: str
    number: int = 1
    damage: str | None = None


@dataclass(frozen=True)
class Table:
    """Rows of one source. ``columns``: the schema, or the keys of the first object where there is none.

    ``rows(columns)`` reads from the start; formats with a schema read only those columns. ``fixed`` says
    that a column outside ``columns`` cannot turn up later. Rows may raise `streams.BrokenStreamError`.
    """

    where: str
    columns: tuple[str, ...]
    fixed: bool
    rows: Callable[[Sequence[str]], Iterator[Row | Flaw]]


def plain_text(data: bytes, where: str) -> Iterator[Row | Flaw]:
    """A whole file as one document, line ends and all; a byte-order mark at its start is cut and counted.

    CorpusUsageError with the byte offset for NUL bytes (a binary file) and for what is not UTF-8.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise CorpusUsageError(
            f"{where} is UTF-16, not UTF-8 (byte 0): convert it with iconv -f UTF-16 -t UTF-8"
        )
    nul = data.find(b"\0")
    if nul >= 0:
        raise CorpusUsageError(f"{where} is not text: a NUL byte stands at byte {nul}; give a UTF-8 text file")
    text = decoded(data, where)
    if data.startswith(BOM):
        yield Flaw(BOM_KIND, "byte 0")
        text = text[1:]
    yield Row(None, {DEFAULT: text})


def decoded(data: bytes, where: str) -> str:
    """Strict UTF-8; CorpusUsageError naming the offset of the first bad byte."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise CorpusUsageError(
            f"{where} is not UTF-8 at byte {error.start} (0x{data[error.start]:02x}): convert it, for older "
            "Polish files with iconv -f WINDOWS-1250 -t UTF-8"
        ) from error
