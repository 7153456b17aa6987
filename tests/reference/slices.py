"""The definition of the counts of every slice: a table of all words, and of all documents.

Positions are those of :class:`reference.words.Characters`: the documents laid one behind another. Everything
here is done on whole arrays and frames; what depends on a word's spelling alone comes from the lexicon.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from reference.boundaries import Ints, Mask, chunks, count_inside, distinct, mask, near_misses, running, shared
from reference.lexicon import Lexicon
from reference.words import CLASSES, DIACRITICS, LETTER, SEPARATOR, WHITESPACE, Characters, Runs, forms
from tokalign.counts import COUNTS, SIDES, WORD_COUNTS

SUMS_SCHEMA = pl.Schema(
    dict.fromkeys(("document", "slice_kind", "slice"), pl.String()) | dict.fromkeys(COUNTS, pl.Int64())
)
_ENDINGS = tuple(c for c in WORD_COUNTS if c.startswith("endings"))


@dataclass(frozen=True)
class Pair:
    """Two segmentations of the same documents.

    ``ends``: per side, the byte ends of all tokens, not descending. Boundaries are those strictly inside
    documents.
    """

    found: Characters
    ends: dict[str, Ints]

    @cached_property
    def edges(self) -> Ints:
        """Where documents begin and end."""
        return np.stack((self.found.base[:-1], self.found.base[1:] - 1), axis=1).ravel()

    @cached_property
    def cuts(self) -> dict[str, Ints]:
        """Boundaries of each side and, as ``shared``, of both; ascending and distinct."""
        cuts = {s: np.setdiff1d(distinct(self.ends[s]), self.edges, assume_unique=True) for s in SIDES}
        return cuts | {"shared": shared(cuts["target"], cuts["draft"])}

    @cached_property
    def marks(self) -> dict[str, Mask]:
        """``cuts`` as masks over the positions."""
        return {name: mask(places, self.found.data.size) for name, places in self.cuts.items()}

    @cached_property
    def before(self) -> dict[str, Ints]:
        """``marks`` as running counts."""
        return {name: running(marks) for name, marks in self.marks.items()}

    @cached_property
    def classes(self) -> np.ndarray:
        """The class of every byte, uint8."""
        found = self.found
        return np.repeat(found.classes, np.diff(np.append(found.starts, found.data.size)))

    def text_of(self, places: Ints) -> Ints:
        """The document that each position belongs to."""
        return np.searchsorted(self.found.base, places, side="right") - 1


def sums(pair: Pair, documents: list[str], lexicon: Lexicon) -> pl.DataFrame:
    """The counts (``SUMS_SCHEMA``) of documents, named in the order in which they are laid."""
    words = word_table(pair, pair.found.runs().of(LETTER), lexicon)
    told = pl.col("inflection") == "ending"
    strict = words.with_columns(pl.when(told).then(c).otherwise(0).alias(c) for c in _ENDINGS)
    inside = _by(strict, "inside_words", pl.lit("all"))
    diacritics = _by(strict.explode("diacritic"), "diacritic", pl.col("diacritic"))
    parts = [
        _overall(pair, inside),
        inside,
        diacritics.join(_letters(pair), on=["text", "slice"], how="left"),
        _inside_letters(pair),
        _inflection(words),
        _by(strict, "pos", pl.col("pos")),
        _by(strict, "word_length", pl.col("word_length")),
        _character_classes(pair),
    ]
    rows = pl.concat(parts, how="diagonal_relaxed")
    names = pl.Series("document", documents, dtype=pl.String)
    rows = rows.with_columns(names.gather(rows["text"]).alias("document"))
    absent = [pl.lit(None).alias(c) for c in COUNTS if c not in rows.columns]
    return rows.with_columns(absent).select(pl.col(n).cast(kind) for n, kind in SUMS_SCHEMA.items())


def word_table(pair: Pair, words: Runs, lexicon: Lexicon) -> pl.DataFrame:
    """One row per word: ``text`` (index of its document), ``WORD_COUNTS`` and the columns of the lexicon."""
    inside = {n: count_inside(before, words.start, words.end) for n, before in pair.before.items()}
    near = near_misses(*(_inside(pair.cuts[side], words) for side in SIDES))
    columns = {
        "text": words.text,
        "bytes": words.end - words.start,
        "chars": words.chars,
        "words": np.ones_like(words.start),
        **{f"tokens_{side}": 1 + inside[side] for side in SIDES},
        **{f"boundaries_{name}": count for name, count in inside.items()},
        "boundaries_near": count_inside(running(mask(near, pair.found.data.size)), words.start, words.end),
        **{f"continued_{side}": inside[side] > 0 for side in SIDES},
        **{f"single_{side}": _single(pair, side, words, inside[side]) for side in SIDES},
        "same": (inside["target"] == inside["shared"]) & (inside["draft"] == inside["shared"]),
    }
    table = pl.DataFrame({name: np.asarray(c).astype(np.int64) for name, c in columns.items()})
    table = table.with_columns(pl.Series("form", forms(pair.found, words), dtype=pl.String))
    table = table.join(lexicon.of(table["form"]), on="form", how="left", maintain_order="left")
    return table.with_columns(_endings(pair, words.start, table["offsets"], inside)).drop("form", "offsets")


def _endings(pair: Pair, starts: Ints, offsets: pl.Series, inside: dict[str, Ints]) -> list[pl.Series]:
    """The ending counts of every word; ``offsets``: the places allowed, in bytes of the word, maybe none."""
    number = offsets.list.len().to_numpy().astype(np.int64)
    has = number > 0
    rows = np.flatnonzero(has)
    within = offsets.filter(pl.Series(has)).explode().to_numpy().astype(np.int64)
    places = np.repeat(starts[rows], number[rows]) + within
    first = np.concatenate(([0], np.cumsum(number[rows])))[:-1]
    cut = {}
    for name, marks in pair.marks.items():
        cut[name] = np.zeros(starts.size, dtype=np.bool_)
        if rows.size:
            cut[name][rows] = np.logical_or.reduceat(marks[places], first)
    flags = {
        "endings": has,
        **{f"endings_cut_{side}": cut[side] for side in SIDES},
        "endings_cut_both": cut["target"] & cut["draft"],
        "endings_cut_shared": cut["shared"],
        **{f"endings_split_{side}": has & (inside[side] > 0) for side in SIDES},
    }
    return [pl.Series(name, flag.astype(np.int64)) for name, flag in flags.items()]


def _inside(cuts: Ints, words: Runs) -> Ints:
    """The boundaries that lie strictly inside words."""
    if not words.start.size:
        return cuts[:0]
    word = np.searchsorted(words.start, cuts, side="right") - 1
    return cuts[(word >= 0) & (cuts > words.start[word]) & (cuts < words.end[word])]


def _single(pair: Pair, side: str, words: Runs, inside: Ints) -> Mask:
    """Words that are a token of their own, apart from one space before them."""
    edge = pair.marks[side].copy()
    edge[pair.edges] = True
    spaced = (pair.found.data[words.start - 1] == 0x20) & edge[words.start - 1]
    return (inside == 0) & edge[words.end] & (edge[words.start] | spaced)


def _by(words: pl.DataFrame, kind: str, key: pl.Expr) -> pl.DataFrame:
    rows = words.with_columns(key.alias("slice")).group_by("text", "slice").agg(pl.col(WORD_COUNTS).sum())
    return rows.with_columns(slice_kind=pl.lit(kind))


def _inflection(words: pl.DataFrame) -> pl.DataFrame:
    """By what is known of the ending; only where one is told, something can be counted at it."""
    rows = _by(words, "inflection", pl.col("inflection"))
    told = pl.col("slice").is_in(["ending", "ambiguous"])
    return rows.with_columns(pl.when(told).then(c).alias(c) for c in _ENDINGS)


def _overall(pair: Pair, inside_words: pl.DataFrame) -> pl.DataFrame:
    """One row per document: what is about single words from ``inside_words``, the rest from the document."""
    found, texts = pair.found, len(pair.found.lengths)
    parts = chunks(pair.ends["target"], pair.ends["draft"], found.base[:-1])
    _, at = found.diacritics()
    letters = _cut_letters(pair, at)
    white = np.append(True, (pair.classes == WHITESPACE) | (pair.classes == SEPARATOR))
    space_words = np.flatnonzero(white[:-1] & ~white[1:])
    tally = {
        "chars": np.flatnonzero(found.classes != SEPARATOR),
        **{f"tokens_{side}": pair.ends[side] for side in SIDES},
        **{f"boundaries_{name}": cuts for name, cuts in pair.cuts.items()},
        "boundaries_near": near_misses(pair.cuts["target"], pair.cuts["draft"]),
        "space_words": space_words,
        "chunks": parts.ends,
        "chunks_one_to_one": parts.ends[(parts.n == 1) & (parts.m == 1)],
    }
    places = {name: found.starts[p] if name == "chars" else p for name, p in tally.items()}
    counts = {name: np.bincount(pair.text_of(p), minlength=texts) for name, p in places.items()}
    counts |= {n: np.bincount(found.text[at], weights=c, minlength=texts) for n, c in letters.items()}
    own = pl.DataFrame({"text": np.arange(texts), "bytes": found.lengths} | counts).cast(pl.Int64)
    rest = inside_words.select("text", *(c for c in WORD_COUNTS if c not in own.columns))
    rows = own.join(rest, on="text", how="left").fill_null(0)
    return rows.with_columns(slice_kind=pl.lit("overall"), slice=pl.lit("all"))


def _cut_letters(pair: Pair, at: Ints) -> dict[str, Mask]:
    """For the characters ``at``: that each is a letter, and whether a boundary lies inside it."""
    found = pair.found
    starts, ends = found.starts[at], np.append(found.starts, found.data.size)[at + 1]
    cut = {side: count_inside(pair.before[side], starts, ends) > 0 for side in SIDES}
    both = cut["target"] & cut["draft"]
    sides = {f"letters_cut_{side}": cut[side] for side in SIDES}
    return {"letters": np.ones(at.size, dtype=np.bool_), **sides, "letters_cut_both": both}


def _letters(pair: Pair) -> pl.DataFrame:
    """Letter counts per document and diacritic letter."""
    index, at = pair.found.diacritics()
    rows = pl.DataFrame({"text": pair.found.text[at]} | _cut_letters(pair, at)).cast(pl.Int64)
    rows = rows.with_columns(pl.Series("slice", list(DIACRITICS), dtype=pl.String).gather(index))
    return rows.group_by("text", "slice").agg(pl.all().sum())


def _inside_letters(pair: Pair) -> pl.DataFrame:
    """Letters of more than one byte, and the boundaries inside them, per document that has such letters."""
    found = pair.found
    at = np.flatnonzero((found.classes == LETTER) & (found.codes >= 0x80))
    inside = ((found.data & 0xC0) == 0x80) & (pair.classes == LETTER)
    size = len(found.lengths)
    letters = _cut_letters(pair, at)
    counts = {n: np.bincount(found.text[at], weights=c, minlength=size) for n, c in letters.items()}
    for name, cuts in pair.cuts.items():
        counts[f"boundaries_{name}"] = np.bincount(pair.text_of(cuts[inside[cuts]]), minlength=size)
    rows = pl.DataFrame({"text": np.arange(size)} | counts).cast(pl.Int64).filter(pl.col("letters") > 0)
    return rows.with_columns(slice_kind=pl.lit("inside_letters"), slice=pl.lit("all"))


def _character_classes(pair: Pair) -> pl.DataFrame:
    """Runs of each class of characters, per document and class that occurs in it."""
    runs, kinds = pair.found.runs(), len(CLASSES)
    inside = {side: count_inside(pair.before[side], runs.start, runs.end) for side in SIDES}
    key, size = runs.text * kinds + runs.kind, len(pair.found.lengths) * kinds
    columns = {"runs": np.ones_like(key), "bytes": runs.end - runs.start, "chars": runs.chars}
    columns |= {f"tokens_{side}": 1 + inside[side] for side in SIDES}
    counts = {name: np.bincount(key, weights=c, minlength=size) for name, c in columns.items()}
    for name, cuts in pair.cuts.items():
        counts[f"boundaries_{name}"] = np.bincount(
            pair.text_of(cuts) * kinds + pair.classes[cuts], minlength=size
        )
    index = np.arange(size)
    rows = pl.DataFrame({"text": index // kinds} | counts).cast(pl.Int64)
    names = pl.Series("slice", list(CLASSES), dtype=pl.String).gather(index % kinds)
    rows = rows.with_columns(names.alias("slice"), slice_kind=pl.lit("characters"))
    return rows.filter(pl.col("runs") > 0)
