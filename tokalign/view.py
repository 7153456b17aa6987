"""What a report is made of: figures, tables, samples, and a pair with what its parts need to know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tokalign import charts
from tokalign.figures import Table, short
from tokalign.passages import Stretch
from tokalign.result import Pair


@dataclass(frozen=True)
class Figure:
    """A chart with its caption and its figures as a table; ``spec`` None where there is nothing to draw;
    ``wide`` sets it alone in its line."""

    id: str
    caption: str
    spec: charts.Spec | None = None
    table: Table | None = None
    wide: bool = False


@dataclass(frozen=True)
class Sample:
    """A sentence with both segmentations."""

    text: str
    stretches: Sequence[Stretch]
    note: str


@dataclass(frozen=True)
class Section:
    """One part of a pair's section. ``kind`` is the style of its tables."""

    id: str
    title: str
    text: str = ""
    charts: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    samples: Sequence[Sample] = ()
    note: str = ""
    kind: str = ""


@dataclass(frozen=True)
class View:
    """A pair with what its parts need to know: ``id`` for anchors, the labels of both sides, and the
    definition of each metric."""

    id: str
    pair: Pair
    target: str
    draft: str
    definitions: Mapping[str, str] = field(default_factory=dict)

    @property
    def sides(self) -> dict[str, str]:
        """The columns of tables, with the stand-in's warning in full."""
        return {"target": f"target {self.target}", "draft": f"draft {self.draft}", "pair": "both together"}

    @property
    def series(self) -> dict[str, str]:
        """The series of charts, where a legend has one short line for each."""
        names = {"target": (self.pair.target, self.target), "draft": (self.pair.draft, self.draft)}
        return {s: f"{s} {short(n)}" + (" (stand-in)" if label != n else "") for s, (n, label) in names.items()}

    @property
    def stand_ins(self) -> str:
        """The labels of the sides that are stand-ins, or nothing."""
        labels = {self.pair.target: self.target, self.pair.draft: self.draft}
        return " and ".join(label for name, label in labels.items() if label != name)

    @property
    def warning(self) -> str:
        """What the captions of charts add where a side is a stand-in, or nothing."""
        return f" Measured with {self.stand_ins}." if self.stand_ins else ""


BETTER = {"higher": "higher is better", "lower": "lower is better", "one": "best at 1"}
"""The direction of a metric in words; one without direction has none."""

_PROPER = {
    **{"f1": "F1", "jaccard": "Jaccard", "renyi": "Rényi"},
    **{"strr": "STRR", "morphscore": "MorphScore", "nfc": "NFC"},
}


def spelled(name: str) -> str:
    """The name of a metric or check as text."""
    return " ".join(_PROPER.get(word, word) for word in name.split("_"))
