"""A result as the page that shows it: warnings and choices, a section for each pair, the sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokalign.evidence import choice_tables, chosen, setting
from tokalign.figures import Cell, Table, cells, count, short, valued, words
from tokalign.metrics import METRICS
from tokalign.origin import origin
from tokalign.result import Pair, Result
from tokalign.sections import sections
from tokalign.view import BETTER, Section, View, spelled

_SUMMARY = (("boundary_f1", "pair"), ("parity", "pair"), ("fertility", "target"), ("fertility", "draft"))


@dataclass(frozen=True)
class Verdict:
    """What to set, in words. ``chosen`` is the setting, ``provisional`` why it may not hold, or empty."""

    title: str
    chosen: str
    note: str
    sentences: Sequence[str]
    provisional: str


@dataclass(frozen=True)
class PairPage:
    """The section of one pair."""

    id: str
    title: str
    short: str
    badge: str
    target: str
    draft: str
    verdict: Verdict
    evidence: Sequence[Table]
    sections: Sequence[Section]


@dataclass(frozen=True)
class Entry:
    """A term of the glossary."""

    id: str
    name: str
    kind: str
    text: str


@dataclass(frozen=True)
class Page:
    """The whole report. ``summary`` and ``verdicts`` are empty where there is one pair only."""

    title: str
    lede: str
    warnings: Sequence[str]
    verdicts: Sequence[Verdict]
    summary: Table | None
    pairs: Sequence[PairPage]
    glossary: Sequence[Entry]
    provenance: Sequence[Table]
    footer: str


def page_of(result: Result) -> Page:
    """Everything the page says, in order."""
    several = len(result.pairs) > 1
    pairs = [_pair_page(result, pair, f"pair-{i}") for i, pair in enumerate(result.pairs, 1)]
    drafts = ", ".join(short(d.name) for d in result.drafts)
    return Page(
        title=f"{short(result.target.name)} with drafts from {drafts}",
        lede=_lede(result),
        warnings=_warnings(result),
        verdicts=_verdicts(result) if several else (),
        summary=_summary(result, pairs) if several else None,
        pairs=pairs,
        glossary=_glossary(),
        provenance=origin(result),
        footer=f"Made by tokalign {result.versions.get('tokalign', '')} at {result.created}.",
    )


def _lede(result: Result) -> str:
    texts = "; ".join(
        f"{c.name}, {count(c.documents)} documents, {count(c.bytes)} bytes" for c in result.corpora
    )
    return (
        "How these tokenizers segment the same Polish text, and how drafts are best translated into the "
        f"target’s tokens. Measured on {texts}."
    )


def _warnings(result: Result) -> list[str]:
    """What a reader must know before any figure."""
    stand_ins = [
        f"{t.name}: {t.detail}. Every figure below that involves it describes the stand-in; measure again "
        "with the real vocabulary before relying on it."
        for t in (result.target, *result.drafts)
        if t.provisional
    ]
    return list(
        dict.fromkeys(
            [
                *stand_ins,
                *(f"{c.name}: {sentence}." for c in result.corpora for sentence in c.damage),
                *(c.notice or f"{c.name} is a bundled sample." for c in result.corpora if c.fallback),
            ]
        )
    )


def _stand_ins(result: Result, pair: Pair) -> list[str]:
    sides = [result.target, *(d for d in result.drafts if d.name == pair.draft)]
    return list(dict.fromkeys(t.detail for t in sides if t.provisional))


def _pair_page(result: Result, pair: Pair, name: str) -> PairPage:
    labels = {t.name: t.label for t in (result.target, *result.drafts)}
    definitions = {m.name: m.definition for m in METRICS}
    view = View(name, pair, labels[pair.target], labels[pair.draft], definitions)
    details = _stand_ins(result, pair)
    title, note = chosen(pair.choice, pair.same_vocabulary)
    named = f"{short(pair.draft)} on {pair.corpus}"
    said = (
        pair.choice.verdict
        if pair.choice
        else "The texts are too short for a single round, so nothing was chosen."
    )
    return PairPage(
        id=name,
        title=named if len(result.pairs) > 1 else "Verdict",
        short=named,
        badge="; ".join(details),
        target=view.target,
        draft=view.draft,
        verdict=Verdict(
            view.draft,
            title,
            note,
            sentences(said),
            f"These figures rest on {view.stand_ins}." if details else "",
        ),
        evidence=choice_tables(pair.choice),
        sections=sections(view),
    )


def sentences(text: str) -> list[str]:
    """A verdict's sentences, one a paragraph."""
    marked = text.replace(". ", ".\n")
    return [s for s in marked.split("\n") if s]


