"""Recorded rounds from a file: one JSON object a line, one line a round."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from decoder.errors import ProfileError
from decoder.replay import Recording

Row = Mapping[str, Any]


def read_recordings(path: Path) -> list[Recording]:
    """The generations of a JSONL file of rounds.

    A line has the fields of :class:`decoder.stats.Trace` that count here: ``start`` (a generation begins at 0),
    ``drafted``, ``candidates``, ``tokens`` (lists or their lengths; without ``tokens``, accepted + 1),
    ``accepted``; and, where they are, ``group`` and ``prompt``, which must not change inside a generation.

    Raises:
        ProfileError: the file cannot be read, holds no round, or a line is none.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines if line.strip()]
    except OSError as error:
        raise ProfileError(f"the rounds {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise ProfileError(f"{path} is no recording of rounds: not every line is JSON ({error}).") from error
    if not rows:
        raise ProfileError(f"{path} holds no round; record some with the largest k.")
    try:
        return [recording(rows) for rows in generations(rows)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ProfileError(
            f"{path} is no recording of rounds: a line lacks a field or has a wrong one ({error})."
        ) from error


def generations(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Rows of one generation after another."""
    found: list[Row] = []
    for row in rows:
        if found and (row["start"] == 0 or row["start"] < found[-1]["start"] or _of(row) != _of(found[-1])):
            yield found
            found = []
        found.append(row)
    if found:
        yield found


def recording(rows: list[Row]) -> Recording:
    """One generation from its rounds. A round without candidates counts as a token that the draft had wrong."""
    parts = [_tokens(row) for row in rows]
    k = max(_count(row["drafted"]) or _count(row["candidates"]) for row in rows)
    return Recording(
        tuple(chain.from_iterable(right for right, _ in parts)),
        tuple(chain.from_iterable((ratio,) * len(right) for right, ratio in parts)),
        k,
        str(rows[0].get("group", "all")),
    )


def _tokens(row: Row) -> tuple[list[bool | None], float]:
    drafted, candidates, accepted = _count(row["drafted"]), _count(row["candidates"]), row["accepted"]
    tokens = _count(row["tokens"]) if "tokens" in row else accepted + 1
    if not 0 <= accepted <= min(candidates, tokens) or tokens > accepted + 1:
        raise ValueError(f"{accepted} accepted of {candidates} candidates, {tokens} tokens")
    right: list[bool | None] = [True] * accepted
    if tokens > accepted:
        right.append(None if candidates and accepted == candidates else False)
    return right, candidates / (drafted or candidates) if candidates else 0.0


def _count(value: object) -> int:
    if isinstance(value, list):
        return len(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise TypeError(f"{value!r} is neither a list nor a number")


def _of(row: Row) -> tuple[object, object]:
    return row.get("group"), row.get("prompt")
