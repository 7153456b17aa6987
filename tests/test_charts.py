"""Chart specifications: two of them by golden file, all of them by drawing them.

To write the golden files anew: TOKALIGN_GOLDEN=write pytest tests/test_charts.py
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import polars as pl
import pytest
import vl_convert

from tokalign import charts
from tokalign.errors import TokalignError

GOLDEN = Path(__file__).parent / "golden"
CURVE = pl.DataFrame(
    [
        ("anchored", None, 0.991, 0.985, 0.997),
        ("exact", 0, 0.991, 0.985, 0.997),
        ("exact", 4, 0.991, 0.985, 0.997),
        ("length", 1, 0.94, 0.92, 0.96),
        ("length", 4, 0.991, 0.985, 0.997),
        ("counted", 4, 0.45, 0.42, 0.49),
        ("counted", 8, None, None, None),
        ("naive", None, 0.3, None, None),
    ],
    schema=["method", "p", "fidelity", "low", "high"],
    orient="row",
)
ROWS = pl.DataFrame(
    [
        ("ź", "target a", 0.0, 0.0, 0.0, 120),
        ("ź", "draft b", 0.25, 0.2, 0.31, 120),
        ("ż", "target a", 0.01, None, None, 40),
        ("ż", "draft b", None, None, None, None),
    ],
    schema=["category", "series", "value", "low", "high", "n"],
    orient="row",
)


def drawn(spec: charts.Spec) -> str:
    return vl_convert.vegalite_to_svg(spec | {"width": 400})


@pytest.mark.parametrize(
    ("name", "spec"),
    [("fidelity", charts.fidelity_chart(CURVE)), ("letters", charts.dot_chart(ROWS, "letters cut inside"))],
)
def test_golden(name: str, spec: charts.Spec) -> None:
    path = GOLDEN / f"{name}.vl.json"
    text = json.dumps(spec, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if os.environ.get("TOKALIGN_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("spec", "texts"),
    [
        (charts.fidelity_chart(CURVE), [*charts.METHODS.values(), "fidelity"]),
        (charts.fidelity_chart(CURVE, detail=True), ["exact, p tokens", "published, by prefix length"]),
        (
            charts.dot_chart(ROWS, "letters cut inside"),
            ["letters cut inside", "target a", "draft b", "ź", "ż"],
        ),
        (charts.trend_chart(ROWS, "agreement", "word length"), ["agreement", "word length", "ź", "ż"]),
    ],
)
def test_every_chart_can_be_drawn(spec: charts.Spec, texts: list[str]) -> None:
    svg = drawn(spec)
    assert all(f">{text}<" in svg for text in texts)


def test_a_missing_value_is_not_drawn() -> None:
    values = charts.fidelity_chart(CURVE)["data"]["values"]
    assert {"method": "counted", "p": 8} not in [{k: v[k] for k in ("method", "p")} for v in values]
    assert len(values) == CURVE.height - 1
    assert len(charts.dot_chart(ROWS, "m")["data"]["values"]) == 3


def test_a_missing_interval_is_not_drawn_at_zero() -> None:
    alone = ROWS.filter(pl.col("low").is_null() & pl.col("value").is_not_null())
    svg = drawn(charts.dot_chart(alone, "m"))
    assert "—" in svg  # what hovering says of the interval
    assert "95 %: 0%" not in svg


def test_the_detail_leaves_out_the_far_methods() -> None:
    methods = {row["method"] for row in charts.fidelity_chart(CURVE, detail=True)["data"]["values"]}
    assert methods == {"exact", "anchored", "length"}


@pytest.mark.parametrize("value", [0.0, None])
def test_nothing_but_zeros_or_gaps_still_draws(value: float | None) -> None:
    rows = ROWS.with_columns(pl.lit(value, dtype=pl.Float64).alias(c) for c in ("value", "low", "high"))
    assert "<svg" in drawn(charts.dot_chart(rows, "m"))
    assert "<svg" in drawn(charts.trend_chart(rows, "m", "x"))


def test_one_series_needs_no_legend() -> None:
    one = ROWS.filter(series="target a")
    assert "target a" not in drawn(charts.trend_chart(one, "m", "x")).split("aria-label")[0]
    assert charts.dot_chart(one, "m")["encoding"]["color"]["legend"] is None


def test_colours_are_the_pages_own() -> None:
    for spec in (
        charts.fidelity_chart(CURVE),
        charts.dot_chart(ROWS, "m"),
        charts.trend_chart(ROWS, "m", "x"),
    ):
        assert "#" not in json.dumps(spec)
        assert not {"config", "$schema"} & set(spec)


def test_too_many_rows_are_refused_by_number() -> None:
    many = pl.concat([ROWS.head(1)] * (charts.MAX_ROWS + 1))
    with pytest.raises(TokalignError, match="5,001 rows"):
        charts.dot_chart(many, "m")
