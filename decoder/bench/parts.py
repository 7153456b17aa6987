"""What the bench's page is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from decoder.bench.charts import Spec
from decoder.bench.findings import Finding
from decoder.bench.table import NONE, interval


@dataclass(frozen=True)
class Table:
    """Cells as they are shown; the first of a row is its heading. ``folded`` tables open on demand."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    folded: bool = False

    @property
    def texts(self) -> list[bool]:
        """For every column whether it holds words, which are set to the left."""
        return [any(row[n][:1].isalpha() for row in self.rows) for n in range(len(self.head))]


@dataclass(frozen=True)
class Link:
    """A file to go on to; the page links to it from where the page itself is written."""

    text: str
    path: Path


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    title: str
    texts: Sequence[str] = ()
    findings: Sequence[Finding] = ()
    charts: Sequence[Spec] = ()
    tables: Sequence[Table] = ()
    examples: Sequence[Mapping[str, Any]] = field(default=())
    links: Sequence[Link] = ()


def filled(table: Table) -> Table:
    """The table without the columns in which nothing stands."""
    kept = [n for n in range(len(table.head)) if any(row[n] not in ("", NONE) for row in table.rows)]
    rows = [[row[n] for n in kept] for row in table.rows]
    return replace(table, head=[table.head[n] for n in kept], rows=rows)


def shares(cell: Mapping[str, Any], name: str) -> str:
    """A share with its interval, in per cent."""
    scaled = {n: None if (v := cell[n]) is None else 100 * v for n in (name, f"{name}_low", f"{name}_high")}
    return interval(scaled, name, "{:.1f}") + ("" if cell[name] is None else " %")
