"""The texts that the curve over p is measured on: all of a small corpus, a bounded sample of a large one."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator

from corpora import Document

WHOLE_BYTES = 8_000_000
"""A corpus of this size is used whole."""

SAMPLE_BYTES = 2_000_000
"""A larger one is drawn from: so much of it holds twice the documents that a thousand cuts fall in."""

_LONGEST = SAMPLE_BYTES // 16


class TextSample:
    """Watches documents go by and keeps the texts.

    Beyond ``WHOLE_BYTES`` of UTF-8 those are kept whose text has the smallest SHA-256, as many as
    ``SAMPLE_BYTES`` hold, so that neither order nor shards matter. Of a text longer than a sixteenth of that
    only the beginning counts, so that a few long ones do not stand for all.
    """

    def __init__(self) -> None:
        self.whole = True
        self._texts: list[str] = []
        self._drawn: list[tuple[int, str]] = []  # a heap of minus digest and text: the largest digest on top
        self._limit: int | None = None  # minus the smallest digest that was let go: no larger one enters
        self.n_bytes = 0

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents as they are."""
        for document in documents:
            self.add(document.text, document.utf8)
            yield document

    def add(self, text: str, data: bytes) -> None:
        """See the class; ``data`` is the text's UTF-8."""
        if self.whole:
            self._texts.append(text)
            self.n_bytes += len(data)
            if self.n_bytes > WHOLE_BYTES:
                self.whole, self.n_bytes = False, 0
                for kept in self._texts:
                    self._draw(kept, kept.encode())
                self._texts = []
        else:
            self._draw(text, data)

    @property
    def texts(self) -> list[str]:
        """The texts: in their order where all are kept, else by digest."""
        return self._texts if self.whole else [text for _, text in sorted(self._drawn, reverse=True)]

    def _draw(self, text: str, data: bytes) -> None:
        key = -int.from_bytes(hashlib.sha256(data).digest(), "big")
        if self._limit is not None and key <= self._limit:
            return
        if len(data) > _LONGEST:
            text = data[:_LONGEST].decode(errors="ignore")
        heapq.heappush(self._drawn, (key, text))
        self.n_bytes += len(text.encode())
        while self.n_bytes > SAMPLE_BYTES or (self._drawn and self._drawn[0][0] == self._limit):
            self._limit, least = heapq.heappop(self._drawn)
            self.n_bytes -= len(least.encode())
