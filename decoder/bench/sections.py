"""The parts of the bench's page, in order, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from decoder.bench import findings, reasons
from decoder.bench.alignment import Aligned
from decoder.bench.charts import explorer, published_chart
from decoder.bench.examples import Example
from decoder.bench.grouping import Bench
from decoder.bench.parts import Section, Table, filled, shares
from decoder.bench.prediction import Prediction, predictions
from decoder.bench.published import CELLS, SOURCE
from decoder.bench.table import NONE, interval
from decoder.profile import Profile


def sections(
    bench: Bench,
    rounds: Sequence[Example],
    aligned: Sequence[Aligned],
    profile: Profile | None,
    polish: str | None,
) -> list[Section]:
    """All parts that the bench has figures for."""
    polish = polish or findings.longest_tokens(bench)
    parts = [
        _answers(bench, polish),
        _measured(bench),
        _published(bench),
        reasons.why(bench),
        reasons.repairs(bench),
        reasons.alignment(bench, aligned),
        _prediction(bench, profile),
        reasons.rounds_shown(rounds),
    ]
    return [part for part in parts if part is not None]


def _answers(bench: Bench, polish: str | None) -> Section | None:
    said = findings.answers(bench, polish)
    return Section("Answers", findings=said) if said else None


def _measured(bench: Bench) -> Section:
    reasons = list(dict.fromkeys(c["energy_reason"] for c in bench.summary if c["energy_reason"]))
    texts = [
        "Dots are ratios of sums over prompts with 95 % intervals; choose the measure, the texts and k below."
    ]
    missing = "Energy is" if any(c["speedup"] is not None for c in bench.summary) else "Speed and energy are"
    texts += [f"{missing} missing: {reason}." for reason in reasons]
    cells = [_line(c) for c in bench.summary]
    by_group = [[*_line(c), c["group"]] for c in bench.by_group]
    tables = [
        filled(Table("Every cell", ("draft", *_HEAD), cells, folded=len(cells) > _LONG)),
        filled(Table("Every cell by kind of text", ("draft", *_HEAD, "texts"), by_group, folded=True)),
    ]
    return Section("What was measured", texts, charts=[explorer(bench.summary, bench.by_group)], tables=tables)


_LONG = 24  # rows from which a table opens on demand
_HEAD = ("translation", "k", "tokens per pass", "accepted", "speed", "J per token", "plain J", "identical")


def _line(cell: Mapping[str, Any]) -> list[str]:
    plain = cell["plain_joules_per_token"]
    return [
        cell["draft"],
        cell["translation"] or NONE,
        str(cell["k"]),
        interval(cell, "tokens_per_pass", "{:.2f}"),
        shares(cell, "acceptance"),
        interval(cell, "speedup", "{:.2f}×"),
        interval(cell, "joules_per_token", "{:.2f}"),
        NONE if plain is None else f"{plain:.2f}",
        f"{cell['identical']}/{cell['prompts']}",
    ]


def _published(bench: Bench) -> Section:
    texts = [
        f"The study ({SOURCE}) measured Bielik 11B on an Apple M2 Pro; its figures are marked as published "
        "and stand on other models and texts, so orders can be compared, not values."
    ]
    ks = {c["k"] for c in bench.summary}
    counted = {d: n for d in bench.drafts if (n := bench.named(d, bench.published, 2)) is not None}
    charts = [published_chart(bench.summary, 2, counted)] if 2 in ks else []
    if 2 not in ks:
        texts.append("Its acceptance is of k = 2, which this bench did not run.")
    rows = [
        [c.draft, c.corpus, c.translation, str(c.k), _NAMES[c.measure], _value(c.value, c.high), "published"]
        for c in CELLS
    ]
    head = ("draft", "texts", "translation", "k", "measure", "value", "source")
    return Section(
        "Beside the published study", texts, charts=charts, tables=[Table("Published cells", head, rows)]
    )


_NAMES = {"acceptance": "accepted", "speedup": "speed over plain", "joules_per_token": "joules a token"}


def _value(value: float, high: float | None) -> str:
    return f"{value:g}" if high is None else f"{value:g}–{high:g}"


def _prediction(bench: Bench, profile: Profile | None) -> Section | None:
    if profile is None:
        return None
    found = list(predictions(bench.summary, profile))
    if not found:
        return None
    machine = profile.machine.chip or profile.machine.platform
    texts = [
        f"Prediction, not measurement: the tokens per pass measured here, at the costs of {machine} "
        f"({profile.source} figures; translation and other parts that it does not have count nothing). The "
        "acceptance of other models would differ. “Beyond” marks rounds that verify more tokens at once than "
        "the profile knows, where its last slope is carried on. Below 1× is slower than plain decoding."
    ]
    head = (
        "draft",
        "translation",
        "k",
        "tokens per pass",
        "candidates",
        "round, plain steps",
        "predicted speed",
        "",
    )
    rows = [_predicted(p) for p in found]
    table = filled(Table("Predicted speed", head, rows, folded=len(rows) > _LONG))
    return Section(f"On {machine} (predicted)", texts, tables=[table])


def _predicted(p: Prediction) -> list[str]:
    figures = [f"{p.tokens:.2f}", f"{p.candidates:.1f}", f"{p.cost:.2f}", f"{p.speedup:.2f}×"]
    return [p.draft, p.translation or NONE, str(p.k), *figures, "beyond" if p.beyond else ""]
