"""The README's section of results, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from decoder.bench.grouping import family
from decoder.bench.table import NONE, interval

COLUMNS = (
    ("naive", "text round trip (naive)"),
    ("counted", "by token count{p}"),
    ("length", "by length{p}: the published method"),
    ("anchored no-heal", "exact, without healing"),
    ("anchored", "exact, with healing"),
)


def markdown(figures: Mapping[str, Any], about: Mapping[str, Any] | None = None) -> str:
    """The section between the markers: a table, what it rests on, and what others measured."""
    about = about or {}
    cells = {(c["draft"], family(c["translation"])): c for c in figures["summary"] if c["k"] == figures["k"]}
    order = [*about.get("drafts", {}), *dict.fromkeys(d for d, _ in cells)]
    drafts = [d for d in dict.fromkeys(order) if d != "lookup" and any(draft == d for draft, _ in cells)]
    columns = [(kind, title) for kind, title in COLUMNS if any((d, kind) in cells for d in drafts)]
    names = {d: about.get("drafts", {}).get(d, _plain_name(d, figures)) for d in drafts}
    lines = [f"Tokens per target pass at k = {figures['k']}, with 95 % intervals (plain decoding is 1):", ""]
    lines += _table(
        ["draft's vocabulary", *(_title(title, kind, figures) for kind, title in columns), "prompts"],
        [
            [
                names[d],
                *(_passes(cells.get((d, kind))) for kind, _ in columns),
                str(max(c["prompts"] for (draft, _), c in cells.items() if draft == d)),
            ]
            for d in drafts
        ],
    )
    lines += ["", *_paragraphs(figures, about), *_by_k(figures, names), *_beside(figures, about, names, cells)]
    lines += ["", about.get("more", "")]
    return "\n".join(lines).rstrip() + "\n"


def _paragraphs(figures: Mapping[str, Any], about: Mapping[str, Any]) -> Iterator[str]:
    yield " ".join(s for s in (about.get("models"), _basis(figures)) if s)
    for answer in figures["answers"][:1]:
        yield from ("", f"**{answer['question']}** {answer['sentences'][0]}")


def _by_k(figures: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[str]:
    """Tokens per pass at every k that was measured: the exact translation, and the published one under it."""
    ks = sorted({c["k"] for c in figures["summary"]})
    kinds = [kind for kind in ("anchored", figures["published"]) if kind]
    cells = {(c["draft"], family(c["translation"]), c["k"]): c for c in figures["summary"]}
    if len(ks) < 2:
        return
    yield from ("", "By draft length: exact with healing / the published method.", "")
    rows = [
        [name, *(" / ".join(_figure(cells.get((d, kind, k))) for kind in kinds) for k in ks)]
        for d, name in names.items()
    ]
    yield from _table(["draft's vocabulary", *(f"k = {k}" for k in ks)], rows)


def _plain_name(draft: str, figures: Mapping[str, Any]) -> str:
    return draft if draft in figures["crossing"] else f"{draft} (same vocabulary)"


def _title(title: str, kind: str, figures: Mapping[str, Any]) -> str:
    """The column's title with the window of the translation, where it has one."""
    name = next(c["translation"] for c in figures["summary"] if family(c["translation"]) == kind)
    window = name.partition(" ")[0].partition(":")[2]
    return title.format(p=f", p = {window}" if window else "")


def _basis(figures: Mapping[str, Any]) -> str:
    ours = [c for c in figures["summary"] if c["translation"] != "transformers"]
    same, runs = sum(c["identical"] for c in ours), sum(c["prompts"] for c in ours)
    said = [
        f"{figures['prompts']} prompts ({', '.join(figures['groups'])})",
        f"{figures['max_tokens']} tokens each" if figures["max_tokens"] else None,
        "float32" if figures["float32"] else None,
        figures["note"],
    ]
    return (
        f"Measured on {', '.join(s for s in said if s)}. The outputs of {same:,} of {runs:,} runs equal plain "
        f"decoding token for token{_apart(figures['different'])}."
    )


def _apart(different: Sequence[Mapping[str, Any]]) -> str:
    """Which run differed, or how close the two best logits were where several did."""
    gaps = [d["top2_gap"] for d in different if d["top2_gap"] is not None]
    if not gaps:
        return ""
    if len(different) > 1:
        return f"; where one differed, the two best logits were at most {max(gaps):.2g} apart"
    d = different[0]
    return (
        f"; the other one ({d['draft']}, {d['translation']}, {d['group']}) differs from token {d['diverges_at']} "
        f"on, where the two best logits are {gaps[0]:.2g} apart and verifying several tokens at once rounds "
        "differently from one at a time"
    )


def _beside(
    figures: Mapping[str, Any],
    about: Mapping[str, Any],
    names: Mapping[str, str],
    cells: Mapping[tuple[str, str], Mapping[str, Any]],
) -> Iterator[str]:
    """What was measured with others' code, beside the published method and the exact one here."""
    others = about.get("elsewhere", [])
    gains = figures.get("over_published", {})
    if not others and not gains:
        return
    kind = figures["published"]
    yield from ("", about.get("beside", ""), "")
    by = dict(COLUMNS)[kind].partition("{")[0]
    head = ["draft's vocabulary", f"{_title(by + '{p}', kind, figures)}, here"]
    rows = [[names[d], _figure(cells.get((d, kind)))] for d in names]
    for other in others:
        head.append(f"{other['name']}, {other['prompts']} other prompts")
        for d, row in zip(names, rows, strict=True):
            row.append(f"{v:.2f}" if (v := other["values"].get(d)) is not None else NONE)
    head.append(f"exact, with healing ÷ {by}, here")
    for d, row in zip(names, rows, strict=True):
        row.append(interval(gains[d], "value", "{:.2f}") if d in gains else NONE)
    yield from _table(head, rows)


def _figure(cell: Mapping[str, Any] | None) -> str:
    return NONE if cell is None else f"{cell['tokens_per_pass']:.2f}"


def _passes(cell: Mapping[str, Any] | None) -> str:
    return NONE if cell is None else interval(cell, "tokens_per_pass", "{:.2f}")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"|---|{'---:|' * (len(head) - 1)}",
        *(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows),
    ]
