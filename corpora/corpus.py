"""A corpus: its documents, where they are from, what identifies them, and what was left out."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Document:
    """One text. ``id`` is unique in its corpus; ``text`` is never empty and always encodes as UTF-8.

    ``encoded`` is that UTF-8 where it is at hand: a large corpus is encoded once, not for every use.
    """

    id: str
    text: str
    encoded: bytes | None = field(default=None, compare=False, repr=False)

    @property
    def utf8(self) -> bytes:
        """The text's UTF-8."""
        return self.text.encode() if self.encoded is None else self.encoded


class Skipped(NamedTuple):
    """``count`` things of one ``kind`` left out of ``where`` (a file, and its first line or row)."""

    kind: str
    where: str
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs here


@dataclass(frozen=True)
class Corpus:
    """Documents in order, with what a report has to say about them.

    ``spec`` is the text that asked for it; ``source`` one sentence on origin and sampling; ``licence`` None
    for local text. ``fallback`` is True when a bundled sample stands in for a hub corpus that could not be
    read; ``notice`` then says why, and is None when there is nothing to tell. ``skipped`` counts what was
    left out before sampling, ``damage`` has a sentence for each place where the source itself is broken.
    ``total`` is the number of documents of the source before sampling, None when only its beginning was
    read. ``n_bytes`` counts UTF-8 bytes; ``sha256`` is `content_sha256`.

    ``documents`` is a tuple where `open_corpus` made the corpus; a `Reader`'s reads its source anew.
    """

    name: str
    spec: str
    source: str
    licence: str | None
    fallback: bool
    notice: str | None
    documents: Iterable[Document]
    n_documents: int
    skipped: tuple[Skipped, ...]
    damage: tuple[str, ...]
    total: int | None
    n_bytes: int
    sha256: str


class Content:
    """The size and identity of documents as they pass."""

    def __init__(self) -> None:
        self.documents = self.n_bytes = 0
        self._digest = hashlib.sha256()

    def add(self, data: bytes) -> None:
        """One document's UTF-8."""
        self.documents += 1
        self.n_bytes += len(data)
        self._digest.update(len(data).to_bytes(8, "big"))
        self._digest.update(data)

    @property
    def sha256(self) -> str:
        """`content_sha256` of what has passed."""
        return self._digest.hexdigest()


def content_sha256(texts: Iterable[str]) -> str:
    """Hexadecimal SHA-256 over each text in order: 8 bytes big-endian length, then its UTF-8 bytes.

    The length prefix keeps ["ab", "c"] and ["a", "bc"] apart. Ids, names and origin do not enter.
    """
    content = Content()
    for text in texts:
        content.add(text.encode())
    return content.sha256


def with_unique_ids(documents: Iterable[Document]) -> tuple[Document, ...]:
    """The same documents; a repeated id gains ``#2``, ``#3`` … in order of appearance."""
    kept = tuple(documents)
    taken = {document.id for document in kept}
    seen: Counter[str] = Counter()
    unique = []
    for document in kept:
        seen[document.id] += 1
        number = seen[document.id]
        if number > 1:
            while (name := f"{document.id}#{number}") in taken:
                number += 1
            taken.add(name)
            unique.append(Document(name, document.text))
        else:
            unique.append(Document(document.id, document.text))
    return tuple(unique)
