"""``tokalign inspect``."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from tokalign.cli import options
from tokalign.cli.output import echo_json, notify, out
from tokalign.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from tokalign.passages import Stretch, Token
    from tokalign.tokenizers import Segmentation, Tokenizer

_BLOCK = 400  # bytes
_COLOURS = ("cyan", "magenta")


@click.command(
    short_help="Show two segmentations of a text, aligned.",
    epilog="\b\nExamples:\n"
    '  tokalign inspect bielik-11b qwen2.5-1.5b "w źdźble żółw"\n'
    '  tokalign inspect bielik-11b llama3.2-1b --ids "Źródło"\n'
    "  tokalign inspect bielik-11b qwen2.5-1.5b - < zdanie.txt",
)
@click.argument("target")
@click.argument("draft")
@click.argument("text")
@click.option("--ids", is_flag=True, help="Show the id of every token under it.")
@options.offline
@options.as_json
def inspect(target: str, draft: str, text: str, ids: bool, offline: bool, as_json: bool) -> None:
    """Show how TARGET and DRAFT cut TEXT, one under the other, aligned where both have a boundary.

    TEXT is one argument, or - for standard input. ␣ is a space; a letter that is split between tokens is
    shown as the bytes that each of them holds, such as C5·BA; n:m counts the tokens of a stretch where they
    differ.
    """
    from tokalign.job import tokenizer_notices
    from tokalign.tokenizers import load

    text = _standard_input() if text == "-" else text
    if not text:
        raise UsageError("the text is empty; give at least one character.")
    pair = [load(name, offline=offline) for name in (target, draft)]
    for notice in dict.fromkeys(tokenizer_notices(pair)):
        notify(notice)
    found = [t.segment(text) for t in pair]
    if as_json:
        echo_json(_json(text, pair, found))
        return
    _print(pair, found, _stretches(text.encode(), [s.ends.tolist() for s in found]), ids)


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is no UTF-8 text (byte {error.start}); convert it first.") from None


def _stretches(data: bytes, ends: Sequence[list[int]]) -> Iterator[Stretch]:
    """The stretches of a text of any length, aligned block by block so that the time grows with the length
    alone.

    A block ends at a shared boundary that lies between two characters.
    """
    from tokalign.passages import aligned

    begin, at = 0, [0, 0]
    shared = sorted(set(ends[0]) & set(ends[1]) - {0})
    for cut in shared:
        between = cut == len(data) or data[cut] & 0xC0 != 0x80
        if cut != len(data) and (cut - begin < _BLOCK or not between):
            continue
        upto = [bisect_right(side, cut) for side in ends]
        parts = [[e - begin for e in side[i:j]] for side, i, j in zip(ends, at, upto, strict=True)]
        yield from aligned(data[begin:cut].decode(), *parts)
        begin, at = cut, upto


def _json(text: str, pair: Sequence[Tokenizer], found: Sequence[Segmentation]) -> dict[str, Any]:
    sides: dict[str, Any] = {}
    for role, tokenizer, segmentation in zip(("target", "draft"), pair, found, strict=True):
        ends, data = segmentation.ends.tolist(), text.encode()
        tokens = [data[start:end].hex() for start, end in zip([0, *ends], ends, strict=False)]
        sides[role] = {
            "name": tokenizer.name,
            "label": tokenizer.label,
            "provisional": tokenizer.source.provisional,
            "ids": segmentation.ids.tolist(),
            "ends": ends,
            "hex": tokens,
        }
    shared = sorted(set(sides["target"]["ends"]) & set(sides["draft"]["ends"]) - {0})
    return {"text": text, **sides, "shared": shared}


def _print(
    pair: Sequence[Tokenizer], found: Sequence[Segmentation], stretches: Iterable[Stretch], ids: bool
) -> None:
    from rich.text import Text

    console = out()
    for role, tokenizer, segmentation in zip(("target", "draft"), pair, found, strict=True):
        label = Text.assemble((f"{role:7}", "bold"), f"{tokenizer.label}, {len(segmentation.ids):,} tokens")
        console.print(label, soft_wrap=True)
    if pair[0].fingerprint == pair[1].fingerprint:
        console.print("Both have the same vocabulary: no translation is needed.")
    console.print()
    print_stretches(console, stretches, [s.ids.tolist() for s in found], ids)


def print_stretches(
    console: Console, stretches: Iterable[Stretch], ids_of: Sequence[Sequence[int]], ids: bool
) -> None:
    """Print a text's two segmentations one under the other, in as many rows as the terminal's width needs.

    ``ids_of`` holds the ids of both sides; they are shown where ``ids``.
    """
    from rich.text import Text

    height, margin, width = 5 if ids else 3, 2, 0
    row = [Text() for _ in range(height)]
    for cells in _columns(stretches, [iter(side) for side in ids_of], ids):
        wide = max(cell.cell_len for cell in cells)
        if width and width + wide > console.width:
            _flush(console, row)
            row, width = [Text() for _ in range(height)], 0
        for line, cell in zip(row, cells, strict=True):
            line.append(cell)
            line.append(" " * (wide - cell.cell_len + margin))
        width += wide + margin
    _flush(console, row)


def _flush(console: Console, row: Sequence[Text]) -> None:
    for line in row:
        line.rstrip()
        if line.plain:
            console.print(line, soft_wrap=True)
    console.print()


def _columns(
    stretches: Iterable[Stretch], ids: Sequence[Iterator[int]], with_ids: bool
) -> Iterator[list[Text]]:
    """For each stretch its lines: target, its ids, draft, its ids, and n:m where it is not 1:1."""
    from rich.text import Text

    for stretch in stretches:
        lines = []
        for tokens, numbers in zip((stretch.target, stretch.draft), ids, strict=True):
            shown = [_token(t, _COLOURS[i % 2] if not stretch.same else "") for i, t in enumerate(tokens)]
            below = [Text(str(next(numbers)), "dim") for _ in tokens]
            if with_ids:
                _pad(shown, below)
            lines.append(Text("│", "dim").join(shown))
            if with_ids:
                lines.append(Text("│", "dim").join(below))
        lines.append(Text("" if stretch.same else stretch.kind, "dim"))
        yield lines


def _pad(tokens: Sequence[Text], ids: Sequence[Text]) -> None:
    for token, number in zip(tokens, ids, strict=True):
        wide = max(token.cell_len, number.cell_len)
        for cell in (token, number):
            cell.append(" " * (wide - cell.cell_len))


def _token(token: Token, colour: str) -> Text:
    from rich.text import Text

    styles = {"letters": colour, "space": f"dim {colour}".strip(), "bytes": "bold red"}
    return Text.assemble(*((part.text, styles[part.kind]) for part in token))
