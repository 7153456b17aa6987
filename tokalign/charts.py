"""Chart specifications: small frames in, Vega-Lite dictionaries out, and nothing else.

A specification carries no colours, fonts or sizes of type: the page gives those when it draws, so that one
specification serves light and dark. Every chart is as wide as the box it stands in. Rows whose value is
missing are left out of the drawing; the table beside it shows them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import altair as alt
import polars as pl

from tokalign.errors import TokalignError

Spec = dict[str, Any]

METHODS: Mapping[str, str] = MappingProxyType(
    {
        "exact": "exact, p tokens",
        "anchored": "exact, from the word start",
        "length": "published, by prefix length",
        "counted": "published, by token count",
        "naive": "published, text round trip",
    }
)
"""The translations as reports name them."""

CLOSE = ("exact", "anchored", "length")
MAX_ROWS = 5_000
_STEP = 26  # pixels of a line
_LEAST = 0.01  # the end of an axis on which everything is zero
_PERCENT = ".3~%"
_LEVEL_LABELS = alt.Axis(labelAngle=0, labelOverlap="greedy", grid=False)
_LOW = alt.Y("low:Q")


def fidelity_chart(curve: pl.DataFrame, detail: bool = False) -> Spec:
    """Fidelity over p for one draft length, every method with its interval.

    Columns: method (a key of ``METHODS``), p (null for a method without one: drawn as a level line),
    fidelity, low, high. ``detail`` keeps the methods of ``CLOSE`` and enlarges the range they lie in.
    """
    rows = _drawable(curve.rename({"fidelity": "value"}), ["method", "p"])
    rows = rows.filter(pl.col("method").is_in(CLOSE if detail else list(METHODS)))
    methods = [m for m in METHODS if m in set(rows["method"])]
    scale = alt.Scale(zero=False, nice=True) if detail else alt.Scale(domain=[0, 1])
    y = alt.Y("value:Q").title("fidelity").axis(format=".2~%", tickCount=5).scale(scale)
    moving, level = (
        alt.Chart().transform_filter("isValid(datum.p)"),
        alt.Chart().transform_filter("!isValid(datum.p)"),
    )
    ticks = rows["p"].drop_nulls().unique().sort().to_list()
    axis = alt.Axis(values=ticks, format="d", grid=False, labelOverlap=True)
    x = alt.X("p:Q").title("p, committed tokens in the window").axis(axis)
    layers = [
        _with_interval(level).mark_rect(opacity=0.16).encode(y=_LOW, y2="high:Q"),
        _with_interval(moving).mark_rule(strokeWidth=2).encode(x=x, y=_LOW, y2="high:Q"),
        moving.mark_line(strokeWidth=1.5).encode(x=x, y=y),
        moving.mark_point(filled=True, size=35).encode(x=x, y=y, shape=_shape("label", _labels(methods))),
        level.mark_rule(strokeWidth=2, strokeDash=[6, 4]).encode(y=y),
    ]
    named = {"label": "translation", "p": "p"}
    spec = _spec(rows, layers, named, ("label", _labels(methods)), "Fidelity over p", 250)
    names = ", ".join(f"{m}: '{METHODS[m]}'" for m in methods)
    spec["transform"].append({"calculate": f"({{{names}}})[datum.method]", "as": "label"})
    return spec


def dot_chart(rows: pl.DataFrame, measure: str, whole: bool = False) -> Spec:
    """One line per category, one dot with its interval per series.

    Columns: category, series, value, low, high, n, in the order in which they are to be shown. ``measure``
    names the value, a share; ``whole`` draws the axis from 0 to 100 %.
    """
    categories, series = (rows[c].unique(maintain_order=True).to_list() for c in ("category", "series"))
    y = (
        alt.Y("category:N")
        .title(None)
        .scale(domain=categories)
        .axis(ticks=False, domain=False, grid=True, labelPadding=8)
    )
    offset = alt.YOffset("series:N").scale(domain=series)
    drawn = _drawable(rows, ["category", "series", "n"])
    reach = max([*drawn["value"].to_list(), *drawn["high"].drop_nulls().to_list()], default=0) or _LEAST
    scale = alt.Scale(domain=[0, 1]) if whole else alt.Scale(domain=[0, reach], nice=True)
    x = alt.X("value:Q").title(measure).axis(format=".2~%", tickCount=5).scale(scale)
    layers = [
        _with_interval(alt.Chart())
        .mark_rule(strokeWidth=2)
        .encode(y=y, yOffset=offset, x=alt.X("low:Q"), x2="high:Q"),
        alt.Chart()
        .mark_point(filled=True, size=50)
        .encode(y=y, yOffset=offset, x=x, shape=_shape("series", series)),
    ]
    height = max(1, len(categories)) * (_STEP if len(series) > 1 else _STEP - 4)
    return _spec(drawn, layers, _NAMED, ("series", series), f"{measure}, by category", height)


def trend_chart(rows: pl.DataFrame, measure: str, axis: str) -> Spec:
    """A share over ordered categories: a line per series with its intervals.

    Columns as for :func:`dot_chart`.
    """
    categories, series = (rows[c].unique(maintain_order=True).to_list() for c in ("category", "series"))
    x = alt.X("category:N").title(axis).scale(domain=categories).axis(_LEVEL_LABELS)
    y = alt.Y("value:Q").title(measure).axis(format="%", tickCount=5).scale(domain=[0, 1])
    layers = [
        _with_interval(alt.Chart()).mark_rule(strokeWidth=2).encode(x=x, y=_LOW, y2="high:Q"),
        alt.Chart().mark_line(strokeWidth=1.5).encode(x=x, y=y),
        alt.Chart().mark_point(filled=True, size=45).encode(x=x, y=y, shape=_shape("series", series)),
    ]
    drawn = _drawable(rows, ["category", "series", "n"])
    return _spec(drawn, layers, _NAMED, ("series", series), f"{measure}, over {axis}", 240)


_NAMED = {"category": "for", "series": "of", "n": "n"}


def _labels(methods: Sequence[str]) -> list[str]:
    return [METHODS[m] for m in methods]


def _drawable(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The keys, value and interval of the rows that have a value.

    Raises:
        TokalignError: more rows than a page can draw.
    """
    found = rows.filter(pl.col("value").is_not_null())
    if found.height > MAX_ROWS:
        raise TokalignError(f"a chart has {found.height:,} rows, over {MAX_ROWS:,}; draw a summary of them.")
    return found.select(*keys, *(pl.col(c).cast(pl.Float64).round(5) for c in ("value", "low", "high")))


