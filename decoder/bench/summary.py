"""From rows to a table: ratios of sums with intervals over prompts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from decoder.bench.rows import KEYS, LOSSES

RESAMPLES = 1000
Row = Mapping[str, Any]
Interval = tuple[float | None, float | None, float | None]


def summarise_rows(rows: Iterable[Row], keys: Sequence[str] = KEYS, seed: int = 0) -> list[dict[str, Any]]:
    """One summary a cell, in order of first appearance; ``keys`` name the cell.

    Shares and rates are ratios of sums. ``…_low`` and ``…_high`` are a 95 % bootstrap interval over prompts,
    None for fewer than two of them. What a row does not have makes the figure None.
    """
    cells: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        cells.setdefault(tuple(row[k] for k in keys), []).append(row)
    return [dict(zip(keys, cell, strict=True)) | figures(found, seed) for cell, found in cells.items()]


def figures(rows: Sequence[Row], seed: int = 0) -> dict[str, Any]:
    """The figures of one cell; see the table's columns in :mod:`decoder.bench.table`."""
    weights = _weights(len(rows), seed)
    refused = _difference(_column(rows, "proposed"), _column(rows, "accepted"))
    lost = [_column(rows, f"lost_{kind}") for kind in LOSSES]
    all_lost = None if any(c is None for c in lost) else np.sum(np.array(lost), axis=0)
    found: dict[str, Any] = {"prompts": len(rows)}
    found |= {name: _total(rows, name) for name in ("tokens", "rounds", "never_proposed")}
    found |= _named("tokens_per_pass", ratio(_column(rows, "tokens"), _column(rows, "rounds"), weights))
    found |= _named("acceptance", ratio(_column(rows, "accepted"), _column(rows, "proposed"), weights))
    found["lost_in_translation"] = ratio(_column(rows, "refused_in_translation"), refused, None)[0]
    found |= _named("speedup", _speedup(rows, seed))
    found |= _timings(rows)
    found |= _named("joules_per_token", ratio(_column(rows, "joules"), _column(rows, "tokens"), weights))
    plain_joules = ratio(_column(rows, "plain_joules"), _column(rows, "plain_tokens"), None)[0]
    found["plain_joules_per_token"] = plain_joules
    found["energy_reason"] = _reason(rows)
    found["identical"] = int(sum(row["identical"] for row in rows))
    found["candidates_per_round"] = ratio(_column(rows, "proposed"), _column(rows, "rounds"), None)[0]
    found["lost_tokens"] = None if all_lost is None else int(all_lost.sum())
    for kind, column in zip(LOSSES, lost, strict=True):
        found |= _named(f"lost_{kind}", ratio(column, all_lost, weights))
    found |= _places(rows)
    return found


def divergences(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Runs that differ from plain decoding: where first, and how close the two best logits were there."""
    names = (*KEYS, "group", "prompt", "diverges_at", "top2_gap")
    return [{n: row[n] for n in names} for row in rows if not row["identical"]]


def ratio(top: np.ndarray | None, bottom: np.ndarray | None, weights: np.ndarray | None) -> Interval:
    """Ratio of sums with its interval; all None where a part is missing or the denominator is 0."""
    if top is None or bottom is None or not bottom.sum():
        return None, None, None
    value = float(top.sum() / bottom.sum())
    if weights is None:
        return value, None, None
    below = weights @ bottom
    drawn = (weights @ top)[below > 0] / below[below > 0]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return value, float(low), float(high)


def _places(rows: Sequence[Row]) -> dict[str, float | None]:
    """Accepted tokens a round by where the round began, and how many rounds began in each place."""
    rounds, inside, barred = (_column(rows, c) for c in ("rounds", "inside_rounds", "barred_rounds"))
    accepted = _column(rows, "accepted")
    of_inside, of_barred = _column(rows, "inside_accepted"), _column(rows, "barred_accepted")
    places = {
        "outside": (_difference(accepted, of_inside), _difference(rounds, inside)),
        "open": (_difference(of_inside, of_barred), _difference(inside, barred)),
        "barred": (of_barred, barred),
    }
    found: dict[str, float | None] = {}
    for name, (tokens, of) in places.items():
        found[f"{name}_accepted_per_round"] = ratio(tokens, of, None)[0]
        found[f"{name}_share"] = ratio(of, rounds, None)[0]
    found["strayed_share"] = ratio(_column(rows, "strayed_rounds"), rounds, None)[0]
    return found


def _speedup(rows: Sequence[Row], seed: int) -> Interval:
    """Plain seconds per token over speculative seconds per token, over the runs that were long enough."""
    timed = [r for r in _timed(rows) if r["plain_tokens"] > 1]
    plain = np.array([r["plain_seconds"] / (r["plain_tokens"] - 1) for r in timed])
    ours = np.array([r["seconds"] / _after_first(r) for r in timed])
    return ratio(plain, ours, _weights(len(timed), seed))


def _timings(rows: Sequence[Row]) -> dict[str, float | None]:
    timed = _timed(rows)
    seconds, plain_seconds = (sum(r[c] for r in timed) for c in ("seconds", "plain_seconds"))
    tokens, plain_tokens = sum(map(_after_first, timed)), sum(r["plain_tokens"] - 1 for r in timed)
    return {
        "tokens_per_s": tokens / seconds if seconds else None,
        "plain_tokens_per_s": plain_tokens / plain_seconds if plain_seconds else None,
    }


def _timed(rows: Sequence[Row]) -> list[Row]:
    return [r for r in rows if r.get("seconds") and r.get("plain_seconds") and _after_first(r)]


def _after_first(row: Row) -> int:
    return int(row["tokens"] - row["first_tokens"])


def _reason(rows: Sequence[Row]) -> str | None:
    if all(row.get("joules") is not None for row in rows):
        return None
    return next((row["energy_reason"] for row in rows if row.get("energy_reason")), "not measured")


def _named(name: str, values: Interval) -> dict[str, float | None]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), values, strict=True))


def _column(rows: Sequence[Row], name: str) -> np.ndarray | None:
    """Values of a column; None if any row has none."""
    values = [row.get(name) for row in rows]
    return None if any(v is None for v in values) else np.array(values, dtype=float)


def _difference(a: np.ndarray | None, b: np.ndarray | None) -> np.ndarray | None:
    return None if a is None or b is None else a - b


def _total(rows: Sequence[Row], name: str) -> int | None:
    column = _column(rows, name)
    return None if column is None else int(column.sum())


def _weights(n: int, seed: int) -> np.ndarray | None:
    """Bootstrap weights of shape (RESAMPLES, n)."""
    if n < 2:
        return None
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(float)
