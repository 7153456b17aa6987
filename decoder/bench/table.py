"""The bench's summary as lines of a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

NONE = "—"


def summary_table(summary: Sequence[Mapping[str, Any]]) -> Table:
    """A line a cell of the grid. What is lost in translation is a share of the lost tokens."""
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("draft", "translation", "k"):
        table.add_column(title, justify="right" if title == "k" else "left", no_wrap=True)
    for title in ("tokens per pass", "accepted", "lost in translation", "speed", "identical"):
        table.add_column(title, justify="right", no_wrap=True)
    for cell in summary:
        table.add_row(
            cell["draft"],
            cell["translation"] or NONE,
            str(cell["k"]),
            interval(cell, "tokens_per_pass", "{:.2f}"),
            percent(cell["acceptance"]),
            percent(
                cell["lost_translation"] if cell["lost_tokens"] is not None else cell["lost_in_translation"]
            ),
            interval(cell, "speedup", "{:.2f}×"),
            f"{cell['identical']}/{cell['prompts']}",
        )
    return table


def interval(cell: Mapping[str, Any], name: str, form: str) -> str:
    """A value with its interval, a dash where there is none."""
    if cell[name] is None:
        return NONE
    value = form.format(cell[name])
    if cell[f"{name}_low"] is None:
        return value
    low, high = (form.rstrip("×").format(cell[f"{name}_{end}"]) for end in ("low", "high"))
    return f"{value} ({low}–{high})"


def percent(value: float | None) -> str:
    """A share."""
    return NONE if value is None else f"{100 * value:.1f} %"


def difference_lines(different: Sequence[Mapping[str, Any]], most: int = 10) -> list[str]:
    """Where runs first differ from plain decoding, the first ``most`` of them."""
    lines = []
    for d in different[:most]:
        gap = "unknown" if d["top2_gap"] is None else f"{d['top2_gap']:.4g}"
        lines.append(
            f"{d['draft']} {d['translation']} k={d['k']}, {d['prompt']}: token {d['diverges_at']} differs, "
            f"gap of the two best logits {gap}"
        )
    if len(different) > most:
        lines.append(f"and {len(different) - most} more")
    return lines
