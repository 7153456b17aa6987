"""Parquet files and Arrow batches as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from corpora.streams import unreadable
from corpora.tables import Flaw, Row, Table
from tokalign.errors import CorpusError


def parquet_file(path: Path) -> Table:
    """Rows of a Parquet file; text columns come as bytes, so that bad UTF-8 is met value by value."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    where = str(path)
    damage = f"{where} is not a readable Parquet file: it is damaged or incomplete; copy or download it again"
    try:
        names = pq.read_schema(path).names
    except (pa.ArrowException, ValueError) as error:
        raise CorpusError(damage) from error
    except OSError as error:
        raise (unreadable(path, error) if error.errno else CorpusError(damage)) from error

    def rows(columns: Sequence[str]) -> Iterator[Row | Flaw]:
        number = 0
        wanted = [name for name in names if name in columns or name == "id"]
        try:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=256, columns=wanted):
                    for row in arrow_rows(batch):
                        number += 1
                        yield Row(f"row {number}", row)
        except (pa.ArrowException, OSError) as error:
            raise CorpusError(f"{damage} ({number} rows were readable)") from error

    return Table(where, tuple(names), True, rows)


def arrow_rows(batch: object) -> Iterator[dict[str, object]]:
    """Rows of a pyarrow RecordBatch, strings as undecoded bytes."""
    import pyarrow as pa

    names = batch.schema.names  # type: ignore[attr-defined]
    values = []
    for column in batch.columns:  # type: ignore[attr-defined]
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column = column.cast(pa.large_binary())
        values.append(column.to_pylist())
    for row in zip(*values, strict=True):
        yield dict(zip(names, row, strict=True))
