"""Parquet files and Arrow batches as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from corpora.meter import Meter
from corpora.streams import BrokenStreamError, unreadable
from corpora.tables import Flaw, Row, Table

LOST = "row of a damaged row group"


def parquet_file(path: Path, meter: Meter | None = None) -> Table:
    """Rows of a Parquet file; text columns come as bytes, so that bad UTF-8 is met value by value.

    Raises BrokenStreamError for a file whose end (where its schema stands) is cut or damaged. A row group
    that cannot be read is a flaw, counted in rows; those after it are read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    where = str(path)
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    except (pa.ArrowException, ValueError) as error:
        raise BrokenStreamError("it is not a readable Parquet file") from error
    except OSError as error:
        if error.errno:
            raise unreadable(path, error) from error
        raise BrokenStreamError("it is not a readable Parquet file") from error

    def rows(columns: Sequence[str]) -> Iterator[Row | Flaw]:
        wanted = [name for name in names if name in columns or name == "id"]
        first = 0  # rows before the row group
        with pq.ParquetFile(path) as file:
            for group, size in enumerate(sizes):
                read = 0
                try:
                    for batch in file.iter_batches(batch_size=256, row_groups=[group], columns=wanted):
                        for row in arrow_rows(batch):
                            read += 1
                            yield Row(f"row {first + read}", row)
                        if meter is not None:
                            meter.reach((first + read) / sum(sizes))
                except (pa.ArrowException, OSError):
                    yield Flaw(LOST, f"row {first + read + 1}", size - read, _damage(where, group, size, read))
                first += size

    return Table(where, tuple(names), True, rows)


def _damage(where: str, group: int, size: int, read: int) -> str:
    return (
        f"row group {group + 1} of {where} is damaged: {size - read:,} of its {size:,} rows are left out, all "
        "other row groups are used; copy or download the file again"
    )


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
