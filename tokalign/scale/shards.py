"""Documents in parts of bounded size, each with a digest of its content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from corpora import Document

SHARD_BYTES = 4_000_000


@dataclass(frozen=True)
class Shard:
    """Neighbouring documents as (id, UTF-8 text), which travels faster than text. ``number`` counts from 0;
    ``n_bytes`` of text; ``digest`` identifies ids and texts (hexadecimal SHA-256)."""

    number: int
    parts: tuple[tuple[str, bytes], ...]
    n_bytes: int
    digest: str

    @property
    def documents(self) -> Iterator[tuple[str, str]]:
        """Its documents as (id, text)."""
        return ((name, data.decode()) for name, data in self.parts)

    @property
    def where(self) -> str:
        """Its documents in words."""
        first, last = self.parts[0][0], self.parts[-1][0]
        return first if first == last else f"{first} to {last}"


def shards(documents: Iterable[Document], n_bytes: int = SHARD_BYTES) -> Iterator[Shard]:
    """Deal documents, in order, into shards that end with the document that fills ``n_bytes``.

    No document is cut, so a shard is larger than ``n_bytes`` by less than its last document.
    """
    number, size, part, digest = 0, 0, [], hashlib.sha256()
    for document in documents:
        for data in (document.id.encode(), text := document.utf8):
            digest.update(len(data).to_bytes(8, "big"))
            digest.update(data)
        part.append((document.id, text))
        size += len(text)
        if size >= n_bytes:
            yield Shard(number, tuple(part), size, digest.hexdigest())
            number, size, part, digest = number + 1, 0, [], hashlib.sha256()
    if part:
        yield Shard(number, tuple(part), size, digest.hexdigest())
