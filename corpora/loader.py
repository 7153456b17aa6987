"""From a specification to a corpus: read as it is iterated (`open_reader`), or in memory (`open_corpus`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from corpora import files, standard_input
from corpora.corpus import Corpus, Document
from corpora.gather import gathered
from corpora.hub import HubData
from corpora.manifest import NamedCorpus, checked_sample
from corpora.meter import Meter
from corpora.reader import Read, Reader
from corpora.reading import Tally, documents
from corpora.remote import NotReadError, hub_corpus, joined
from corpora.sampling import check_sample
from corpora.spec import FromHub, Local, Pattern, Request, Sample, StandardInput, parse
from corpora.standard_input import WHERE
from corpora.tables import Table
from tokalign.errors import CorpusError, CorpusUsageError


def open_corpus(
    spec: str, *, sample: int | None = None, seed: int = 0, offline: bool = False, column: str | None = None
) -> Corpus:
    """The documents that ``spec`` names, in their order, in memory; arguments and errors as `open_reader`."""
    reader = open_reader(spec, sample=sample, seed=seed, offline=offline, column=column)
    kept = tuple(Document(document.id, document.text) for document in reader)
    return replace(reader.corpus, documents=kept)


def open_reader(
    spec: str, *, sample: int | None = None, seed: int = 0, offline: bool = False, column: str | None = None
) -> Reader:
    """The documents that ``spec`` names, to be read in their order.

    ``spec``: a name of the manifest; ``sample:name`` or ``name:sample`` for its bundled sample;
    ``hf:owner/name[:config][:split][:column]``; a file, a folder (its files, sorted; folders inside are not
    entered), a glob, or ``-``. ``column``: the column with the text; several, as ``a,b``, are joined by a
    blank line.

    ``sample`` documents are drawn with ``seed`` by `sampling.draw`; None takes all. Of a hub corpus only
    the beginning is read: the first 2,000 rows without ``sample``, else the first 10 × ``sample`` (at least
    1,000, at most 50,000 or ``sample``), from which the sample is drawn. The copy in the cache of
    `datasets` is read by the same rule, so both give the same documents. Local text without ``sample`` is
    read as it is iterated; everything else is read here, and is in memory.

    Without the hub (``offline``, HF_HUB_OFFLINE, or no answer within seconds) a named corpus comes from that
    cache, else from its bundled sample, and says so in ``notice`` and ``fallback``.

    Raises CorpusUsageError for a request that cannot be met, CorpusError for sources without text. Where a
    file is cut or damaged, the documents before the damage are used, and `Corpus.damage` says so.
    """
    check_sample(sample)
    if column is not None and not column.strip():
        raise CorpusUsageError("the column name is empty: name a column, or leave --column away")
    request = parse(spec)
    match request:
        case NamedCorpus():
            corpus = _named(request, sample, seed, offline, column)
        case Sample(entry):
            corpus = _bundled(entry, sample, seed, column)
        case FromHub():
            corpus = _address(request, spec, sample, seed, offline, column)
        case _:
            name, place, read = _local(request, column)
            if sample is None:
                return Reader(name, spec, place, read).begin()
            tally = Tally()
            corpus = gathered(name, place, read(tally, Meter(), None), sample, seed, tally)
    return Reader.of(replace(corpus, spec=spec))


def _named(entry: NamedCorpus, sample: int | None, seed: int, offline: bool, column: str | None) -> Corpus:
    if entry.hub is None:
        return _bundled(entry, sample, seed, column)
    data = HubData(entry.hub, entry.config, entry.split)
    columns = (column,) if column else entry.columns
    try:
        corpus = hub_corpus(data, columns, entry.name, sample, seed, offline)
    except NotReadError as error:
        corpus = _bundled(entry, sample, seed, column)
        notice = (
            f"{entry.name} was not read from the hub ({error}); its bundled sample of {corpus.total} "
            f"documents, written for this project, stands in for {entry.hub}"
        )
        return replace(corpus, fallback=True, notice=joined(notice, corpus.notice))
    return replace(corpus, licence=entry.licence)


def _bundled(entry: NamedCorpus, sample: int | None, seed: int, column: str | None) -> Corpus:
    table = files.table(checked_sample(entry))
    columns = (column,) if column else entry.columns
    table = Table(f"the bundled sample of {entry.name}", table.columns, table.fixed, table.rows)
    name = f"{entry.name}-sample" if entry.hub else entry.name
    place = f"{table.where}, original Polish text written for this project"
    tally = Tally()
    corpus = gathered(name, place, documents(table, columns, tally, entry.name), sample, seed, tally)
    return replace(corpus, licence=entry.sample_licence)


def _address(
    request: FromHub, spec: str, sample: int | None, seed: int, offline: bool, column: str | None
) -> Corpus:
    wanted = column or request.column
    try:
        return hub_corpus(request.data, (wanted,) if wanted else None, request.data.repo, sample, seed, offline)
    except NotReadError as error:
        if error.refused:
            raise CorpusUsageError(
                f"the hub refuses {spec!r} ({error}): check owner, name, configuration and split"
            ) from error
        raise CorpusError(
            f"{spec!r} cannot be read without the hub ({error}), and the cache on this disk does not hold "
            "it: connect, or give a local file"
        ) from error


def _local(request: Request, column: str | None) -> tuple[str, str, Read]:
    """Name, place in words, and how to read it."""
    match request:
        case Local(path) if path.is_dir():
            return path.resolve().name, f"the folder {path}", _files(partial(files.in_folder, path), column)
        case Local(path):
            return path.name, f"the file {path}", _files(lambda _: [(path, path.name)], column)
        case Pattern(text):
            return text, f"the files that match {text}", _files(partial(files.matching, text), column)
        case StandardInput():
            return "stdin", WHERE, partial(standard_input.StandardInput().read, column)
    raise TypeError(f"not a local request: {request!r}")


def _files(found: Callable[[Tally], Sequence[tuple[Path, str]]], column: str | None) -> Read:
    return lambda tally, meter, names: files.read(found(tally), column, tally, meter, names)
