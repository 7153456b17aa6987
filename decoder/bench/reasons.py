"""The parts of the page that say why: classes of loss, repairs, boundaries, recorded rounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from decoder.bench import findings
from decoder.bench.alignment import Aligned, Point, correlation, points
from decoder.bench.charts import LOSS_NAMES, alignment_chart, losses_chart
from decoder.bench.comparison import difference
from decoder.bench.examples import Example
from decoder.bench.findings import signed
from decoder.bench.grouping import PUBLISHED, Bench, family
from decoder.bench.parts import Link, Section, Table, shares
from decoder.bench.rows import LOSSES
from decoder.bench.table import NONE, interval, percent


def why(bench: Bench) -> Section | None:
    """Every lost token by class."""
    cells = [c for c in bench.summary if c["k"] == bench.k and c["lost_tokens"]]
    if not cells:
        return None
    texts = [
        f"Every token that a round lost (k = {bench.k}) is in one class. Lost in translation: the drafted text "
        "held the target’s token whole, and other tokens were proposed, or none. Cut: the draft ended inside "
        "the token. Draft behind another text: the way back to the draft had changed the committed text (an "
        "upper bound of what that costs). Models disagree: the text is another. Run ended: it could not be "
        "told."
    ]
    head = ("draft", "translation", "tokens lost", *LOSS_NAMES.values(), "never proposed")
    rows = [
        [c["draft"], c["translation"] or NONE, str(c["lost_tokens"])]
        + [shares(c, f"lost_{kind}") for kind in LOSSES]
        + [str(c["never_proposed"])]
        for c in cells
    ]
    table = Table("Lost tokens by class, with 95 % intervals", head, rows, folded=True)
    drawn = [c for c in cells if c["draft"] in bench.crossing and family(c["translation"]) in _DRAWN]
    return Section("Why tokens were lost", texts, charts=[losses_chart(drawn or cells)], tables=[table])


_DRAWN = ("naive", *PUBLISHED, "anchored no-heal", "anchored")


def repairs(bench: Bench) -> Section | None:
    """The ladder of translations, and where rounds begin."""
    steps = [step for draft in bench.crossing for step in findings.ladder(bench, draft)]
    rows = [
        [s.draft, s.translation, interval(s.cell, "tokens_per_pass", "{:.2f}"), signed(s.gain), s.does]
        for s in steps
    ]
    places = [
        [s.draft, s.translation, *_place_cells(s.cell)] for s in steps if s.cell["barred_share"] is not None
    ]
    if not rows:
        return None
    texts = [
        f"Each translation does what the one before it does not (k = {bench.k}). Gains are differences in "
        "tokens per pass on the same prompts, with 95 % intervals of a paired bootstrap."
    ]
    tables = [
        Table(
            "What each repair brings", ("draft", "translation", "tokens per pass", "gain", "what it does"), rows
        ),
        Table(
            "Accepted tokens a round by where the round begins, and the share of rounds that begin there",
            (
                "draft",
                "translation",
                "outside words",
                "inside, at a boundary",
                "inside, no boundary",
                "strayed",
            ),
            places,
        ),
    ]
    return Section("Which repair brings what", texts, tables=[t for t in tables if t.rows])


def _place_cells(cell: Mapping[str, Any]) -> Iterator[str]:
    for place in ("outside", "open", "barred"):
        accepted = cell[f"{place}_accepted_per_round"]
        yield NONE if accepted is None else f"{accepted:.2f} ({percent(cell[f'{place}_share'])})"
    yield percent(cell["strayed_share"])


def alignment(bench: Bench, aligned: Sequence[Aligned]) -> Section | None:
    """Loss against what tokalign measured of the boundaries."""
    if not aligned:
        return None
    kinds = {
        f"the published translation (anchored − {bench.published})": ("anchored", bench.published),
        "beginning inside words (anchored − anchored no-heal)": ("anchored", "anchored no-heal"),
    }
    found: dict[str, list[Point]] = {}
    for name, (better, worse) in kinds.items():
        losses = list(_gaps(bench, better, worse))
        if made := points(aligned, losses, bench.identity):
            found[name] = made
    if not found:
        return None
    corpora = ", ".join(dict.fromkeys(f"{a.corpus} ({a.documents} documents)" for a in aligned))
    texts = [f"Boundaries were compared by tokalign on {corpora}."]
    if not any(p.own for made in found.values() for p in made):
        texts[0] += " The bench's own texts were not, so a pair's figure stands for all kinds of text."
    for name, made in found.items():
        rho, pairs = correlation(made), len({p.draft for p in made})
        groups = len({p.group for p in made})
        texts.append(
            f"Loss of {name} against boundary Jaccard: Spearman {NONE if rho is None else f'{rho:+.2f}'} over "
            f"{len(made)} points, which are {pairs} pairs on {groups} kinds of text; points of a pair are not "
            "independent, so this is a description and no test."
        )
    measures = sorted({name for a in aligned for name in a.values})
    rows = [[a.name, a.corpus, *(percent(a.values.get(m)) for m in measures)] for a in aligned]
    head = ("draft vocabulary", "corpus", *(m.replace("_", " ") for m in measures))
    table = Table("Agreement of boundaries, as tokalign measured it", head, rows)
    pages = dict.fromkeys(a.page for a in aligned if a.page is not None)
    links = [Link(f"tokalign's report of these pairs: {page.name}", page) for page in pages]
    chart = alignment_chart(found)
    return Section("Loss and agreement of boundaries", texts, charts=[chart], tables=[table], links=links)


def _gaps(bench: Bench, better: str, worse: str) -> Iterator[tuple[str, str, float]]:
    """Tokens per pass that the worse translation loses, for every crossing draft and group."""
    for draft in bench.crossing:
        names = [bench.named(draft, kind, bench.k) for kind in (better, worse)]
        if None in names:
            continue
        cells = [bench.cell(draft, str(name), bench.k) for name in names]
        for group in dict.fromkeys(r["group"] for r in cells[0]):
            mine, theirs = ([r for r in cell if r["group"] == group] for cell in cells)
            gap = difference(mine, theirs, bench.seed)
            if gap is not None:
                yield draft, group, gap.value


def rounds_shown(rounds: Sequence[Example]) -> Section | None:
    """Recorded rounds, token by token."""
    if not rounds:
        return None
    texts = ["Rounds as they were recorded, the first of each kind. Struck out: proposed and refused."]
    shown = [
        {name: _shown(value) for name, value in vars(e).items()} | {"title": LOSS_NAMES[e.lost]} for e in rounds
    ]
    return Section("Rounds that show it", texts, examples=shown)


def _shown(value: Any) -> Any:
    """Texts without lone surrogates and line breaks: undecodable bytes as hexadecimal, ends of lines as ↵."""
    if isinstance(value, tuple):
        return [_shown(v) for v in value]
    if not isinstance(value, str):
        return value
    seen = "".join(f"‹{ord(c) - 0xDC00:02X}›" if 0xDC80 <= ord(c) <= 0xDCFF else c for c in value)
    return seen.replace("\n", "↵")
