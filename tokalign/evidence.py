"""The evidence for a choice: fidelity over p, exact translation against the published ones."""

from __future__ import annotations

import polars as pl

from tokalign import charts
from tokalign.figures import Cell, Table, cells, count, number, share, valued, words
from tokalign.settings import Settings
from tokalign.tune import Choice
from tokalign.view import Figure, Section, View

_KEY = ("method", "p")


def curve(view: View) -> Section | None:
    """Fidelity over p, exact against published, for every k."""
    frame = view.pair.curve
    if frame.filter(pl.col("fidelity").is_not_null()).is_empty():
        return None
    figures = [_curve_figure(view, frame.filter(pl.col("k") == k), k) for k in sorted(set(frame["k"]))]
    k = view.pair.choice.k if view.pair.choice else int(frame["k"].min())  # type: ignore[arg-type]
    chosen = frame.filter(pl.col("k") == k)
    close = Figure(
        f"{view.id}-detail",
        f"k = {k} again, enlarged: the exact translation and the published one that comes closest; "
        f"the figures are in the table of k = {k}.",
        charts.fidelity_chart(chosen, detail=True),
        wide=True,
    )
    text = (
        "Fidelity is the share of the target’s own tokens inside the drafted text that a translation gets "
        "right when the draft is perfect (the corpus itself): what is missing to 100 % is lost by the "
        "translation, not by the models. Bars and bands are 95 % intervals, bootstrapped over documents; "
        "k is the number of draft tokens a round."
    )
    return Section(
        "curve", "Fidelity over the context length p", text, [*figures, close], [_side_conditions(chosen, k)]
    )


def _curve_figure(view: View, rows: pl.DataFrame, k: int) -> Figure:
    methods = [m for m in charts.METHODS if m in set(rows["method"])]
    found = {
        (m, p): (v, low, high)
        for m, p, v, low, high in rows.select(*_KEY, "fidelity", "low", "high").iter_rows()
    }
    ps: list[int | None] = sorted(rows["p"].drop_nulls().unique().to_list())
    empty = (None, None, None)
    body = [
        [
            Cell(f"p = {p}" if p is not None else "without p"),
            *(valued(*found.get((m, p), empty), "share") for m in methods),
        ]
        for p in [*ps, None]
    ]
    head = cells("", *(charts.METHODS[m] for m in methods))
    table = Table(f"Fidelity at k = {k} with 95 % intervals", head, body)
    level = [f"{charts.METHODS[m]} {share(found[m, None][0])}" for m in methods if (m, None) in found]
    caption = f"k = {k} draft tokens a round. Level lines: {'; '.join(level)}.{view.warning}"
    return Figure(f"{view.id}-k{k}", caption, charts.fidelity_chart(rows), table)


def _side_conditions(rows: pl.DataFrame, k: int) -> Table:
    """What else a translation does, at each method's best p."""
    best = rows.filter(pl.col("fidelity").is_not_null()).sort("fidelity", "p", descending=[True, False])
    best = best.unique("method", keep="first", maintain_order=True)
    body = [
        [
            Cell(setting(r["method"], r["p"])),
            valued(r["fidelity"], r["low"], r["high"], "share"),
            *(Cell(share(r[c])) for c in ("zero_candidate", "merged", "last_cut")),
            *(Cell(number(r[c], "")) for c in ("ceiling", "window", "host_us")),
            Cell(count(r["n_rounds"]), small=f"{count(r['n_documents'])} documents"),
        ]
        for r in sorted(best.iter_rows(named=True), key=lambda r: list(charts.METHODS).index(r["method"]))
    ]
    names = (
        "best of each translation",
        "fidelity",
        "rounds without a candidate",
        "merged across the committed end",
    )
    more = ("last candidate cut short", "ceiling, tokens a round", "window, tokens", "time, µs", "rounds")
    return Table(f"Each translation at its best p, k = {k}", cells(*names, *more), body)


def setting(method: str, p: int | None) -> str:
    """A way to translate in words."""
    label = charts.METHODS.get(method, "ids passed as they are")
    return (
        label.replace("p tokens", f"p = {p}")
        if "p tokens" in label
        else label + (f", p = {p}" if p is not None else "")
    )


def chosen(choice: Choice | Settings | None, same_vocabulary: bool) -> tuple[str, str]:
    """What to set and on what evidence, as a headline and a note."""
    if choice is None:
        return "No choice", "too little text"
    if same_vocabulary:
        return "No translation", "both models have the same vocabulary"
    window = "anchored at the word start" if choice.anchored else "a window of fixed length"
    best = choice.chosen
    reached = valued(best.fidelity, best.low, best.high, "share")
    return f"p = {choice.p}, {window}", f"fidelity {reached.text} ({reached.small}) at k = {choice.k}"


def choice_tables(choice: Choice | None) -> list[Table]:
    """The chosen setting against the others, and what each draft length can bring."""
    if choice is None or choice.n_rounds == 0:
        return []
    return [_settings_table(choice), _lengths_table(choice)]


def _settings_table(choice: Choice) -> Table:
    named = {
        "chosen": choice.chosen,
        "runner-up": choice.runner_up,
        "published, by length": choice.by_length,
        "published, by count": choice.by_count,
        "published, naive": choice.naive,
    }
    rows = [
        [
            Cell(name),
            words(setting(s.method, s.p).removeprefix("published, ")),
            valued(s.fidelity, s.low, s.high, "share"),
        ]
        for name, s in named.items()
    ]
    gain = valued(choice.anchored_gain.value, choice.anchored_gain.low, choice.anchored_gain.high, "share")
    rows.append([Cell("anchored minus fixed, points"), words(f"p = {choice.p}"), gain])
    rested = f"{count(choice.n_rounds)} rounds in {count(choice.n_documents)} documents"
    head = [Cell(""), Cell("setting", words=True), Cell("fidelity")]
    return Table(f"The evidence at k = {choice.k}: {rested}. Rule: {choice.rule}", head, rows)


def _lengths_table(choice: Choice) -> Table:
    rows = [
        [Cell(f"k = {n.k}"), Cell(number(n.ceiling, "")), valued(n.fidelity, n.low, n.high, "share")]
        for n in choice.lengths
    ]
    head = cells("draft tokens a round", "ceiling, target tokens a round", "fidelity")
    return Table("What a draft of k tokens can bring; which k pays depends on the machine", head, rows)
