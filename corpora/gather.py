"""Documents drawn from a reader, made into a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from corpora.corpus import Content, Corpus, Document, with_unique_ids
from corpora.reading import Tally
from corpora.sampling import METHOD, draw
from tokalign.errors import CorpusError


def gathered(
    name: str, place: str, found: Iterable[Document], sample: int | None, seed: int, tally: Tally
) -> Corpus:
    """A corpus of ``sample`` of the documents found (all for None); `Corpus.spec` is left empty.

    ``place`` starts the source sentence. CorpusError when no document is found, with what was skipped.
    """
    kept, seen = draw(found, sample, seed)
    if not kept:
        raise nothing_in(place, tally)
    return assembled(
        name, f"{place}{drawn_phrase(len(kept), seen, seed)}", kept, seen, tally, short_of(sample, seen)
    )


def assembled(
    name: str, source: str, kept: Sequence[Document], total: int | None, tally: Tally, notice: str | None
) -> Corpus:
    """The corpus of ``kept``, its identity computed."""
    content = Content()
    for document in kept:
        content.add(document.utf8)
    return Corpus(
        name=name,
        spec="",
        source=source[0].upper() + source[1:] + ".",
        licence=None,
        fallback=False,
        notice="; ".join(filter(None, [notice, *tally.damage])) or None,
        documents=with_unique_ids(kept),
        n_documents=len(kept),
        skipped=tally.skipped(),
        damage=tuple(tally.damage),
        total=total,
        n_bytes=content.n_bytes,
        sha256=content.sha256,
    )


def drawn_phrase(kept: int, seen: int, seed: int, of: str = "") -> str:
    """How ``kept`` of ``seen`` documents were chosen, to follow the place; ``of`` says what was seen."""
    scope = of or f"its {seen:,} documents"
    return f", all of {scope}" if kept == seen else f", {kept:,} of {scope}, {METHOD} (seed {seed})"


def short_of(sample: int | None, seen: int) -> str | None:
    """The notice for a sample that is larger than what there is."""
    if sample is None or seen >= sample:
        return None
    return f"{sample:,} documents were asked for, {seen:,} exist: all of them are used"


def nothing_in(place: str, tally: Tally) -> CorpusError:
    """The sentence for a source without a single document."""
    if tally.damage:
        return CorpusError("; ".join(tally.damage))
    reasons = "; ".join(f"{count:,} × {kind} in {where}" for kind, where, count in tally.skipped())
    left_out = f" (left out: {reasons})" if reasons else ""
    return CorpusError(f"no text was found in {place}{left_out}: give a source with at least one document")
