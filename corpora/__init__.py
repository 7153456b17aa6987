"""Corpora of Polish text: named, on the hub, or local, each with its origin, licence and identity."""

from corpora.corpus import Corpus, Document, Skipped, content_sha256
from corpora.listing import CatalogueEntry, catalogue
from corpora.loader import open_corpus, open_reader
from corpora.manifest import NamedCorpus, named_corpora
from corpora.reader import Reader

__all__ = [
    "CatalogueEntry",
    "Corpus",
    "Document",
    "NamedCorpus",
    "Reader",
    "Skipped",
    "catalogue",
    "content_sha256",
    "named_corpora",
    "open_corpus",
    "open_reader",
]
