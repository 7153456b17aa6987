"""From rows to texts: which columns to read, and what a value must be to become a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tokalign.errors import CorpusUsageError

DEFAULT = "text"


class NoTextError(Exception):
    """A row without a usable text; the message is the kind under which it is counted."""


def split_names(wanted: str, present: Sequence[str]) -> tuple[str, ...]:
    """``a,b`` → two columns, unless a column bears that very name."""
    if wanted in present or "," not in wanted:
        return (wanted,)
    return tuple(name.strip() for name in wanted.split(","))


def default_columns(present: Sequence[str], where: str) -> tuple[str, ...]:
    """``text`` when present, else the only column; CorpusUsageError listing the columns otherwise."""
    if DEFAULT in present:
        return (DEFAULT,)
    if len(present) == 1:
        return (present[0],)
    raise CorpusUsageError(
        f"{where} has no column {DEFAULT!r}: name one of its columns with --column ({listed(present)})"
    )


def wrong_column(missing: Sequence[str], present: Sequence[str], where: str) -> CorpusUsageError:
    """The sentence for columns that the data does not have."""
    noun = "column" if len(missing) == 1 else "columns"
    return CorpusUsageError(
        f"{where} has no {noun} {listed(missing)}: choose with --column from those it has ({listed(present)})"
    )


def listed(names: Sequence[str], most: int = 20) -> str:
    """Names in quotes, shortened after ``most``."""
    shown = ", ".join(repr(name if len(name) <= 60 else name[:60] + "…") for name in names[:most])
    if not names:
        return "none"
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def text_of(row: Mapping[str, object], columns: Sequence[str]) -> str:
    """The row's text: its columns, the null and empty ones left out, joined by a blank line.

    Only text without a single character is empty; white space is text. Raises NoTextError naming the kind.
    """
    values = [row[column] for column in columns if column in row]
    if not values:
        raise NoTextError("row without the column")
    parts = [_text(value) for value in values if value is not None]
    if not parts:
        raise NoTextError("null column value")
    text = "\n\n".join(part for part in parts if part)
    if not text:
        raise NoTextError("empty document")
    return text


def _text(value: object) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise NoTextError("text that is not UTF-8") from None
    if not isinstance(value, str):
        raise NoTextError(f"column value that is no text ({type(value).__name__})")
    return value


def utf8(text: str) -> bytes:
    """The text in UTF-8. Raises NoTextError for one that has none, naming the kind."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        # CSV carries undecodable bytes as U+DC80–U+DCFF; JSON can spell any lone surrogate.
        escaped = "\udc80" <= text[error.start] <= "\udcff"
        raise NoTextError("text that is not UTF-8" if escaped else "text with a lone surrogate") from None
