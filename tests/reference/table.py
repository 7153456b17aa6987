"""Measuring: documents through both tokenizers into frames of counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import polars as pl

from tokalign.boundaries import chunks
from tokalign.lexicon import Lexicon
from tokalign.measurement import (
    CHUNKS_SCHEMA,
    EXCLUDED_SCHEMA,
    SIDES,
    SUMS_SCHEMA,
    TOKENS_SCHEMA,
    VOCABULARY_SCHEMA,
    Measurement,
    add_up,
    first_samples,
)
from tokalign.quality import Quality
from tokalign.samples import samples
from tokalign.slices import Pair, sums
from tokalign.tokenizers import Segmentation, Tokenizer, Unaligned
from tokalign.words import characters

_BATCH = 500_000  # characters

Progress = Callable[[int, int], None]
"""Called after each batch with the documents and the bytes of text seen so far."""


def measure(
    documents: Iterable[tuple[str, str]],
    target: Tokenizer,
    draft: Tokenizer,
    progress: Progress | None = None,
) -> Measurement:
    """Segment (id, text) documents with both tokenizers and count.

    Documents of one id are taken as one document. Empty documents, those that are no Unicode text and those
    that a side cannot align are left out and named in ``excluded``. No documents give frames without rows.
    """
    tally = _Tally({"target": target, "draft": draft})
    for batch in _batches(documents):
        tally.add(batch)
        if progress is not None:
            progress(tally.documents, tally.bytes)
    return tally.measurement()


class _Tally:
    """The parts of a measurement under way."""

    def __init__(self, tokenizers: dict[str, Tokenizer]) -> None:
        self.documents = self.bytes = 0
        self._tokenizers = tokenizers
        self._lexicon = Lexicon()
        self._quality = Quality()
        self._excluded: list[tuple[str, str | None, str]] = []
        self._counts = {s: np.zeros(len(t.vocabulary.table), dtype=np.int64) for s, t in tokenizers.items()}
        self._sums = [SUMS_SCHEMA.to_frame()]
        self._chunks = [CHUNKS_SCHEMA.to_frame()]
        self._samples: list[pl.DataFrame] = []

    def add(self, batch: list[tuple[str, str]]) -> None:
        texts = [document for document in batch if self._is_text(*document)]
        segmented = {s: t.segment_batch([text for _, text in texts]) for s, t in self._tokenizers.items()}
        rows = zip(texts, *segmented.values(), strict=True)
        found = [self._aligned(*document, *sides) for document, *sides in rows]
        kept = [row for row in found if row is not None]
        if not kept:
            return
        names = [name for name, _, _, _ in kept]
        laid = characters([text for _, text, _, _ in kept])
        sides = {"target": [row[2] for row in kept], "draft": [row[3] for row in kept]}
        pair = Pair(laid, {s: _laid(laid.base, segments) for s, segments in sides.items()})
        self._sums.append(sums(pair, names, self._lexicon))
        self._chunks.append(_chunk_counts(pair, names))
        self._samples.append(samples([(name, text) for name, text, _, _ in kept], **sides))
        for side, segments in sides.items():
            ids = np.concatenate([s.ids for s in segments])
            self._counts[side] += np.bincount(ids, minlength=self._counts[side].size)

    def _is_text(self, name: str, text: str) -> bool:
        self.documents += 1
        self._quality.note("documents")
        try:
            self.bytes += len(text.encode())
        except UnicodeEncodeError:
            self._leave_out(name, "not_text", None, "it holds a lone surrogate, which is no Unicode text")
            return False
        if not text:
            self._leave_out(name, "empty", None, "it is empty")
            return False
        self._quality.read(text)
        return True

    def _leave_out(self, name: str, check: str, side: str | None, reason: str) -> None:
        self._quality.note(check, side)
        self._excluded.append((name, side, reason))

    def _aligned(
        self, name: str, text: str, target: Segmentation | Unaligned, draft: Segmentation | Unaligned
    ) -> tuple[str, str, Segmentation, Segmentation] | None:
        for side, found in (("target", target), ("draft", draft)):
            if isinstance(found, Unaligned):
                self._leave_out(name, "unaligned", side, str(found))
            elif found.path == "offsets":
                self._quality.note("offsets_path", side)
        if isinstance(target, Unaligned) or isinstance(draft, Unaligned):
            return None
        return name, text, target, draft

    def measurement(self) -> Measurement:
        return Measurement(
            sums=add_up(pl.concat(self._sums), SUMS_SCHEMA),
            chunks=add_up(pl.concat(self._chunks), CHUNKS_SCHEMA, ("document", "n", "m")),
            token_counts=pl.concat([_token_frame(s, self._counts[s]) for s in SIDES]).sort("side", "id"),
            quality=self._quality.frame().sort("check", "side"),
            excluded=pl.DataFrame(self._excluded, schema=EXCLUDED_SCHEMA, orient="row").sort(
                "document", "side", "reason"
            ),
            samples=first_samples(pl.concat([*self._samples, samples([], [], [])])),
            vocabulary=_vocabulary(self._tokenizers),
        )


def _batches(documents: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    batch: list[tuple[str, str]] = []
    size = 0
    for name, text in documents:
        batch.append((name, text))
        size += len(text) + 1
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _laid(base: np.ndarray, segments: list[Segmentation]) -> np.ndarray:
    """The byte ends of all documents in the coordinate in which these are laid."""
    lengths = [s.ends.size for s in segments]
    return np.concatenate([s.ends for s in segments]).astype(np.int64) + np.repeat(base[:-1], lengths)


def _chunk_counts(pair: Pair, names: list[str]) -> pl.DataFrame:
    found = chunks(pair.ends["target"], pair.ends["draft"], pair.found.base[:-1])
    text = pair.text_of(found.ends)
    starts = np.maximum(np.append(0, found.ends[:-1]), pair.found.base[text])
    rows = pl.DataFrame({"text": text, "n": found.n, "m": found.m, "bytes": found.ends - starts})
    rows = rows.group_by("text", "n", "m").agg(pl.len().alias("count"), pl.col("bytes").sum())
    rows = rows.with_columns(pl.Series("document", names, dtype=pl.String).gather(rows["text"]))
    return rows.select(pl.col(name).cast(kind) for name, kind in CHUNKS_SCHEMA.items())


def _token_frame(side: str, counts: np.ndarray) -> pl.DataFrame:
    ids = np.flatnonzero(counts)
    frame = pl.DataFrame({"id": ids, "count": counts[ids]}).with_columns(side=pl.lit(side))
    return frame.select(pl.col(name).cast(kind) for name, kind in TOKENS_SCHEMA.items())


def _vocabulary(tokenizers: dict[str, Tokenizer]) -> pl.DataFrame:
    entries = {side: set(filter(None, t.vocabulary.table)) for side, t in tokenizers.items()}
    both = len(entries["target"] & entries["draft"])
    rows = [(s, t.label, t.fingerprint, len(entries[s]), both) for s, t in tokenizers.items()]
    return pl.DataFrame(rows, schema=VOCABULARY_SCHEMA, orient="row")
