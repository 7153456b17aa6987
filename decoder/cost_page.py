"""The cost table as one self-contained page: a chart of speed over acceptance, and every figure in a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from decoder.cost_table import CostTable
from tokalign.files import write_text

MODELS = {"measured": "from the profile", "study": "the study's formula"}


def write_page(tables: Sequence[CostTable], path: Path) -> None:
    """Write the page, whole or not at all. Raises OSError."""
    write_text(path, page(tables))


def page(tables: Sequence[CostTable]) -> str:
    """The page's text. Names from profiles are escaped; the specifications cannot end their script."""
    parts = [_section(table, n) for n, table in enumerate(tables)]
    script = bundle().replace("</script", "<\\/script")
    title = f"What speculation brings on this machine: {tables[0].target}" if tables else "No draft"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_CSS}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        + "\n".join(parts)
        + f"\n<script>{script}</script>\n<script>{_DRAW}</script>\n</body>\n</html>\n"
    )


def chart(table: CostTable) -> dict[str, Any]:
    """Vega-Lite: speed over plain decoding against the chance a candidate, a colour a k, a dash a model."""
    values = [
        {"k": row.k, "acceptance": s.acceptance, "speed": round(getattr(s, model), 4), "model": name}
        for row in table.rows
        for s in row.speeds
        for model, name in MODELS.items()
    ]
    base = alt.Chart(alt.Data(values=values))
    lines = base.mark_line(point=True).encode(
        x=alt.X("acceptance:Q").title("chance that a candidate is right").axis(format="%"),
        y=alt.Y("speed:Q").title("speed over plain decoding"),
        color=alt.Color("k:O").title("k"),
        strokeDash=alt.StrokeDash("model:N").title(None).scale(domain=list(MODELS.values())),
        tooltip=["k:O", "acceptance:Q", "speed:Q", "model:N"],
    )
    level = alt.Chart(alt.Data(values=[{"speed": 1}])).mark_rule(strokeDash=[2, 3]).encode(y="speed:Q")
    found: dict[str, Any] = alt.layer(lines, level).properties(width="container", height=320).to_dict()
    return found


def bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script."""
    wanted = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    version = wanted if wanted in vl_convert.get_vegalite_versions() else None
    return vl_convert.javascript_bundle(vl_version=version)  # type: ignore[call-arg]  # snippet is optional


def _section(table: CostTable, n: int) -> str:
    spec = json.dumps(chart(table), ensure_ascii=False).replace("<", "\\u003c")
    heads = ["k", "round, plain steps", "break-even", "as share accepted", "the study's"]
    heads += [f"{s.acceptance:.0%}" for s in table.rows[0].speeds]
    body = [
        [str(r.k), f"{r.cost:.2f}", *map(percent, (r.break_even, r.break_even_share, r.study_break_even_share))]
        + [f"{s.measured:.2f}" for s in r.speeds]
        for r in table.rows
    ]
    cells = "".join(f"<th>{escape(h)}</th>" for h in heads)
    rows = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in line) + "</tr>\n" for line in body)
    return (
        f"<h2>{escape(table.draft)} drafts for {escape(table.target)}</h2>\n"
        f"<p>{escape(summary(table))}</p>\n"
        f'<div class="plot" id="plot-{n}"></div>\n'
        f'<script type="application/json" data-plot="plot-{n}">{spec}</script>\n'
        f'<div class="scroll"><table>\n<thead><tr>{cells}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n'
    )


def summary(table: CostTable) -> str:
    """What the figures rest on, in sentences."""
    s = table.study
    text = f"Costs are {table.source}. "
    if table.unmeasured:
        text += f"Not in them: {' and '.join(table.unmeasured)}. "
    betas = [s.betas[k] for k in s.betas]
    return text + (
        f"The study's formula fits with r = {s.r:.3f} and β = {s.beta:.3f}, with an error of {s.rmse:.2f} "
        f"plain steps (at worst {abs(s.worst):.2f}); each k alone would need β from {min(betas):.3f} to "
        f"{max(betas):.3f}."
    )


def percent(value: float | None) -> str:
    """A share, or that none is enough."""
    return "never" if value is None else f"{value:.0%}"


_CSS = (
    ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;"
    "padding:0 1rem}.scroll{overflow-x:auto}.plot{width:100%;background:#fff}table{border-collapse:collapse}"
    "th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid #8886;white-space:nowrap}"
)
_DRAW = (
    "document.querySelectorAll('[data-plot]').forEach(function(s){"
    "vegaEmbed('#'+s.dataset.plot,JSON.parse(s.textContent),{actions:false,renderer:'svg'});});"
)
