"""The readings of a form in SGJP, as Morfeusz 2 gives them (``praet="composite"``).

Morfeusz' own Python wrapper spends more time on making tuples than on looking forms up. So what stands below
it is asked here, and only for what is used; tags and labels come as numbers, whose meaning is remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import morfeusz2

_LOW_LABELS = ("rzad.", "daw.", "przest.", "arch.", "gwar.")


class Entry(NamedTuple):
    """One edge of the graph of readings. ``start`` and ``end`` are nodes; ``low``: a label marks the reading
    as rare or obsolete."""

    start: int
    end: int
    lemma: str
    tag: str
    low: bool


@lru_cache(maxsize=1)
def morfeusz() -> morfeusz2.Morfeusz:
    """The one analyser of the process."""
    return morfeusz2.Morfeusz(generate=False, praet="composite")


def version() -> str:
    """Which dictionary and which program the readings come from."""
    return f"{morfeusz2.__version__} {morfeusz().dict_id()}"


@lru_cache(maxsize=1)
def source() -> Callable[[str], list[Entry]]:
    """Gives all readings of a form, in the order in which Morfeusz does; an unknown form has one of tag ign.

    It goes the short way where this version of Morfeusz has one, else by its wrapper."""
    try:
        return _Direct(morfeusz()) if _Direct(morfeusz())("kot") == _wrapped("kot") else _wrapped
    except Exception:  # the short way is none of its interface
        return _wrapped


def _wrapped(form: str) -> list[Entry]:
    edges = morfeusz().analyse(form)
    return [Entry(start, end, lemma, tag, _is_low(labels)) for start, end, (_, lemma, tag, _, labels) in edges]


def _is_low(labels: list[str]) -> bool:
    return bool(labels) and any(mark in label for label in labels for mark in _LOW_LABELS)


class _Direct:
    """Readings by way of the analyser's own object."""

    def __init__(self, wrapper: Any) -> None:
        self._analyser = wrapper._morfeusz_obj
        self._iterator = morfeusz2._morfeusz2.InterpsList_iterator
        self._next = morfeusz2._morfeusz2.SwigPyIterator___next__
        self._tags: dict[int, str] = {}
        self._lows: dict[int, bool] = {}

    def __call__(self, form: str) -> list[Entry]:
        found = self._analyser.analyse(form)
        count = len(found)
        if count == 1:
            reading = found[0]
            return [Entry(0, 1, reading._lemma, self._tag(reading), False)]  # nothing else it could rank below
        iterator, entries = self._iterator(found), []
        for _ in range(count):
            reading = self._next(iterator)
            tag, low = self._tag(reading), self._low(reading)
            entries.append(Entry(reading.startNode, reading.endNode, reading._lemma, tag, low))
        return entries

    def _tag(self, reading: Any) -> str:
        number = reading.tagId
        if number not in self._tags:
            self._tags[number] = reading.getTag(self._analyser)
        return self._tags[number]

    def _low(self, reading: Any) -> bool:
        number = reading.labelsId
        if number not in self._lows:
            self._lows[number] = _is_low(reading.getLabels(self._analyser))
        return self._lows[number]
