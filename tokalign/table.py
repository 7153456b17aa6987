"""Measuring: documents through both tokenizers into counts.

Documents pass in batches, whose arrays are small enough for a processor's cache. Words are only numbered by
type there; what their types count for is looked up and added up for a block of many batches at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache

import numpy as np
import polars as pl

from tokalign.boundaries import Marks
from tokalign.chunks import Chunks
from tokalign.counts import SIDES
from tokalign.documents import WIDTH, document_rows, fill
from tokalign.grid import SHAPE
from tokalign.lexicon import lexicon
from tokalign.measurement import (
    EXCLUDED,
    EXCLUDED_SCHEMA,
    TOKENS_SCHEMA,
    VOCABULARY_SCHEMA,
    Measurement,
    first_excluded,
)
from tokalign.occurrences import Types
from tokalign.quality import Quality
from tokalign.samples import Samples
from tokalign.slices import Kinds
from tokalign.tokenizers import Segmentations, Tokenizer
from tokalign.tokenizers.segmentation import joined
from tokalign.units import FULL, Units, digests, grouped, merged, summed
from tokalign.words import Laid, laid

_BATCH = 2_000_000  # characters
_BLOCK = 4_000_000, 16_384  # words and documents
_TYPES = 3_000_000  # types of words remembered; beyond, they are learnt anew

Document = tuple[str, str]
Progress = Callable[[int, int], None]
"""Called after each batch with the documents and the bytes of text seen so far."""


def measure(
    documents: Iterable[Document],
    target: Tokenizer,
    draft: Tokenizer,
    progress: Progress | None = None,
) -> Measurement:
    """Segment (id, text) documents with both tokenizers and count.

    Documents of one id are one unit. Empty documents, those that are no Unicode text and those that a side
    cannot align are left out and named in ``excluded``. No documents give frames without rows.
    """
    tally = _Tally({"target": target, "draft": draft})
    for batch in _batches(documents):
        tally.add(batch)
        if progress is not None:
            progress(tally.documents, tally.bytes)
    return tally.measurement()


class _Words:
    """What is known of types of words, whatever the tokenizers: a type is a word with its boundaries."""

    def __init__(self) -> None:
        self.types, self.kinds = Types(), Kinds(lexicon())


@cache
def _words() -> _Words:
    """What this process has learnt, from one measurement to the next."""
    return _Words()


class _Tally:
    """The parts of a measurement under way."""

    def __init__(self, tokenizers: dict[str, Tokenizer]) -> None:
        self.documents = self.bytes = 0
        self._tokenizers = tokenizers
        self._quality = Quality()
        self._excluded: list[tuple[str, str | None, str]] = []
        self._counts = {s: np.zeros(len(t.vocabulary.table), dtype=np.int64) for s, t in tokenizers.items()}
        self._chunks = Chunks()
        self._samples = Samples()
        self._words = _words()
        self._block = _Block()
        self._given = 0
        self._units = [Units(FULL, np.zeros(0, dtype=np.uint64), np.zeros((0, *SHAPE), dtype=np.int64))]

    def add(self, batch: list[Document]) -> None:
        given = [(*document, data) for document in batch if (data := self._text(*document))]
        if not given:
            return
        names, texts, parts = (list(column) for column in zip(*given, strict=True))
        found = laid(parts)
        self._quality.read(texts, found)
        sides = {s: t.segment_flat(texts, found.sizes) for s, t in self._tokenizers.items()}
        left_out = self._unaligned(names, sides)
        if left_out:
            keep = [i for i in range(len(names)) if i not in left_out]
            names, texts, parts = ([column[i] for i in keep] for column in (names, texts, parts))
            found = laid(parts)
            sides = {s: joined([side[i] for i in keep], found.sizes) for s, side in sides.items()}
        if names:
            self._count(list(zip(names, texts, strict=True)), found, sides)

    def _count(self, texts: list[Document], found: Laid, sides: dict[str, Segmentations]) -> None:
        marks = Marks(sides["target"], sides["draft"], found.base)
        one_to_one = self._chunks.add(marks)
        rows = document_rows(found, marks, one_to_one)
        self._block.add([name for name, _ in texts], rows, *self._words.types.number(found, marks))
        self._samples.read(texts, marks.target, marks.draft)
        for side, segments in sides.items():
            self._counts[side] += np.bincount(segments.ids, minlength=self._counts[side].size)
        self._given += len(texts)
        if self._block.full(*_BLOCK):
            self._close()

    def _close(self) -> None:
        """Add up the block of batches and begin the next."""
        self._words.kinds.learn(self._words.types.fresh())
        self._units = [merged([*self._units, self._block.units(self._words.kinds)])]
        self._block = _Block()
        if self._words.types.size > _TYPES:
            _words.cache_clear()
            self._words = _words()

    def _text(self, name: str, text: str) -> bytes:
        """The bytes of a document, none where it is left out."""
        self.documents += 1
        self._quality.note("documents")
        if not text:
            self._leave_out(name, "empty", None, "it is empty")
        try:
            data = text.encode()
        except UnicodeEncodeError:
            self._leave_out(name, "not_text", None, "it holds a lone surrogate, which is no Unicode text")
            return b""
        self.bytes += len(data)
        return data

    def _leave_out(self, name: str, check: str, side: str | None, reason: str) -> None:
        self._quality.note(check, side)
        self._excluded.append((name, side, reason))
        if len(self._excluded) > 2 * EXCLUDED:
            self._excluded = self._first_excluded().rows()

    def _first_excluded(self) -> pl.DataFrame:
        return first_excluded(pl.DataFrame(self._excluded, schema=EXCLUDED_SCHEMA, orient="row"))

    def _unaligned(self, names: list[str], sides: dict[str, Segmentations]) -> set[int]:
        """The documents that a side could not align; notes them and those whose ends are offsets."""
        for side, segments in sides.items():
            for i, error in segments.errors.items():
                self._leave_out(names[i], "unaligned", side, str(error))
            for _ in segments.rewritten:
                self._quality.note("offsets_path", side)
        return {i for segments in sides.values() for i in segments.errors}

    def measurement(self) -> Measurement:
        self._close()
        lexicon().keep()
        return Measurement(
            units=self._units[0],
            given=self._given,
            chunks=self._chunks.frame(),
            token_counts=pl.concat([_token_frame(s, self._counts[s]) for s in SIDES]).sort("side", "id"),
            quality=self._quality.frame().sort("check", "side"),
            excluded=self._first_excluded(),
            samples=self._samples.frame(),
            vocabulary=_vocabulary(self._tokenizers),
        )


class _Block:
    """Documents counted but not yet added to their units."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._rows: list[np.ndarray] = [np.zeros((0, WIDTH), dtype=np.int64)]
        self._types: list[np.ndarray] = [np.zeros(0, dtype=np.int64)]
        self._words: list[np.ndarray] = [np.zeros(0, dtype=np.int64)]
        self._size = 0

    def add(self, names: list[str], rows: np.ndarray, types: np.ndarray, words: np.ndarray) -> None:
        """``rows`` as of :func:`document_rows`, the types of all words, and how many each document has."""
        self._names += names
        self._rows.append(rows)
        self._types.append(types)
        self._words.append(words)
        self._size += types.size

    def full(self, words: int, documents: int) -> bool:
        return self._size >= words or len(self._names) >= documents

    def units(self, kinds: Kinds) -> Units:
        depth, prefixes, which = grouped(digests(self._names))
        grid = np.zeros((prefixes.size, *SHAPE), dtype=np.int64)
        if prefixes.size:
            fill(grid, summed(np.concatenate(self._rows), which))
            kinds.fill(grid, np.repeat(which, np.concatenate(self._words)), np.concatenate(self._types))
        return Units(depth, prefixes, grid)


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    size = 0
    for name, text in documents:
        batch.append((name, text))
        size += len(text) + 1
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _token_frame(side: str, counts: np.ndarray) -> pl.DataFrame:
    ids = np.flatnonzero(counts)
    frame = pl.DataFrame({"id": ids, "count": counts[ids]}).with_columns(side=pl.lit(side))
    return frame.select(pl.col(name).cast(kind) for name, kind in TOKENS_SCHEMA.items())


def _vocabulary(tokenizers: dict[str, Tokenizer]) -> pl.DataFrame:
    sizes, both = _entries(*tokenizers.values())
    rows = [(s, t.label, t.fingerprint, n, both) for (s, t), n in zip(tokenizers.items(), sizes, strict=True)]
    return pl.DataFrame(rows, schema=VOCABULARY_SCHEMA, orient="row")


@lru_cache(maxsize=2)
def _entries(target: Tokenizer, draft: Tokenizer) -> tuple[tuple[int, int], int]:
    """The distinct byte strings of each vocabulary, and of both."""
    mine, theirs = (set(filter(None, t.vocabulary.table)) for t in (target, draft))
    return (len(mine), len(theirs)), len(mine & theirs)
