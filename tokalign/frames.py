"""Polars frames as JSON: column names with their types, and rows."""

from __future__ import annotations

from typing import Any

import polars as pl

from tokalign.records import RecordError

_TYPES: dict[str, Any] = {
    "text": pl.String(),
    "integer": pl.Int64(),
    "number": pl.Float64(),
    "truth": pl.Boolean(),
    "integers": pl.List(pl.Int64()),
}


def to_json(frame: pl.DataFrame) -> dict[str, Any]:
    """``{"columns": {name: type}, "rows": [[…], …]}``; integers and floats become 64 bits wide."""
    columns = {name: _name_of(kind, name) for name, kind in frame.schema.items()}
    plain = frame.select(pl.col(name).cast(_TYPES[kind]) for name, kind in columns.items())
    return {"columns": columns, "rows": [list(row) for row in plain.iter_rows()]}


def from_json(value: object, field: str) -> pl.DataFrame:
    """The frame again.

    Raises:
        RecordError: the value is no such object, or a row does not fit the columns.
    """
    if not isinstance(value, dict) or set(value) != {"columns", "rows"}:
        raise RecordError(f"the field {field!r} is no table of columns and rows")
    columns, rows = value["columns"], value["rows"]
    if not isinstance(columns, dict) or not isinstance(rows, list):
        raise RecordError(f"the field {field!r} is no table of columns and rows")
    unknown = [kind for kind in columns.values() if kind not in _TYPES]
    if unknown:
        raise RecordError(f"the field {field!r} has a column of the unknown type {unknown[0]!r}")
    if any(not isinstance(row, list) or len(row) != len(columns) for row in rows):
        raise RecordError(f"the field {field!r} has a row that is not {len(columns)} values long")
    try:
        return pl.DataFrame(rows, schema={n: _TYPES[k] for n, k in columns.items()}, orient="row", strict=True)
    except Exception as error:  # polars has no one error for a value of the wrong type
        reason = str(error).splitlines()[0]
        raise RecordError(f"the field {field!r} holds a value of the wrong type ({reason})") from None


def _name_of(kind: pl.DataType, column: str) -> str:
    if kind == pl.List:
        return "integers"
    if kind.is_integer():
        return "integer"
    if kind.is_float():
        return "number"
    if kind == pl.Boolean:
        return "truth"
    if kind in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    raise TypeError(f"column {column!r}: frames of {kind} are not stored")
