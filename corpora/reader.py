"""A corpus read document by document, in memory that does not grow with it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from itertools import chain

from corpora.corpus import Content, Corpus, Document
from corpora.gather import nothing_in
from corpora.meter import Meter
from corpora.names import Names
from corpora.reading import Tally
from tokalign.errors import CorpusError

Read = Callable[[Tally, Meter, Names | None], Iterator[Document]]
"""One pass over a source."""


class Reader:
    """Iterating is one pass over the source; it can be done again. ``name`` and ``spec`` are those of the
    corpus, ``notice`` what is known to be said of it before it is read."""

    def __init__(self, name: str, spec: str, place: str, read: Read) -> None:
        self.name, self.spec = name, spec
        self.notice: str | None = None
        self._place, self._read = place, read
        self._corpus: Corpus | None = None
        self._meter = Meter()
        self._begun: Iterator[Document] | None = None
        self._reading: Generator[Document, None, None] | None = None

    @classmethod
    def of(cls, corpus: Corpus) -> Reader:
        """A reader of documents that are in memory."""
        made = cls(corpus.name, corpus.spec, "", lambda *_: iter(corpus.documents))
        made._corpus, made.notice = corpus, corpus.notice
        return made

    def begin(self) -> Reader:
        """Read as far as the first document, so that a source that cannot be used is told at once.

        Raises CorpusUsageError for a request that cannot be met, CorpusError where there is no document.
        """
        if self._corpus is None and self._begun is None:
            self._reading = self._pass()
            self._begun = chain([next(self._reading)], self._reading)
        return self

    def __iter__(self) -> Iterator[Document]:
        begun, self._begun = self._begun, None
        if begun is not None:
            return begun
        self._reading = self._pass()
        return self._reading

    def close(self) -> None:
        """End a pass that was left before its end, and close its files."""
        self._begun = None
        if self._reading is not None:
            self._reading.close()

    @property
    def share(self) -> float | None:
        """The share of the source that the pass has read, 0 to 1: by bytes on disk, of documents that are in
        memory by their number; None before the start."""
        return self._meter.share

    @property
    def corpus(self) -> Corpus:
        """What a whole pass has found; its ``documents`` are read anew. CorpusError before the end of one."""
        if self._corpus is None:
            raise CorpusError(f"{self.name} has not been read to its end: iterate over it first")
        return replace(self._corpus, name=self.name)

    def _pass(self) -> Generator[Document, None, None]:
        if self._corpus is not None and not self._place:
            self._meter = Meter()
            self._meter.expect([self._corpus.n_documents])
            self._meter.begin()
            for number, document in enumerate(self._corpus.documents, start=1):
                self._meter.reach(number / self._corpus.n_documents)
                yield document
            return
        tally, content = Tally(), Content()
        self._meter = Meter()
        for document in self._read(tally, self._meter, Names()):
            content.add(document.utf8)
            yield document
        if not content.documents:
            raise nothing_in(self._place, tally)
        self._corpus = Corpus(
            name=self.name,
            spec=self.spec,
            source=f"{self._place[0].upper()}{self._place[1:]}, all of its {content.documents:,} documents.",
            licence=None,
            fallback=False,
            notice="; ".join(tally.damage) or None,
            documents=self,
            n_documents=content.documents,
            skipped=tally.skipped(),
            damage=tuple(tally.damage),
            total=content.documents,
            n_bytes=content.n_bytes,
            sha256=content.sha256,
        )
