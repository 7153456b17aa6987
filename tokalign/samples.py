"""A few sentences with the tokens of both sides, chosen by their content alone."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from itertools import islice

import numpy as np
import polars as pl

from tokalign.measurement import SAMPLES, SAMPLES_SCHEMA, first_samples
from tokalign.tokenizers import Segmentation, Segmentations

_PER_DOCUMENT = 2
_SENTENCE = re.compile(r"(?<![^\s])\w[^.!?\n]{40,140}[.!?](?=\s|$)")
_READ = 20_000  # characters of a document that are searched


class Samples:
    """Keeps the sentences of smallest digest from the starts of documents.

    A sentence is widened to the nearest boundaries that both sides have; one is left out where such a
    boundary cuts a character. The digest is that of the sentence before it is widened.
    """

    def __init__(self) -> None:
        self._found = SAMPLES_SCHEMA.to_frame()

    def read(self, documents: list[tuple[str, str]], target: Segmentations, draft: Segmentations) -> None:
        """Look through aligned documents (id, text), segmented in their order."""
        least = self._found["digest"][-1] if self._found.height == SAMPLES else "g"
        rows: dict[str, dict[str, object]] = {}
        for digest, name, i, start, end in sorted(_candidates(documents, least)):
            if len(rows) == SAMPLES:
                break
            row = _row(documents[i][1], start, end, target.of(i), draft.of(i))
            if row is not None:
                rows.setdefault(digest, {"digest": digest, "document": name} | row)
        if rows:
            found = pl.DataFrame(list(rows.values()), schema=SAMPLES_SCHEMA)
            self._found = first_samples(pl.concat([self._found, found]))

    def frame(self) -> pl.DataFrame:
        """The sentences (``SAMPLES_SCHEMA``), by digest."""
        return self._found


def _candidates(documents: list[tuple[str, str]], least: str) -> Iterator[tuple[str, str, int, int, int]]:
    """Digest (up to ``least``), document, its index, and the characters at which the sentence begins and ends."""
    for i, (name, text) in enumerate(documents):
        for found in islice(_SENTENCE.finditer(text, 0, _READ), _PER_DOCUMENT):
            digest = hashlib.sha256(found[0].encode()).hexdigest()[:16]
            if digest <= least:
                yield digest, name, i, found.start(), found.end()


def _row(
    text: str, first: int, last: int, target: Segmentation, draft: Segmentation
) -> dict[str, object] | None:
    common = np.intersect1d(np.append(0, target.ends), np.append(0, draft.ends))
    start = len(text[:first].encode())
    end = start + len(text[first:last].encode())
    start = int(common[np.searchsorted(common, start, side="right") - 1])
    end = int(common[np.searchsorted(common, end)])
    try:
        shown = text.encode()[start:end].decode()
    except UnicodeDecodeError:
        return None
    row: dict[str, object] = {"start": start, "text": shown}
    for side, tokens in (("target", target), ("draft", draft)):
        row[f"ids_{side}"], row[f"ends_{side}"] = _part(tokens, start, end)
    return row


def _part(tokens: Segmentation, start: int, end: int) -> tuple[list[int], list[int]]:
    """Ids and byte ends, counted from ``start``, of the tokens that end in ``start`` < e <= ``end``."""
    keep = (tokens.ends > start) & (tokens.ends <= end)
    return tokens.ids[keep].tolist(), (tokens.ends[keep] - start).tolist()
