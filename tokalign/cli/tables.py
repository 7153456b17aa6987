"""A result on a terminal: verdicts first, then the key figures, then the curve over p."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tokalign.cli.curves import STYLE, curve_table, length_table, plain, verdict
from tokalign.cli.output import out
from tokalign.figures import MISSING, SHARES, share
from tokalign.result import CorpusInfo, Pair, Result

KEY = (
    ("fertility", "overall", "tokens per word"),
    ("characters_per_token", "overall", "characters per token"),
    ("parity", "overall", "draft tokens per target token"),
    ("boundary_jaccard", "overall", "boundaries shared (Jaccard)"),
    ("boundary_jaccard", "inside_words", "… inside words"),
    ("boundary_recall", "overall", "target boundaries the draft has"),
    ("one_to_one", "overall", "stretches 1:1"),
    ("continued_words", "overall", "words cut"),
    ("inflection_recall", "overall", "cut before a known ending"),
    ("inflection_agreement", "overall", "agreement at endings"),
    ("letters_cut", "overall", "diacritic letters cut inside"),
    ("renyi_efficiency", "overall", "Rényi efficiency"),
    ("vocabulary_overlap", "overall", "vocabularies shared"),
)
"""Metric, slice kind, and the name by which the table calls it."""

_Cell = Mapping[str, Any]


def show_result(result: Result, *, samples: bool = False) -> None:
    """Print everything."""
    console = out()
    console.print(Text.assemble(("Target ", "bold"), result.target.label), soft_wrap=True)
    console.print()
    _verdicts(console, result)
    for corpus in result.corpora:
        pairs = [p for p in result.pairs if p.corpus == corpus.name]
        console.print()
        console.print(_figures(result, corpus, pairs))
        curves = [(_label(result, p.draft), p.curve) for p in pairs if p.choice and not p.same_vocabulary]
        if curves:
            k = next(p.choice.k for p in pairs if p.choice)
            console.print()
            console.print(curve_table(k, curves))
        if samples:
            for pair in pairs:
                _samples(console, result, pair)
    found = [(_label(result, s.draft.name), s.lengths) for s in result.settings if not s.same_vocabulary]
    if found:
        console.print()
        console.print(length_table(found))


def _verdicts(console: Console, result: Result) -> None:
    settled = {s.draft.name: s for s in result.settings}
    for draft in result.drafts:
        if draft.name in settled:
            verdict(console, draft.label, settled[draft.name])
        else:
            console.print(Text.assemble((draft.label, "bold"), ": the texts are too short to choose p."))


def _figures(result: Result, corpus: CorpusInfo, pairs: list[Pair]) -> Table:
    size = f"{corpus.documents:,} documents, {corpus.bytes:,} bytes"
    stand_in = ", bundled sample in place of the corpus" if corpus.fallback else ""
    table = Table(title=f"{corpus.name}: {size}{stand_in}", title_justify="left", **STYLE)
    table.add_column("(below: 95 % interval)", overflow="fold", min_width=20)
    for name in (result.target.name, *(_label(result, p.draft) for p in pairs)):
        table.add_column(name, justify="right", overflow="fold")
    for metric, kind, words in KEY:
        cells = [_cells(p, metric, kind) for p in pairs]
        if any(cells):
            target = _shown(cells[0].get("target")) if cells else Text()
            drafts = [_shown(c.get("pair", c.get("draft"))) for c in cells]
            table.add_row(words, target, *drafts)
    return table


def _cells(pair: Pair, metric: str, kind: str) -> dict[str, _Cell]:
    """The rows of a metric by side."""
    rows = pair.metrics.filter((pl.col("metric") == metric) & (pl.col("slice_kind") == kind))
    return {
        row["side"]: row for row in rows.unique("side", keep="first", maintain_order=True).iter_rows(named=True)
    }


def _shown(row: _Cell | None) -> Text:
    if row is None:
        return Text()
    value, low, high = (_number(row[c], row["unit"]) for c in ("value", "low", "high"))
    if row["value"] is None:
        return Text(MISSING, "dim")
    if row["low"] is None or row["high"] is None:
        return Text(value)
    return Text.assemble(value, (f"\n{low.removesuffix('%')}–{high}", "dim"))


def _number(value: float | None, unit: str) -> str:
    """Shares in per cent, all else with three decimals, so that figures stand under each other."""
    if value is None:
        return MISSING
    return plain(share(value)) if unit in SHARES else f"{value:.3f}"


def _samples(console: Console, result: Result, pair: Pair) -> None:
    from tokalign.cli.inspect import print_stretches
    from tokalign.passages import aligned

    console.print()
    console.print(Text(f"{result.target.label} over {_label(result, pair.draft)}", "bold"), soft_wrap=True)
    for row in pair.samples.iter_rows(named=True):
        stretches = aligned(row["text"], row["ends_target"], row["ends_draft"])
        print_stretches(console, stretches, (row["ids_target"], row["ids_draft"]), ids=False)


def _label(result: Result, draft: str) -> str:
    return next(d.label for d in result.drafts if d.name == draft)
