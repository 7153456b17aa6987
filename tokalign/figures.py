"""Numbers as a reader meets them, and the cells and tables that hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

MISSING = "—"
NBSP = "\u00a0"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table.

    ``small`` stands under the text, ``title`` appears on hover and needs ``href`` to be reached by keyboard
    too, ``heat`` (0 to 1) tints the cell; ``words`` sets it as text instead of a number.
    """

    text: str
    small: str | None = None
    title: str | None = None
    href: str | None = None
    badge: str | None = None
    heat: float | None = None
    words: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A caption, a head and rows of as many cells; the first cell of a row names it."""

    caption: str
    head: Sequence[Cell]
    rows: Sequence[Sequence[Cell]] = field(default_factory=tuple)


def cells(*texts: str) -> list[Cell]:
    """Plain cells, for heads."""
    return [Cell(t) for t in texts]


def short(name: str, limit: int = 36) -> str:
    """A name for titles and legends; of a long path the end, which tells it apart."""
    return name if len(name) <= limit else "…" + name[1 - limit :]


def words(text: str | None) -> Cell:
    """A cell of running text; the dash where there is none."""
    return Cell(text or MISSING, words=True)


def count(value: float | None) -> str:
    """A whole number with separators."""
    return MISSING if value is None else f"{value:,.0f}"


def share(value: float | None, digits: int | None = None) -> str:
    """A share as a percentage that never rounds to 0 or 100 without being it; ``digits`` after the point."""
    return (
        MISSING if value is None else f"{_percent(value, _digits(value) if digits is None else digits)}{NBSP}%"
    )


def number(value: float | None, unit: str, digits: int | None = None) -> str:
    """A value in its unit: percentages for shares, whole numbers as such, else four significant digits."""
    if value is None:
        return MISSING
    if unit in SHARES:
        return share(value, digits)
    if float(value).is_integer() or abs(value) >= 10_000:
        return count(value)
    return f"{value:#.4g}".rstrip(".").replace("-", "−")


def interval(low: float | None, high: float | None, unit: str, digits: int | None = None) -> str:
    """A 95 % interval; the dash where either end is missing."""
    if low is None or high is None:
        return MISSING
    if unit not in SHARES:
        return f"{number(low, unit)} – {number(high, unit)}"
    digits = max(_digits(low), _digits(high)) if digits is None else digits
    return f"{_percent(low, digits)} – {_percent(high, digits)}{NBSP}%"


def valued(value: float | None, low: float | None, high: float | None, unit: str) -> Cell:
    """A value over its interval; a missing interval under a value is shown as a dash."""
    if value is None:
        return Cell(MISSING)
    digits = max(_digits(v) for v in (value, low, high) if v is not None)
    return Cell(number(value, unit, digits), small=interval(low, high, unit, digits))


def _digits(value: float) -> int:
    """Digits after the point that a percentage needs: more where small steps count."""
    percent = abs(100 * value)
    return 0 if percent in (0, 100) else 1 if 10 <= percent <= 99 else 2


def _percent(value: float, digits: int) -> str:
    percent = 100 * value
    shown = f"{percent:.{digits}f}"
    step = 10**-digits
    if float(shown) == 0 and percent:
        return f"<{NBSP}{step:.{digits}f}" if percent > 0 else f">{NBSP}−{step:.{digits}f}"
    if float(shown) == 100 and percent < 100:
        return f">{NBSP}{100 - step:.{digits}f}"
    return f"{percent:.0f}" if percent in (0, 100) else shown.replace("-", "−")


SHARES = frozenset({"share", "proportion", "ratio of shares"})
"""Units that are shown as percentages."""
