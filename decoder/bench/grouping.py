"""A bench's rows by cell: which drafts, translations and draft lengths there are, and in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from decoder.bench.identity import Identity
from decoder.bench.rows import KEYS
from decoder.bench.summary import summarise_rows

Row = Mapping[str, Any]

LADDER = (
    ("none", "the draft’s ids as they are"),
    ("naive", "text round trip: a leading space is dropped, a dummy prefix put in front"),
    ("counted", "p committed tokens in front, taken off by their count"),
    ("length", "taken off by their own length; the draft’s leading space is kept"),
    ("context no-heal", "bytes both ways: the draft stands behind the committed text"),
    ("anchored no-heal", "the window begins at the word start"),
    ("anchored", "the draft may write its open word anew"),
)
"""Translations from the crudest to the exact one, each with what it does that the one before does not."""
PUBLISHED = ("length", "counted")
"""The study's translation as its public code has it (context-aware, taken off by length), and the cruder reading
of it that stands in where only that was measured."""
_ORDER = (*(name for name, _ in LADDER), "context", "anchored hold-back", "context hold-back", "intersection")


def family(translation: str) -> str:
    """A translation without its window: ``counted:5`` is ``counted``."""
    name, _, rest = translation.partition(" ")
    kind = name.partition(":")[0]
    return f"{kind} {rest}" if rest else kind


@dataclass(frozen=True)
class Bench:
    """Rows with the identity they belong to."""

    rows: Sequence[Row]
    identity: Identity
    seed: int = 0

    @cached_property
    def summary(self) -> list[dict[str, Any]]:
        """A summary a cell, in order of draft, translation and k."""
        return sorted(summarise_rows(self.rows, KEYS, self.seed), key=self._place)

    @cached_property
    def by_group(self) -> list[dict[str, Any]]:
        """The same for every group of prompts."""
        return sorted(summarise_rows(self.rows, (*KEYS, "group"), self.seed), key=self._place)

    @cached_property
    def drafts(self) -> list[str]:
        """In the order in which they were measured."""
        found = dict.fromkeys(r["draft"] for r in self.rows)
        return [d for d in self.identity.drafts if d in found] + [
            d for d in found if d not in self.identity.drafts
        ]

    @cached_property
    def k(self) -> int:
        """The draft length that most cells have; of several the one nearest to 4."""
        counts = Counter(cell["k"] for cell in self.summary)
        return min(counts, key=lambda k: (-counts[k], abs(k - 4), k))

    def cell(self, draft: str, translation: str, k: int) -> list[Row]:
        """The rows of one cell."""
        return [r for r in self.rows if (r["draft"], r["translation"], r["k"]) == (draft, translation, k)]

    def named(self, draft: str, wanted: str, k: int) -> str | None:
        """The translation of a family that the draft was measured with, the widest window of several.

        Without open words there is nothing to heal: ``anchored`` stands for ``anchored no-heal`` too where the
        vocabularies are the same.
        """
        names = {r["translation"] for r in self.rows if r["draft"] == draft and r["k"] == k}
        found = sorted((n for n in names if family(n) == wanted), key=lambda n: (len(n), n))
        return found[-1] if found else None

    @cached_property
    def published(self) -> str:
        """The family that stands for the study's translation."""
        there = {family(r["translation"]) for r in self.rows}
        return next((kind for kind in PUBLISHED if kind in there), PUBLISHED[-1])

    def same_vocabulary(self, draft: str) -> bool:
        """Whether the draft speaks the target's vocabulary, by fingerprint; where none is known, by its rows:
        ids passed as they are then do as well as exact translation."""
        known = getattr(self.identity.drafts.get(draft), "vocabulary", None)
        if known is not None and self.identity.target.vocabulary is not None:
            return known == self.identity.target.vocabulary
        cells = [self.cell(draft, name, self.k) for name in ("none", "anchored")]
        counts = [[(r["prompt"], r["accepted"]) for r in cell] for cell in cells]
        return bool(counts[0]) and sorted(counts[0]) == sorted(counts[1]) and any(a for _, a in counts[0])

    @cached_property
    def crossing(self) -> list[str]:
        """Drafts of another vocabulary than the target's."""
        return [d for d in self.drafts if d != "lookup" and not self.same_vocabulary(d)]

    def length(self, draft: str) -> float | None:
        """Target candidates that one drafted token becomes under exact translation; None if not measured."""
        for name in ("anchored", "anchored no-heal"):
            rows = self.cell(draft, name, self.k)
            drafted = sum(r["drafted"] or 0 for r in rows)
            if drafted:
                return float(sum(r["proposed"] or 0 for r in rows) / drafted)
        return None

    def _place(self, cell: Row) -> tuple[int, int, str, int]:
        kind = family(cell["translation"])
        rank = _ORDER.index(kind) if kind in _ORDER else len(_ORDER)
        return self.drafts.index(cell["draft"]), rank, cell["translation"], cell["k"]
