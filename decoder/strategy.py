"""Translation strategies by name, and the bridge each one builds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from decoder.bridge import AsPublished, Bridge, ByBytes, ById, SameIds
from decoder.errors import PairError
from decoder.intersection import Intersection
from tokalign.tokenizers import Tokenizer
from tokalign.translate import CountedTranslator, ExactTranslator, LengthTranslator, NaiveTranslator

Kind = Literal["anchored", "context", "intersection", "none", "naive", "counted", "length"]
NEVER = frozenset({0xC0, 0xC1, *range(0xF5, 0x100)})  # bytes that are in no UTF-8 text
NAMES = "anchored, context:P, intersection, none, naive, counted:P, length:P"


@dataclass(frozen=True)
class Strategy:
    """How drafts are translated.

    ``anchored`` and ``context`` (a window of ``p`` committed tokens) are exact in bytes, both ways.
    ``intersection`` lets the draft write only tokens that stand for the same bytes as one target token. ``none``,
    ``naive``, ``counted`` and ``length`` are published ones, kept to be measured against. ``hold_back``
    leaves out the last candidate of a draft; ``heal`` lets the draft write the word it stands in anew.
    """

    kind: Kind = "anchored"
    p: int = 0
    hold_back: bool = False
    heal: bool = True

    @classmethod
    def parse(cls, name: str, *, hold_back: bool = False, heal: bool = True) -> Strategy:
        """Read a name such as ``anchored`` or ``context:5``.

        Raises:
            PairError: no strategy has this name.
        """
        match = re.fullmatch(r"(anchored|intersection|none|naive)|(context|counted|length):(\d{1,3})", name)
        if match is None:
            raise PairError(f"there is no translation {name!r}; choose one of {NAMES} (P from 0 to 999).")
        if match[1]:
            return cls(match[1], 0, hold_back, heal)  # type: ignore[arg-type]
        return cls(match[2], int(match[3]), hold_back, heal)  # type: ignore[arg-type]

    def __str__(self) -> str:
        name = f"{self.kind}:{self.p}" if self.kind in ("context", "counted", "length") else self.kind
        return (
            name
            + (" hold-back" if self.hold_back else "")
            + ("" if self.heal or not self.exact else " no-heal")
        )

    @property
    def exact(self) -> bool:
        """Whether the bytes are exact both ways."""
        return self.kind in ("anchored", "context")

    def bridge(self, target: Tokenizer, draft: Tokenizer) -> Bridge:
        """The bridge between two vocabularies; equal ones need no translation under an exact strategy."""
        if self.kind == "none" or (self.exact and same_vocabulary(target, draft)):
            return SameIds(target, draft)
        if self.kind == "intersection":
            return ById(target, draft, Intersection.of(target, draft))
        if self.kind == "naive":
            return AsPublished(target, draft, NaiveTranslator(target, draft))
        if self.kind == "counted":
            return AsPublished(target, draft, CountedTranslator(target, draft, self.p))
        missing = next((b for b in range(256) if b not in draft.vocabulary.byte_ids and b not in NEVER), None)
        if missing is not None:
            raise PairError(
                f"the draft vocabulary {draft.name!r} has no token for the byte {missing:#04x}, so it cannot "
                "follow any text of the target's; use a draft with byte tokens."
            )
        if self.kind == "length":
            return AsPublished(target, draft, LengthTranslator(target, self.p))
        p = None if self.kind == "anchored" else self.p
        return ByBytes(target, draft, ExactTranslator(target, p, self.hold_back))


def same_vocabulary(target: Tokenizer, draft: Tokenizer) -> bool:
    """Whether ids mean the same bytes in both; sizes prove nothing."""
    return target.fingerprint == draft.fingerprint
