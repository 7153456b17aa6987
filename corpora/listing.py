"""The named corpora as a list, for people who choose one."""

from __future__ import annotations

from dataclasses import dataclass

from corpora.cache import cached_files
from corpora.hub import HubData, HubUnavailableError, check_reachable, offline_by_environment
from corpora.loader import open_corpus
from corpora.manifest import NamedCorpus, named_corpora


@dataclass(frozen=True)
class CatalogueEntry:
    """One named corpus.

    ``available``: where it can be read from now, the place `open_corpus` would take first: "hub", "hub
    cache", "bundled sample". ``documents``, ``n_bytes`` (UTF-8) and ``sha256`` (as `Corpus.sha256`) are
    those of the bundled sample, under ``sample_licence``; ``licence`` is that of the corpus itself, ``hub``
    its address there (None: the sample is the corpus).
    """

    name: str
    description: str
    available: tuple[str, ...]
    documents: int
    n_bytes: int
    licence: str
    sample_licence: str
    sha256: str
    hub: str | None


def catalogue(offline: bool = False) -> list[CatalogueEntry]:
    """Every named corpus in manifest order; asks the hub once (6 seconds at most) unless ``offline``."""
    hub = not offline and _hub_answers()
    return [_entry(entry, hub) for entry in named_corpora().values()]


def _hub_answers() -> bool:
    if offline_by_environment():
        return False
    try:
        check_reachable()
    except HubUnavailableError:
        return False
    return True


def _entry(entry: NamedCorpus, hub: bool) -> CatalogueEntry:
    sample = open_corpus(f"sample:{entry.name}")
    places = ["bundled sample"]
    if entry.hub:
        if cached_files(HubData(entry.hub, entry.config, entry.split)):
            places.insert(0, "hub cache")
        if hub:
            places.insert(0, "hub")
    return CatalogueEntry(
        name=entry.name,
        description=entry.description,
        available=tuple(places),
        documents=sample.n_documents,
        n_bytes=sample.n_bytes,
        licence=entry.licence,
        sample_licence=entry.sample_licence,
        sha256=sample.sha256,
        hub=entry.hub,
    )
