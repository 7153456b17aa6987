"""``decoder check``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from decoder.cli import options
from decoder.cli.output import echo_json, out

if TYPE_CHECKING:
    from decoder.compatibility import Compatibility, Side


@click.command(
    short_help="Say whether a target and a draft can work together.",
    epilog="\b\nExamples:\n  decoder check bielik-11b qwen2.5-1.5b\n"
    "  decoder check ./cel-mlx ./szkic-mlx --json",
)
@click.argument("target")
@click.argument("draft")
@options.as_json
@click.pass_context
def check(context: click.Context, target: str, draft: str, as_json: bool) -> None:
    """Say whether and how DRAFT can draft for TARGET: vocabularies, special tokens, chat templates, caches.

    The verdict comes first. The exit code is 1 where the pair cannot work. The weights are not read.
    """
    from decoder.compatibility import compatibility
    from decoder.models import load_model

    pair = [load_model(name, role, lazy=True) for name, role in ((target, "target"), (draft, "draft"))]
    found = compatibility(*pair)
    if as_json:
        echo_json(found.as_dict())
    else:
        _print(found)
    if not found.works:
        context.exit(1)


def _print(found: Compatibility) -> None:
    from rich.table import Table

    console = out()
    console.print(found.verdict, soft_wrap=True)
    for problem in found.problems[1:]:
        console.print(f"Also: {problem}.", soft_wrap=True)
    for note in found.notes:
        console.print(f"Note: {note}.", soft_wrap=True)
    console.print()
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("", "target", "draft"):
        table.add_column(title, overflow="fold")
    for (name, of_target), (_, of_draft) in zip(_rows(found.target), _rows(found.draft), strict=True):
        table.add_row(name, of_target, of_draft)
    console.print(table)
    if found.first_difference is not None:
        first = found.first_difference
        console.print()
        console.print(
            f"The first id that differs is {first.id}: {_bytes(first.target)} in the target, "
            f"{_bytes(first.draft)} in the draft.",
            soft_wrap=True,
        )


def _rows(side: Side) -> list[tuple[str, str]]:
    doubled = {True: "yes; <s> would double if encoded as text", False: "yes", None: "yes, but it fails"}
    return [
        ("model", side.name),
        ("fingerprint", side.fingerprint[:12]),
        ("vocabulary", f"{side.family}, {side.ids:,} ids"),
        ("rows", f"{side.rows:,} ({side.padding:,} padding)"),
        ("dummy prefix", "yes" if side.dummy_prefix else "no"),
        ("begin", _spelled(side.bos)),
        ("end", _spelled(side.eos)),
        ("chat template", doubled[side.doubled_bos] if side.chat_template else "no"),
        ("caches", _counted(side.caches)),
        ("not trimmable", _counted(side.untrimmable) if side.untrimmable else "none"),
    ]


def _spelled(ids: Mapping[int, str]) -> str:
    return ", ".join(f"{spelling} {i}" for i, spelling in ids.items()) or "—"


def _counted(kinds: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} × {n}" for kind, n in kinds.items())


def _bytes(data: bytes | None) -> str:
    if data is None:
        return "no text"
    try:
        return repr(data.decode())
    except UnicodeDecodeError:
        return "·".join(f"{b:02X}" for b in data)
