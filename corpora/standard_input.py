"""Standard input, kept so that it can be read more than once: in memory while small, else on disk."""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from corpora.columns import default_columns, split_names, wrong_column
from corpora.corpus import Document
from corpora.json_tables import json_lines
from corpora.meter import Meter
from corpora.names import Names
from corpora.reading import Tally, documents
from corpora.tables import BOM, Table, plain_text
from tokalign.errors import CorpusError, CorpusUsageError

WHERE = "standard input"
_IN_MEMORY = 8 << 20  # bytes


class StandardInput:
    """What came on standard input, to its end. Raises CorpusError where nothing came."""

    def __init__(self) -> None:
        source = sys.stdin.buffer
        self._data = source.read(_IN_MEMORY)
        self._path: Path | None = None
        self.size = len(self._data)
        if not self._data:
            raise CorpusError(f"{WHERE} was empty: pipe text or JSON lines into it, or give a file")
        if rest := source.read(_IN_MEMORY):
            handle, name = tempfile.mkstemp(prefix="tokalign-", suffix=".stdin")
            self._path = Path(name)
            weakref.finalize(self, self._path.unlink, missing_ok=True)
            with os.fdopen(handle, "wb") as file:
                file.write(self._data)
                while rest:
                    self.size += file.write(rest)
                    rest = source.read(_IN_MEMORY)
            self._data = b""

    def open(self) -> IO[bytes]:
        """The bytes from their start."""
        return io.BytesIO(self._data) if self._path is None else self._path.open("rb")

    def read(self, column: str | None, tally: Tally, meter: Meter, names: Names | None) -> Iterator[Document]:
        """Documents: JSON lines when every line that is not blank is a JSON object; then ``column``, or the
        default column, must be among the keys of each. Anything else is one document of plain text, unless
        ``column`` is given."""
        meter.expect([self.size])
        meter.begin()
        keys = self._keys()
        if keys is not None:
            table = json_lines(lambda: self._followed(meter), WHERE)
            wanted = split_names(column, table.columns) if column else default_columns(table.columns, WHERE)
            if missing := [name for name in wanted if name not in keys]:
                raise wrong_column(missing, table.columns, WHERE)
            return documents(table, wanted, tally, "stdin", names)
        if column is not None:
            raise CorpusUsageError(
                f"{WHERE} is not JSON lines, so has no column {column!r}: leave --column away"
            )
        with self.open() as stream:
            data = stream.read()
        return documents(
            Table(WHERE, ("text",), True, lambda _: plain_text(data, WHERE)), None, tally, "stdin", names
        )

    def _followed(self, meter: Meter) -> IO[bytes]:
        stream = self.open()
        meter.follow(stream)
        return stream

    def _keys(self) -> set[str] | None:
        """The keys that every line's object has, None when a line is no JSON object."""
        keys: set[str] | None = None
        with self.open() as stream:
            for number, line in enumerate(stream):
                line = line.removeprefix(BOM) if not number else line
                if not line.strip():
                    continue
                try:
                    value = json.loads(line.decode())
                except (ValueError, RecursionError):
                    return None
                if not isinstance(value, dict):
                    return None
                keys = set(value) if keys is None else keys & set(value)
        return keys
