"""Inflection boundary of a word form out of context: all its dictionary readings, weighed by one policy.

Dictionary: SGJP as packed with Morfeusz 2 (``praet="composite"``: robiłem and zrobiłbym are one form each).

Policy. A reading of lower standing is dropped where a better one exists: readings marked rare or obsolete,
vocatives, depreciatives, plural gerunds (``użyć`` as a genitive), interjections, abbreviations; and names,
where a function word is written with a capital. What is left decides:

* every inflected reading shares an offset: "ending", with the shared offsets;
* inflected readings contradict each other, or an uninflected function word (``może``, ``nie``, ``potem``) or
  a zero ending stands beside them: "ambiguous", with the union of the offsets, so that a metric can leave
  the form out (what a recall needs) or count it leniently;
* only zero endings (``dom``, ``rób``, ``ksiąg``): "zero"; only uninflected words, adverbs included:
  "uninflected"; neither has offsets. Indeclinable nouns never outvote inflected ones (``Kowalski``, a woman).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

import polars as pl

from tokalign.errors import UsageError
from tokalign.morphology.dictionary import source
from tokalign.morphology.endings import Cut, cut

Kind = Literal["ending", "zero", "ambiguous", "uninflected", "unknown"]

FORMS_SCHEMA = pl.Schema(
    [
        ("form", pl.String()),
        ("boundaries", pl.List(pl.Int32())),
        ("pos", pl.String()),
        ("lemma", pl.String()),
        ("tag", pl.String()),
        ("kind", pl.String()),
    ]
)

_POS = {
    **dict.fromkeys(("subst", "depr", "ger"), "noun"),
    **dict.fromkeys(("fin", "bedzie", "praet", "cond", "impt", "imps", "inf", "pcon", "pant"), "verb"),
    **dict.fromkeys(("winien", "pred", "aglt"), "verb"),
    **dict.fromkeys(("adj", "adja", "adjp", "adjc", "ppas", "pact", "pacta"), "adj"),
    **dict.fromkeys(("num", "numcomp"), "num"),
    **dict.fromkeys(("ppron12", "ppron3", "siebie"), "pron"),
    **dict.fromkeys(("conj", "comp"), "conj"),
    **dict.fromkeys(("part", "qub"), "part"),
    "adv": "adv",
    "prep": "prep",
}
# Nouns in SGJP.
_PRONOUNS = frozenset(("kto", "co", "nikt", "nic", "ktoś", "coś", "ktokolwiek", "cokolwiek", "któż", "cóż"))
_FUNCTION = frozenset({"prep", "conj", "part", "adv"})
_CLOSED = _FUNCTION | {"pron", "num"}  # named first: far more frequent than the nouns they are written like
_LOW_CLASSES = frozenset({"depr", "interj", "brev", "prefs", "prefa", "frag", "xxs", "adja", "pacta"})


class Analysis(NamedTuple):
    """What the dictionary says of one form, out of context.

    ``boundaries``: character offsets in ``form``, ascending; empty unless ``kind`` is "ending" or
    "ambiguous". ``pos``: noun, verb, adj, num, pron, adv, prep, conj, part or other, after the SGJP class
    (``ten`` is an adj, gerunds are nouns, participles adj; but ``kto``, ``co`` and kin pron); ``None`` where
    the form is unknown. ``lemma`` and ``tag`` are those of one reading that has this ``pos``; the homonym
    mark of the lemma is removed.
    """

    form: str
    boundaries: tuple[int, ...]
    pos: str | None
    lemma: str | None
    tag: str | None
    kind: Kind


class _Reading(NamedTuple):
    pos: str
    lemma: str
    tag: str
    cut: Cut
    offsets: tuple[int, ...]


@lru_cache(maxsize=100_000)
def analyse(form: str) -> Analysis:
    """Analysis of one word form (NFC); anything but letters, or nothing at all, is "unknown".

    Capitals are matched as they are first and as small letters where that fails. Words fused with a form of
    być or with by (``abym``, ``tyś``) count as uninflected, with the reading of their first part.
    """
    return _analyse(form)


def analyse_forms(forms: Iterable[str]) -> pl.DataFrame:
    """One row per distinct form in order of first appearance, columns ``FORMS_SCHEMA``; may be empty.

    ``boundaries`` is an empty list where there is none; ``pos``, ``lemma``, ``tag`` are null if unknown.

    Raises ``UsageError`` for a form that is no string.
    """
    rows = []
    for form in dict.fromkeys(forms):
        if not isinstance(form, str):
            raise UsageError(f"Word form {form!r} is no string; drop nulls before the analysis.")
        found = _analyse(form)
        rows.append((form, list(found.boundaries), found.pos, found.lemma, found.tag, found.kind))
    return pl.DataFrame(rows, schema=FORMS_SCHEMA, orient="row")


def verdicts(forms: Iterable[str]) -> list[tuple[Kind, str | None, tuple[int, ...]]]:
    """Of each form its kind, part of speech and boundaries, as in :class:`Analysis`."""
    return [(a.kind, a.pos, a.boundaries) for a in map(_analyse, forms)]


def _analyse(form: str) -> Analysis:
    lowered = form.lower()
    entries = source()(form) if form.isalpha() and len(lowered) == len(form) else []
    if not entries or any(entry.tag == "ign" for entry in entries):
        return Analysis(form, (), None, None, None, "unknown")
    if len(entries) > 1:
        last = max(entry.end for entry in entries)
        whole = [entry for entry in entries if entry.start == 0 and entry.end == last]
        if not whole:  # fused words
            lemma, tag = entries[0].lemma, entries[0].tag
            return Analysis(form, (), _pos(tag), lemma.partition(":")[0], tag, "uninflected")
        if len(whole) > 1:
            whole = [entry for entry in whole if not entry.low and not _is_low(entry.tag)] or whole
        entries = whole
    readings = [_reading(lowered, entry.lemma, entry.tag) for entry in entries]
    if form != lowered and any(r.pos in _FUNCTION for r in readings):
        readings = [r for r in readings if r.lemma[0].islower()]  # Ale opens a sentence, it names no Ala
    return _decide(form, readings)


@lru_cache(maxsize=10_000)
def _is_low(tag: str) -> bool:
    """Whether a tag alone gives a reading lower standing."""
    cls, _, rest = tag.partition(":")
    return cls in _LOW_CLASSES or rest[2:6] == ":voc" or tag.startswith("ger:pl")


def _reading(lowered: str, lemma: str, tag: str) -> _Reading:
    pos = "pron" if lemma.partition(":")[0] in _PRONOUNS and tag.startswith("subst") else _pos(tag)
    return _Reading(pos, lemma, tag, *cut(lowered, lemma, tag))


@lru_cache(maxsize=10_000)
def _pos(tag: str) -> str:
    return _POS.get(tag.partition(":")[0], "other")


def _decide(form: str, readings: list[_Reading]) -> Analysis:
    """Apply the policy of the module to at least one reading."""
    if len(readings) == 1:
        (only,) = readings
        return Analysis(form, only.offsets, only.pos, only.lemma.partition(":")[0], only.tag, only.cut)
    ending = [r for r in readings if r.cut == "ending"]
    zero = [r for r in readings if r.cut == "zero"]
    function = [r for r in readings if r.cut == "uninflected" and r.pos in _FUNCTION]
    kind: Kind
    offsets: set[int] = set()
    if ending:
        shared = set(ending[0].offsets).intersection(*(r.offsets for r in ending))
        kind = "ending" if shared and not zero and not function else "ambiguous"
        offsets = shared if kind == "ending" else {o for r in ending for o in r.offsets}
        group = readings if kind == "ambiguous" else ending
    else:
        kind = "zero" if zero and not function else "uninflected"
        group = zero if kind == "zero" else function or readings
    shown = min(group, key=_standing)
    lemma = shown.lemma.partition(":")[0]
    return Analysis(form, tuple(sorted(offsets)), shown.pos, lemma, shown.tag, kind)


def _standing(reading: _Reading) -> int:
    """Order of the readings that may be shown: closed classes and infinitives go first."""
    return 0 if reading.pos in _CLOSED or reading.tag.startswith("inf") else 1
