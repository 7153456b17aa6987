"""A sentence under two segmentations, cut where both have a boundary, ready to be set one over the other."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal

_VISIBLE = {" ": "␣", "\n": "↵", "\r": "␍", "\t": "⇥", "\u00a0": "⍽", "\u202f": "⍽"}


@dataclass(frozen=True, slots=True)
class Part:
    """Part of a token that is shown alike: letters, a space made visible, the bytes of a split letter."""

    kind: Literal["letters", "space", "bytes"]
    text: str


Token = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """The text between two shared boundaries: n target tokens over m draft tokens."""

    target: tuple[Token, ...]
    draft: tuple[Token, ...]

    @property
    def kind(self) -> str:
        """The type as reports name it, n:m."""
        return f"{len(self.target)}:{len(self.draft)}"

    @property
    def same(self) -> bool:
        """Whether one token stands over one token."""
        return len(self.target) == len(self.draft) == 1


def aligned(text: str, target_ends: Sequence[int], draft_ends: Sequence[int]) -> list[Stretch]:
    """Cut a text at its shared boundaries.

    The ends are byte offsets, not descending. A token of zero bytes belongs to the stretch that follows it.
    An end past the text counts as the text's end. An empty text gives no stretch.
    """
    data = text.encode()
    starts = list(accumulate((len(c.encode()) for c in text), initial=0))
    sides = [[min(e, len(data)) for e in ends] for ends in (target_ends, draft_ends)]
    cuts = sorted({len(data), *(set(sides[0]) & set(sides[1]))} - {0})
    rows = [
        [tuple(_token(text, data, starts, *span) for span in spans) for spans in _grouped(ends, cuts)]
        for ends in sides
    ]
    return [Stretch(upper, lower) for upper, lower in zip(*rows, strict=True)]


def _grouped(ends: Sequence[int], cuts: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """The byte ranges of the tokens that end in each stretch."""
    spans = list(pairwise([0, *ends]))
    at = 0
    for cut in cuts:
        first = at
        while at < len(spans) and spans[at][1] <= cut:
            at += 1
        yield spans[first:at]


def _token(text: str, data: bytes, starts: Sequence[int], begin: int, end: int) -> Token:
    """One token's parts; a letter that it holds only in part is given as the bytes it does hold."""
    if begin == end:
        return (Part("space", "∅"),)
    parts: list[Part] = []
    for character, (first, last) in zip(text, pairwise(starts), strict=True):
        if last <= begin or first >= end:
            continue
        if begin <= first and last <= end:
            parts.append(_visible(character, at_start=first == begin))
        else:
            held = range(max(begin, first), min(end, last))
            parts.append(Part("bytes", "".join(f"{data[i]:02X}" + "·" * (i + 1 < last) for i in held)))
    return tuple(_joined(parts))


def _visible(character: str, at_start: bool) -> Part:
    if character in _VISIBLE:
        return Part("space", _VISIBLE[character])
    category = unicodedata.category(character)
    if category[0] in "CZ":
        return Part("bytes", f"U+{ord(character):04X}")
    if category[0] == "M" and at_start:
        return Part("letters", "\u25cc" + character)
    return Part("letters", character)


def _joined(parts: Sequence[Part]) -> Iterator[Part]:
    """Neighbouring letters as one part."""
    run = ""
    for part in parts:
        if part.kind == "letters":
            run += part.text
            continue
        if run:
            yield Part("letters", run)
            run = ""
        yield part
    if run:
        yield Part("letters", run)
