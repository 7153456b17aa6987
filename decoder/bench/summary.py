"""From rows to a table: ratios of sums with intervals over prompts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

RESAMPLES = 1000


def summarise_rows(rows: Iterable[dict[str, Any]], keys: Sequence[str], seed: int = 0) -> list[dict[str, Any]]:
    """One summary a cell, in order of first appearance; ``keys`` name the cell.

    ``tokens_per_pass`` (emitted tokens over target passes) and ``speedup`` (plain seconds per token over
    ours) carry a 95 % bootstrap interval over prompts, None for fewer than two prompts.
    """
    cells: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        cells.setdefault(tuple(row[k] for k in keys), []).append(row)
    return [dict(zip(keys, cell, strict=True)) | _figures(found, seed) for cell, found in cells.items()]


def _figures(rows: list[dict[str, Any]], seed: int) -> dict[str, Any]:
    def column(name: str) -> np.ndarray:
        return np.array([row[name] for row in rows], dtype=float)

    tokens, rounds = column("tokens"), column("rounds")
    weights = _weights(len(rows), seed)
    proposed = column("proposed").sum()
    refused = proposed - column("accepted").sum()
    timed = all(row.get("seconds") for row in rows)
    per_pass = _ratio(tokens, rounds, weights)
    speed = _speedup(rows, weights) if timed else (None, None, None)
    return {
        "prompts": len(rows),
        "tokens": int(tokens.sum()),
        "tokens_per_pass": per_pass[0],
        "tokens_per_pass_low": per_pass[1],
        "tokens_per_pass_high": per_pass[2],
        "acceptance": column("accepted").sum() / proposed if proposed else None,
        "lost_in_translation": column("refused_in_translation").sum() / refused if refused else None,
        "speedup": speed[0],
        "speedup_low": speed[1],
        "speedup_high": speed[2],
        "identical": int(sum(row["identical"] for row in rows)),
    }


def _speedup(rows: list[dict[str, Any]], weights: np.ndarray | None) -> tuple[float | None, ...]:
    """Plain seconds per token over speculative seconds per token."""
    plain = np.array([r["plain_seconds"] / max(r["plain_tokens"] - 1, 1) for r in rows])
    ours = np.array([r["seconds"] / max(r["tokens"] - r["first_tokens"], 1) for r in rows])
    return _ratio(plain, ours, weights)


def _ratio(top: np.ndarray, bottom: np.ndarray, weights: np.ndarray | None) -> tuple[float | None, ...]:
    if not bottom.sum():
        return None, None, None
    value = float(top.sum() / bottom.sum())
    if weights is None:
        return value, None, None
    low, high = np.quantile((weights @ top) / (weights @ bottom), [0.025, 0.975])
    return value, float(low), float(high)


def _weights(n: int, seed: int) -> np.ndarray | None:
    """Bootstrap weights of shape (RESAMPLES, n)."""
    if n < 2:
        return None
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(float)
