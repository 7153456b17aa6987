"""The shards of a corpus as they are read, with a beginning that can be looked at first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from corpora import Document
from tokalign.scale.shards import Shard, shards


class Dealt:
    """``documents`` and ``n_bytes`` count what has been read."""

    def __init__(self, documents: Iterable[Document], shard_bytes: int) -> None:
        self._shards = map(self._counted, shards(documents, shard_bytes))
        self._head: list[Shard] = []
        self.documents = self.n_bytes = 0

    def begin(self, n_bytes: int) -> bool:
        """Read ``n_bytes`` of text; whether that was all."""
        for shard in self._shards:
            self._head.append(shard)
            if self.n_bytes >= n_bytes:
                return False
        return True

    def first_texts(self, n_bytes: int) -> tuple[str, ...]:
        """The first texts, as many as fill ``n_bytes``, one at least; the same however they are dealt."""
        if self.n_bytes < n_bytes:
            self.begin(n_bytes)
        found: list[str] = []
        size = 0
        for _, data in chain.from_iterable(s.parts for s in self._head):
            found.append(data.decode())
            size += len(data)
            if size >= n_bytes:
                break
        return tuple(found)

    def __iter__(self) -> Iterator[Shard]:
        head, self._head = self._head, []
        head.reverse()
        while head:
            yield head.pop()
        yield from self._shards

    def _counted(self, shard: Shard) -> Shard:
        self.documents += len(shard.parts)
        self.n_bytes += shard.n_bytes
        return shard