def _verdicts(result: Result) -> list[Verdict]:
    """The choice of each draft over all corpora together."""
    found = []
    for s in result.settings:
        title, note = chosen(s, s.same_vocabulary)
        reason = f"It rests on {s.reason}." if s.provisional else ""
        found.append(Verdict(s.draft.name, title, note, sentences(s.verdict), reason))
    return found


def _summary(result: Result, pairs: Sequence[PairPage]) -> Table:
    units = {(m.name, str(m.side)): m.unit for m in METRICS}
    named = [f"{spelled(name)}{'' if side == 'pair' else f', {side}'}" for name, side in _SUMMARY]
    head = [
        Cell("draft and corpus"),
        Cell("setting", words=True),
        *cells("fidelity", "best published", *named),
    ]
    body = []
    for pair, page in zip(result.pairs, pairs, strict=True):
        overall = pair.metrics.filter(slice_kind="overall")
        found = {(r["metric"], r["side"]): r for r in overall.iter_rows(named=True)}
        values = [
            valued(r["value"], r["low"], r["high"], units[key]) if (r := found.get(key)) else words(None)
            for key in _SUMMARY
        ]
        name = Cell(page.short, href=f"#{page.id}", badge=page.badge or None)
        body.append([name, Cell(page.verdict.chosen, words=True), *_fidelities(pair), *values])
    return Table("Every pair, with 95 % intervals", head, body)


def _fidelities(pair: Pair) -> list[Cell]:
    """The chosen translation, and the published one that comes closest."""
    if pair.choice is None:
        return [words(None), words(None)]
    best = max((pair.choice.by_length, pair.choice.by_count, pair.choice.naive), key=lambda s: s.fidelity)
    return [
        valued(pair.choice.chosen.fidelity, pair.choice.chosen.low, pair.choice.chosen.high, "share"),
        Cell(
            valued(best.fidelity, best.low, best.high, "share").text,
            small=setting(best.method, best.p).removeprefix("published, "),
        ),
    ]


def _glossary() -> list[Entry]:
    """The definitions of all metrics, one entry a name, and of the words this page uses beside them."""
    entries = [Entry(f"term-{i}", name, "", text) for i, (name, text) in enumerate(_TERMS.items(), 1)]
    for m in {m.name: m for m in METRICS}.values():
        kind = ", ".join(t for t in (m.unit, BETTER.get(m.better, "")) if t)
        entries.append(Entry(f"def-{m.name}", spelled(m.name), kind, m.definition))
    return entries


_TERMS = {
    "target, draft": "The model that decides, and the smaller one that proposes text for it to check.",
    "k": "Draft tokens a round: how far the draft runs ahead before the target checks.",
    "p": "Committed target tokens encoded in front of the draft’s text, so that it is cut in its context.",
    "anchored": "The window starts at the last word start instead of a fixed number of tokens back.",
    "fidelity": "Right candidates over the ceiling, with a perfect draft: what translation preserves.",
    "ceiling": "Target tokens of the true encoding that lie wholly inside the drafted text.",
    "95 % interval": "Percentiles 2.5 and 97.5 over bootstrap samples of documents; — with fewer than two.",
    "n": "How many things a value rests on: words, tokens, boundaries or letters.",
    "stand-in": "Another vocabulary of the same size and form, used where the real one could not be had.",
}
