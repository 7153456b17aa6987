"""Recordings from a file of JSON lines: a round a line, or a whole generation asked at every token."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from decoder.errors import ProfileError
from decoder.replay import Dense, Recorded, Recording

Row = Mapping[str, Any]


def read_recordings(path: Path) -> list[Recorded]:
    """The generations of a JSONL file of rounds.

    A line with ``places`` is a whole generation; see :class:`decoder.bench.dense.Dense`. Otherwise a line is
    a round and has the fields of :class:`decoder.stats.Trace` that count here: ``start`` (a generation begins
    at 0), ``drafted``, ``candidates``, ``tokens`` (lists or their lengths; without ``tokens``, accepted + 1),
    ``accepted``; and, where they are, ``group``, ``prompt``, ``draft``, ``translation`` and ``k``, which do
    not change inside a generation. A name that ends in .gz is unpacked.

    Raises:
        ProfileError: the file cannot be read, holds no round, or a line is none.
    """
    try:
        data = path.read_bytes()
        lines = (gzip.decompress(data) if path.suffix == ".gz" else data).decode().splitlines()
        rows = [json.loads(line) for line in lines if line.strip()]
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or "it is damaged"
        raise ProfileError(f"the rounds {path} cannot be read: {reason}.") from error
    except ValueError as error:
        raise ProfileError(f"{path} is no recording of rounds: not every line is JSON ({error}).") from error
    if not rows:
        raise ProfileError(f"{path} holds no round; record some with the largest k.")
    try:
        found: list[Recorded] = [dense(row) for row in rows if "places" in row]
        return found + [recording(part) for part in generations(row for row in rows if "places" not in row)]
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


def dense(row: Row) -> Dense:
    """A generation from its line."""
    places = tuple(tuple(zip(p["candidates"], p["accepted"], strict=True)) for p in row["places"])
    if any(not 0 <= accepted <= candidates for place in places for candidates, accepted in place):
        raise ValueError("more accepted than candidates")
    return Dense(places, max(map(len, places), default=0), str(row.get("group", "all")))


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


def _of(row: Row) -> tuple[object, ...]:
    return tuple(row.get(name) for name in ("group", "prompt", "draft", "translation", "k"))
