"""Frozen dataclasses as JSON and back, strictly: every field, no other, and the declared types."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from typing import Any, TypeVar

T = TypeVar("T")


class RecordError(ValueError):
    """A value does not have the declared form; the message names the field and the value."""


def from_json(cls: type[T], value: object, field: str = "") -> T:
    """Build a dataclass of numbers, text, optional values, tuples and dataclasses from a JSON object.

    Numbers must be finite. ``field`` is the path of the value in its file, for messages.

    Raises:
        RecordError: a field is missing, unknown, or of another type.
    """
    if not isinstance(value, dict):
        raise RecordError(f"{field or 'the content'} is {_shown(value)}, not an object")
    hints = typing.get_type_hints(cls)
    names = [f.name for f in dataclasses.fields(cls)]  # type: ignore[arg-type]
    for name in names:
        if name not in value:
            raise RecordError(f"the field {_inner(field, name)!r} is missing")
    for name in value:
        if name not in names:
            raise RecordError(f"the field {_inner(field, name)!r} is unknown")
    return cls(**{name: _typed(hints[name], value[name], _inner(field, name)) for name in names})


def _typed(kind: Any, value: object, field: str) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        return from_json(typing.cast(type, kind), value, field)
    if origin in (types.UnionType, typing.Union):
        if value is None and type(None) in arguments:
            return None
        return _typed(next(a for a in arguments if a is not type(None)), value, field)
    if origin is tuple:
        if not isinstance(value, list):
            raise RecordError(f"the field {field!r} is {_shown(value)}, not a list")
        return tuple(_typed(arguments[0], v, f"{field}[{i}]") for i, v in enumerate(value))
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind or (isinstance(value, float) and not math.isfinite(value)):
        raise RecordError(f"the field {field!r} is {_shown(value)}, not {_NAMES.get(kind, kind)}")
    return value


_NAMES = {str: "text", int: "a whole number", float: "a finite number", bool: "true or false"}


def _inner(field: str, name: str) -> str:
    return f"{field}.{name}" if field else name


def _shown(value: object) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return "null" if value is None else repr(value)[:40]
