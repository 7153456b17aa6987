"""Documents of a hub data set: from the hub, else from the copy that `datasets` prepared before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

from corpora.cache import DamagedCacheError, cached_files, cached_rows
from corpora.corpus import Corpus
from corpora.gather import assembled, drawn_phrase, nothing_in, short_of
from corpora.hub import (
    HubData,
    HubRefusedError,
    HubUnavailableError,
    check_reachable,
    offline_by_environment,
    stream,
)
from corpora.reading import Tally, documents
from corpora.sampling import draw
from corpora.tables import Row, Table

STREAM_ROWS = 2_000  # read when no sample size is given
WINDOW_FACTOR, WINDOW_LEAST, WINDOW_MOST = 10, 1_000, 50_000


class NotReadError(Exception):
    """Neither hub nor cache gave the data; the message is the reason.

    ``refused``: the hub answered, and knows no such data.
    """

    def __init__(self, reason: str, *, refused: bool) -> None:
        super().__init__(reason)
        self.refused = refused


def window(sample: int | None) -> int:
    """How many rows from the start of a hub data set are read."""
    if sample is None:
        return STREAM_ROWS
    return max(sample, min(max(WINDOW_FACTOR * sample, WINDOW_LEAST), WINDOW_MOST))


def hub_corpus(
    data: HubData, columns: Sequence[str] | None, name: str, sample: int | None, seed: int, offline: bool
) -> Corpus:
    """A corpus from the first `window` rows; raises NotReadError when neither hub nor cache has them."""
    refused = False
    if variable := offline_by_environment():
        reason = f"{variable} is set"
    elif offline:
        reason = "offline was asked for"
    else:
        try:
            check_reachable()
            return _drawn(stream(data, window(sample) + 1), data, columns, name, "the hub", sample, seed)
        except (HubUnavailableError, HubRefusedError) as error:
            reason, refused = str(error), isinstance(error, HubRefusedError)
    if files := cached_files(data):
        try:
            corpus = _drawn(cached_rows(files), data, columns, name, "the hub cache on this disk", sample, seed)
        except DamagedCacheError as error:
            raise NotReadError(f"{reason}, and the cached copy {error} is damaged", refused=refused) from error
        notice = f"{name} was read from the cache on this disk, not from the hub ({reason})"
        return replace(corpus, notice=joined(notice, corpus.notice))
    raise NotReadError(reason, refused=refused)


def _drawn(
    rows: Iterator[Mapping[str, object]],
    data: HubData,
    columns: Sequence[str] | None,
    name: str,
    place: str,
    sample: int | None,
    seed: int,
) -> Corpus:
    limit = window(sample)
    tally = Tally()
    read = 0

    def numbered(all_rows: Iterable[Mapping[str, object]]) -> Iterator[Row]:
        nonlocal read
        for read, row in enumerate(islice(all_rows, limit), start=1):
            yield Row(f"row {read}", row)

    source = f"the data set {data}, from {place}"
    first = list(islice(rows, 1))
    if not first:
        raise nothing_in(source, tally)
    table = Table(str(data), tuple(first[0]), True, lambda _: numbered(chain(first, rows)))
    kept, seen = draw(documents(table, columns, tally, name), sample, seed)
    whole = next(rows, None) is None
    if not kept:
        raise nothing_in(source, tally)
    scope = "" if whole else f"the {seen:,} documents in its first {limit:,} rows"
    notice = short_of(sample, seen) if whole else None
    if sample is None and not whole:
        notice = f"only the first {limit:,} rows of {data} were read, because no sample size was given"
    phrase = drawn_phrase(len(kept), seen, seed, scope)
    return assembled(name, f"{source}{phrase}", kept, seen if whole else None, tally, notice)


def joined(*notices: str | None) -> str | None:
    """The notices that there are, as one text."""
    return "; ".join(notice for notice in notices if notice) or None
