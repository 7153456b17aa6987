"""Speed over mlx-lm's own generation: what is timed, in which order, and the ratios that come of it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from typing import Any

from decoder.bench.cells import plain
from decoder.bench.dense import LONGEST, Dense
from decoder.bench.staged import Stage
from decoder.cost import Setup
from decoder.generation import Pair, generate_rounds
from decoder.loop import Fixed, Policy, Round
from decoder.policy import Adaptive, KnownCosts
from decoder.profile import Profile
from decoder.replay import Dense as Recorded
from decoder.replay import Fixed as Same
from decoder.replay import replay

PLAIN = "mlx-lm"
CATCH_UP = 4  # tokens that a draft is fed at the start of a round, about
Mode = Callable[[], "Pace"]


@dataclass(frozen=True)
class Pace:
    """One run: seconds for ``tokens`` tokens, and what of them went where (None for plain generation)."""

    seconds: float
    tokens: int
    passes: int | None = None
    draft_s: float | None = None
    translate_s: float | None = None
    verify_s: float | None = None


def of_rounds(rounds: Sequence[Round], seconds: float) -> Pace:
    """What a run's rounds add up to."""
    return Pace(
        seconds,
        sum(len(r.tokens) for r in rounds),
        len(rounds),
        sum(r.proposal.draft_s for r in rounds),
        sum(r.proposal.translate_s for r in rounds),
        sum(r.verify_s for r in rounds),
    )


def interleaved(modes: Mapping[str, Mode], repeats: int) -> Iterator[tuple[str, int, Pace]]:
    """Every mode once to warm up, then ``repeats`` times in changing order."""
    shuffle, order = random.Random(0).shuffle, list(modes)
    for repeat in range(-1, repeats):
        shuffle(order)
        for name in order:
            pace = modes[name]()
            if repeat >= 0:
                yield name, repeat, pace


def pair_modes(pair: Pair, prompt: str, max_tokens: int, ks: Sequence[str]) -> dict[str, Mode]:
    """mlx-lm and every k on one prompt of a real pair; the clock starts behind the first round."""

    def reference() -> Pace:
        found = plain(pair.target, prompt, max_tokens)
        return Pace(found.seconds, len(found.tokens) - 1)

    def speculate(k: str) -> Pace:
        rounds: list[Round] = []
        begin = 0.0
        for r in generate_rounds(pair, prompt, max_tokens=max_tokens, k="auto" if k == "auto" else int(k)):
            begin = begin or time.perf_counter()
            rounds.append(r)
        return of_rounds(rounds[1:], time.perf_counter() - begin)

    return {PLAIN: reference} | {k: partial(speculate, k) for k in ks}


def staged_modes(stage: Stage, dense: Dense, policies: Mapping[str, Policy]) -> dict[str, Mode]:
    """mlx-lm and every policy on one recording, by models of other sizes."""
    n = len(dense.tokens) - 1

    def reference() -> Pace:
        return Pace(stage.plain(n) * n, n)

    def speculate(name: str) -> Pace:
        seconds, rounds = stage.decode(dense, policies[name], whole=name != "auto")
        return of_rounds(rounds, seconds)

    return {PLAIN: reference} | {name: partial(speculate, name) for name in policies}


def staged_policies(known: KnownCosts, ks: Sequence[str]) -> dict[str, Policy]:
    """A policy for each k; the adaptive ones learn over all recordings, as those of a pair do."""
    return {k: Fixed(int(k)) if k.isdigit() else Adaptive(known) for k in ks}


def predicted(profile: Profile, dense: Dense, k: int) -> float | None:
    """The speed over plain decoding that the profile foretells for drafts of ``k`` tokens on a recording."""
    places = tuple(tuple(zip(p.candidates, p.accepted, strict=True)) for p in dense.places[1:])
    return replay([Recorded(places, LONGEST)], Setup(profile, feed=CATCH_UP), partial(Same, k)).speedup


def errors(rows: Iterable[Mapping[str, Any]]) -> list[float]:
    """Predicted over measured speed, less 1, for every prompt and fixed draft length that was foretold."""
    cells, pace = _cells(rows)
    return [
        found[0]["predicted"] * pace[draft, group, mode, prompt] / pace[draft, group, PLAIN, prompt] - 1
        for (draft, group, mode, prompt), found in cells.items()
        if found[0].get("predicted") is not None
    ]


def rows_of(about: Mapping[str, Any], modes: Mapping[str, Mode], repeats: int) -> Iterator[dict[str, Any]]:
    """A row for each timed run."""
    for name, repeat, pace in interleaved(modes, repeats):
        yield {**about, "mode": name, "repeat": repeat, **asdict(pace)}


@dataclass(frozen=True)
class Ratio:
    """Speed of a mode over mlx-lm on the prompts of a group: plain seconds a token over the mode's, each the
    median of its repeats. ``low`` and ``high`` are the slowest and the fastest prompt of ``n``; the shares say
    where the mode's seconds went."""

    draft: str
    group: str
    mode: str
    ratio: float
    low: float
    high: float
    n: int
    tokens_per_pass: float
    draft_share: float
    translate_share: float
    verify_share: float


Cell = tuple[str, str, str, int]  # draft, group, mode, prompt


def _cells(rows: Iterable[Mapping[str, Any]]) -> tuple[dict[Cell, list[Mapping[str, Any]]], dict[Cell, float]]:
    """The repeats of every cell, and its seconds a token: their median."""
    cells: dict[Cell, list[Mapping[str, Any]]] = {}
    for row in rows:
        cells.setdefault((row["draft"], row["group"], row["mode"], row["prompt"]), []).append(row)
    return cells, {key: median(r["seconds"] / r["tokens"] for r in found) for key, found in cells.items()}


def ratios(rows: Iterable[Mapping[str, Any]]) -> list[Ratio]:
    """The rows by draft, group and mode."""
    cells, pace = _cells(rows)
    found = []
    for draft, group, mode in dict.fromkeys(key[:3] for key in cells):
        if mode == PLAIN:
            continue
        prompts = [key[3] for key in cells if key[:3] == (draft, group, mode)]
        each = [pace[draft, group, PLAIN, p] / pace[draft, group, mode, p] for p in prompts]
        weights = [cells[draft, group, mode, p][0]["tokens"] for p in prompts]
        runs = [r for p in prompts for r in cells[draft, group, mode, p]]
        total = sum(r["seconds"] for r in runs)
        plain_s, own_s = (
            sum(pace[draft, group, m, p] * w for p, w in zip(prompts, weights, strict=True))
            for m in (PLAIN, mode)
        )
        found.append(
            Ratio(
                draft,
                group,
                mode,
                plain_s / own_s,
                min(each),
                max(each),
                len(prompts),
                sum(r["tokens"] for r in runs) / sum(r["passes"] for r in runs),
                *(sum(r[part] for r in runs) / total for part in ("draft_s", "translate_s", "verify_s")),
            )
        )
    return found