def _with_interval(chart: alt.Chart) -> alt.Chart:
    """Only the rows that have an interval: a missing one is not drawn, rather than drawn at zero."""
    return chart.transform_filter("isValid(datum.low) && isValid(datum.high)")


def _legend(domain: Sequence[str]) -> alt.Legend | None:
    """One series alone needs no legend."""
    several = len(domain) > 1
    return alt.Legend(title=None, orient="top", direction="vertical", labelLimit=300) if several else None


def _shape(field: str, domain: Sequence[str]) -> alt.Shape:
    """A shape beside each colour, for readers who cannot tell the colours apart."""
    return alt.Shape(f"{field}:N").scale(domain=list(domain)).legend(_legend(domain))


def _spec(
    rows: pl.DataFrame,
    layers: Sequence[alt.Chart],
    named: Mapping[str, str],
    colour: tuple[str, Sequence[str]],
    description: str,
    height: int,
) -> Spec:
    """Put layers over one another. ``named``: columns that a tooltip shows, with their titles; ``colour``:
    the column of the series and its values."""
    field, domain = colour
    shown = dict(named) | {"shown": "value", "interval": "95 %"}
    chart = alt.LayerChart(
        data=alt.Data(values=rows.to_dicts(), name="rows"),
        layer=list(layers),
        encoding=alt.SharedEncoding(
            color=alt.Color(f"{field}:N").scale(domain=list(domain)).legend(_legend(domain)),  # type: ignore[arg-type]
            tooltip=[alt.Tooltip(f"{column}:N", title=title) for column, title in shown.items()],
        ),
        width="container",
        height=height,
        description=description,
    )
    spec: Spec = {k: v for k, v in chart.to_dict(validate=False).items() if k not in ("$schema", "config")}
    low, high = (f"format(datum.{c}, '{_PERCENT}')" for c in ("low", "high"))
    spec["transform"] = [
        {"calculate": f"format(datum.value, '{_PERCENT}')", "as": "shown"},
        {"calculate": f"isValid(datum.low) ? {low} + ' – ' + {high} : '—'", "as": "interval"},
    ]
    return spec
