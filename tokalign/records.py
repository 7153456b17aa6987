"""Frozen dataclasses as JSON and back, strictly: every field without a default, no unknown one, declared types."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any, TypeVar, Union

T = TypeVar("T")

_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}


class RecordError(ValueError):
    """A value does not have the declared form; the message names the field and the value."""


def to_json(value: Any) -> Any:
    """Dataclasses as objects, tuples as lists; numbers, text, true, false and null as they are."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [to_json(v) for v in value]
    if isinstance(value, typing.Mapping):
        return {str(k): to_json(v) for k, v in value.items()}
    return value


def from_json(cls: type[T], value: object, field: str = "") -> T:
    """Build a dataclass from a parsed JSON object.

    ``field`` is the path of the value in its file, for messages.

    Raises:
        RecordError: a field without a default is missing, or one is unknown or of another type.
    """
    if not isinstance(value, dict):
        raise RecordError(f"{_field(field)} is {_shown(value)}, not an object")
    hints = typing.get_type_hints(cls)
    known = {f.name: f.default is dataclasses.MISSING for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    for name, needed in known.items():
        if needed and name not in value:
            raise RecordError(f"{_field(_inner(field, name))} is missing")
    for name in value:
        if name not in known:
            raise RecordError(f"{_field(_inner(field, name))} is unknown")
    return cls(
        **{name: _typed(hints[name], value[name], _inner(field, name)) for name in known if name in value}
    )


def _typed(kind: Any, value: object, field: str) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        return from_json(typing.cast(type, kind), value, field)
    if origin in (types.UnionType, Union):
        if value is None and type(None) in arguments:
            return None
        return _typed(next(a for a in arguments if a is not type(None)), value, field)
    if origin is tuple:
        if not isinstance(value, list):
            raise RecordError(f"{_field(field)} is {_shown(value)}, not a list")
        return tuple(_typed(arguments[0], v, f"{field}[{i}]") for i, v in enumerate(value))
    if origin is not None and issubclass(origin, typing.Mapping):
        if not isinstance(value, dict):
            raise RecordError(f"{_field(field)} is {_shown(value)}, not an object")
        return {k: _typed(arguments[1], v, _inner(field, k)) for k, v in value.items()}
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise RecordError(f"{_field(field)} is {_shown(value)}, not {_NAMES.get(kind, kind)}")
    return value


def _inner(field: str, name: str) -> str:
    return f"{field}.{name}" if field else name


def _field(field: str) -> str:
    return f"the field {field!r}" if field else "the content"


def _shown(value: object) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = "null" if value is None else repr(value)
    return text if len(text) <= 40 else text[:40] + "…"
