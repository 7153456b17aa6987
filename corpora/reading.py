"""From tables to documents, counting everything that does not become one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from corpora.columns import NoTextError, default_columns, split_names, text_of, utf8, wrong_column
from corpora.corpus import Document, Skipped
from corpora.names import Names, plain_name
from corpora.streams import BrokenStreamError, unreadable
from corpora.tables import Flaw, Table

BROKEN = "rest of a damaged or incomplete file"


class Tally:
    """Counts by kind and place, with the first position of each; ``damage`` in sentences."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], tuple[int, str | None]] = {}
        self.damage: list[str] = []

    def add(self, kind: str, where: str, position: str | None = None, count: int = 1) -> None:
        before, first = self._counts.get((kind, where), (0, position))
        self._counts[kind, where] = (before + count, first)

    def broken(self, where: str, error: BrokenStreamError, good: int) -> None:
        """A file broke off after ``good`` documents."""
        self.add(BROKEN, where, f"document {good + 1}")
        self.damage.append(broken(where, error, good))

    def skipped(self) -> tuple[Skipped, ...]:
        """One entry for a kind in a place, in order of first appearance."""
        return tuple(
            Skipped(kind, f"{where} (first at {first})" if first else where, count)
            for (kind, where), (count, first) in self._counts.items()
        )


def documents(
    table: Table, columns: Sequence[str] | None, tally: Tally, label: str, names: Names | None = None
) -> Iterator[Document]:
    """The table's documents in order. ``columns`` None: the default column; ``label`` starts their ids.

    A row's own ``id`` (text or integer) is its document's id, else ``label:position``; ``names`` makes them
    unique. A stream that breaks off ends the documents, and is counted. Raises CorpusUsageError for columns
    that the table does not have.
    """
    chosen = _chosen(table, columns)
    good = rows = 0
    keys: dict[str, None] = {}
    found = False
    named = plain_name if names is None else names.of
    try:
        for item in table.rows(chosen):
            if isinstance(item, Flaw):
                tally.add(item.kind, table.where, item.position, item.number)
                if item.damage is not None:
                    tally.damage.append(item.damage)
                continue
            rows += 1
            if not table.fixed:
                found = found or any(column in item.fields for column in chosen)
                if len(keys) < 100:
                    keys.update(dict.fromkeys(item.fields))
            try:
                text = text_of(item.fields, chosen)
                encoded = utf8(text)
            except NoTextError as reason:
                tally.add(str(reason), table.where, item.position)
                continue
            good += 1
            yield Document(named(_own_id(item.fields), label, item.position), text, encoded)
    except BrokenStreamError as error:
        tally.broken(table.where, error, good)
    except OSError as error:
        raise unreadable(Path(table.where), error) from error
    if rows and not table.fixed and not found:
        raise wrong_column(chosen, tuple(keys), table.where)


def broken(where: str, error: BrokenStreamError, good: int) -> str:
    """The sentence for a file that is cut or damaged."""
    what = (
        "no document was whole before the break"
        if not good
        else f"only the {good:,} {'documents' if good > 1 else 'document'} before the break are used"
    )
    return f"{where} is damaged or incomplete ({error}): {what}; copy or download the file again"


def _chosen(table: Table, columns: Sequence[str] | None) -> tuple[str, ...]:
    if columns is None:
        return default_columns(table.columns, table.where) if table.columns else ("text",)
    if len(columns) == 1:
        columns = split_names(columns[0], table.columns)
    missing = [column for column in columns if column not in table.columns]
    if missing and table.fixed:
        raise wrong_column(missing, table.columns, table.where)
    return tuple(columns)


def _own_id(fields: Mapping[str, object]) -> str | None:
    own = fields.get("id")
    if isinstance(own, bytes):
        own = own.decode(errors="replace")
    if isinstance(own, str | int) and not isinstance(own, bool) and own != "":
        return str(own).encode(errors="replace").decode()
    return None
