"""The table of one run, for `generate --stats` and `/stats` in a chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decoder.cli.output import err

if TYPE_CHECKING:
    from decoder.generation import GenerationResponse
    from decoder.stats import Stats


def print_stats(last: GenerationResponse, stats: Stats) -> None:
    """Print the table of a run on standard error."""
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    for name, value in _rows(last, stats):
        table.add_row(name, value)
    err().print(table)


def _rows(last: GenerationResponse, stats: Stats) -> list[tuple[str, str]]:
    def share(part: int) -> str:
        return f"{part:,}" + (f" ({part / stats.proposed:.1%})" if stats.proposed else "")

    def each(value: float | None, form: str) -> str:
        return "—" if value is None else format(value, form)

    return [
        ("tokens", f"{stats.tokens:,}"),
        ("target passes (rounds)", f"{stats.rounds:,}"),
        ("tokens per target pass", each(stats.tokens_per_pass, ".2f")),
        ("draft tokens", f"{stats.drafted:,}"),
        ("proposed", f"{stats.proposed:,}"),
        ("accepted", share(stats.accepted)),
        ("acceptance", each(stats.acceptance, ".1%")),
        ("lost to translation", share(stats.refused_in_translation)),
        ("lost to model disagreement", share(stats.refused_by_disagreement)),
        ("lost, cause unknown", share(stats.refused_unknown)),
        ("rounds without a candidate", f"{stats.empty_rounds:,}"),
        ("merges across the committed end", f"{stats.merges:,}"),
        ("drafts that ended inside a letter", f"{stats.split_letters:,}"),
        ("time in draft", f"{stats.draft_s:.3f} s"),
        ("time in translation", f"{stats.translate_s:.3f} s"),
        ("time in verification", f"{stats.verify_s:.3f} s"),
        ("time in host", f"{stats.host_s:.3f} s"),
        ("tokens per second", each(last.generation_tps or None, ".1f")),
    ]
