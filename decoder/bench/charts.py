"""Chart specifications of the bench's page: figures in, Vega-Lite dictionaries out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from decoder.bench.alignment import Point
from decoder.bench.published import CELLS, Cell
from decoder.bench.rows import LOSSES

Spec = dict[str, Any]
Summary = Sequence[Mapping[str, Any]]

MEASURES = {
    "tokens_per_pass": "tokens per target pass",
    "acceptance": "accepted, of proposed",
    "speedup": "speed over plain decoding",
    "joules_per_token": "joules a token",
}
LOSS_NAMES = {
    "translation": "lost in translation",
    "cut": "cut by the draft’s end",
    "context": "draft behind another text",
    "disagreement": "models disagree",
    "unknown": "run ended",
}
_ROW, _SERIES = 24, 9  # pixels of a line, and of every series in it
MAX_ROWS = 5_000


def explorer(summary: Summary, by_group: Summary) -> Spec:
    """Every measure by translation and draft; what is shown is chosen in the page."""
    values = []
    for cell in (*summary, *by_group):
        for name, title in MEASURES.items():
            if cell[name] is not None:
                values.append(
                    {"measure": title, "group": cell.get("group", "all"), "k": str(cell["k"])}
                    | {"draft": cell["draft"], "translation": cell["translation"] or "from the text"}
                    | _interval(cell, name)
                )
    orders = {name: list(dict.fromkeys(v[name] for v in values)) for name in ("measure", "group", "k")}
    chosen = {"measure": orders["measure"][:1], "group": ["all"], "k": [str(_usual(summary))]}
    params = [
        alt.param(
            name=f"shown_{name}", value=chosen[name][0], bind=alt.binding_select(options=o, name=f"{name} ")
        )
        for name, o in orders.items()
        if o
    ]
    chart = _dots(values, "translation", "draft", "")
    for name, o in orders.items():
        if o:
            chart = chart.transform_filter(f"datum.{name} == shown_{name}")
    return _spec(chart.add_params(*params), values, "Every measure by translation and draft")


def published_chart(summary: Summary, k: int, counted: Mapping[str, str]) -> Spec:
    """Acceptance by draft: ours under the published translation and the exact one, and the study's."""
    values = []
    for cell in summary:
        kinds = {
            counted.get(cell["draft"]): "measured here, published translation",
            "anchored": "measured here, exact",
        }
        kind = kinds.get(cell["translation"])
        if kind and cell["k"] == k and cell["acceptance"] is not None:
            values.append({"draft": cell["draft"], "source": kind} | _interval(cell, "acceptance"))
    for c in CELLS:
        if c.measure == "acceptance" and c.k == k and c.translation != "naive":
            values.append({"draft": f"{c.draft} ({c.corpus})", "source": "published"} | _point(c))
    return _spec(
        _dots(values, "draft", "source", "accepted, of proposed"), values, "Acceptance beside the study’s"
    )


def losses_chart(cells: Summary) -> Spec:
    """Bars of 100 %: why tokens were lost, a bar a draft and translation."""
    values: list[dict[str, Any]] = [
        {"cell": f"{c['draft']}, {c['translation']}", "class": LOSS_NAMES[kind], "place": n}
        | {"share": round(c[f"lost_{kind}"], 5), "lost": c["lost_tokens"]}
        for c in cells
        for n, kind in enumerate(LOSSES)
        if c[f"lost_{kind}"] is not None
    ]
    chart = (
        alt.Chart()
        .mark_bar()
        .encode(
            x=alt.X("share:Q").title("share of the lost tokens").axis(format="%").scale(domain=[0, 1]),
            y=alt.Y("cell:N").title(None).sort(list(dict.fromkeys(v["cell"] for v in values))),
            color=_colour("class", list(LOSS_NAMES.values())),
            order=alt.Order("place:Q"),
            tooltip=["cell:N", "class:N", alt.Tooltip("share:Q", format=".1%"), "lost:Q"],
        )
        .properties(height=alt.Step(_ROW))
    )
    return _spec(chart, values, "Why tokens were lost")


def alignment_chart(found: Mapping[str, Sequence[Point]]) -> Spec:
    """Loss against the agreement of boundaries, a panel a kind of loss."""
    values: list[dict[str, Any]] = [
        {"loss of": name, "draft": p.draft, "group": p.group, "agreement": round(p.agreement, 4)}
        | {"value": round(p.loss, 4)}
        for name, points in found.items()
        for p in points
    ]
    chart = (
        alt.Chart()
        .mark_point(filled=True, size=70)
        .encode(
            x=alt.X("agreement:Q").title("boundaries in common (Jaccard)").scale(zero=False, nice=True),
            y=alt.Y("value:Q").title("tokens per pass lost"),
            color=_colour("draft", list(dict.fromkeys(v["draft"] for v in values))),
            shape=alt.Shape("loss of:N").title(None).legend(orient="top", direction="vertical", labelLimit=400),
            tooltip=["draft:N", "group:N", "loss of:N", "agreement:Q", "value:Q"],
        )
        .properties(height=300)
    )
    return _spec(chart, values, "Loss against agreement of boundaries")


def _dots(values: Sequence[Mapping[str, Any]], y: str, series: str, title: str) -> alt.LayerChart:
    """A dot with its interval for every category and series."""
    domain = list(dict.fromkeys(v[series] for v in values))
    where = alt.Y(f"{y}:N").title(None).sort(list(dict.fromkeys(v[y] for v in values))).axis(grid=True)
    offset = alt.YOffset(f"{series}:N").scale(domain=domain)
    form = "%" if title.startswith("accepted") else "~g"
    dots = (
        alt.Chart()
        .mark_point(filled=True, size=60)
        .encode(
            x=alt.X("value:Q").title(title or None).axis(format=form).scale(zero=True),
            shape=alt.Shape(f"{series}:N").scale(domain=domain).legend(None),
            tooltip=[f"{y}:N", f"{series}:N", "value:Q", "low:Q", "high:Q"],
        )
    )
    rules = alt.Chart().transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2)
    layers = alt.layer(rules.encode(x=alt.X("low:Q").title(title or None), x2="high:Q"), dots)
    return layers.encode(y=where, yOffset=offset, color=_colour(series, domain)).properties(
        height=alt.Step(max(_ROW, _SERIES * len(domain)), **{"for": "position"})
    )


def _colour(field: str, domain: Sequence[str]) -> alt.Color:
    legend = alt.Legend(title=None, orient="top", direction="vertical", labelLimit=400)
    return alt.Color(f"{field}:N").scale(domain=list(domain)).legend(legend)


def _interval(cell: Mapping[str, Any], name: str) -> dict[str, float | None]:
    ends = {"value": cell[name], "low": cell[f"{name}_low"], "high": cell[f"{name}_high"]}
    return {end: None if v is None else round(v, 4) for end, v in ends.items()}


def _point(cell: Cell) -> dict[str, float | None]:
    return {"value": cell.value, "low": cell.value if cell.high else None, "high": cell.high}


def _usual(summary: Summary) -> int:
    ks = sorted({cell["k"] for cell in summary})
    return min(ks, key=lambda k: (abs(k - 4), k), default=4)


def _spec(chart: Any, values: Sequence[Mapping[str, Any]], description: str) -> Spec:
    """The chart with its data inside, as wide as its box."""
    if len(values) > MAX_ROWS:
        raise ValueError(f"{len(values)} values are too many for a chart")
    whole = chart.properties(data=alt.Data(values=list(values)), width="container", description=description)
    found: Spec = {k: v for k, v in whole.to_dict().items() if k not in ("$schema", "config")}
    return found
