"""One cell of the grid: a draft, a translation and a k, run on one prompt."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import mlx.core as mx
from mlx_lm.generate import generate_step

from decoder.bench.prompts import BenchPrompt
from decoder.generation import Pair, generate_rounds
from decoder.models import Loaded
from decoder.stats import Recorder


@dataclass(frozen=True)
class Reference:
    """Plain greedy decoding by mlx-lm: the tokens, and the seconds after the prompt was read."""

    tokens: tuple[int, ...]
    seconds: float


def plain(target: Loaded, prompt: str, max_tokens: int) -> Reference:
    """Plain greedy decoding of one prompt, ended at the target's end of sequence."""
    tokens: list[int] = []
    begin = time.perf_counter()
    for token, _ in generate_step(mx.array(target.encode_prompt(prompt)), target.model, max_tokens=max_tokens):
        if not tokens:
            begin = time.perf_counter()
        tokens.append(int(token))
        if token in target.eos:
            break
    return Reference(tuple(tokens), time.perf_counter() - begin)


def run_cell(
    pair: Pair, prompt: BenchPrompt, reference: Reference, max_tokens: int, *, lookup: bool = False
) -> dict[str, Any]:
    """Decode one prompt speculatively; a flat row of figures. Seconds start after the first round."""
    recorder = Recorder(pair.target.tokenizer)
    tokens: list[int] = []
    gaps: list[float] = []
    first = 0
    begin = time.perf_counter()
    for n, r in enumerate(generate_rounds(pair, prompt.text, max_tokens=max_tokens, lookup=lookup)):
        if n == 0:
            begin, first = time.perf_counter(), len(r.tokens)
        recorder.add(r)
        before = len(tokens)
        tokens += r.tokens
        if not gaps and tuple(tokens) != reference.tokens[: len(tokens)]:
            at = next((i for i, (a, b) in enumerate(zip(tokens, reference.tokens, strict=False)) if a != b), None)
            if at is not None and before <= at:
                gaps.append(_gap(r.logits[at - before]))
    seconds = time.perf_counter() - begin
    divergence = diverges(tokens, reference.tokens)
    return {
        "draft": "lookup" if lookup else pair.draft.name if pair.draft else "none",
        "translation": "" if lookup else str(pair.strategy),
        "k": pair.k,
        "group": prompt.group,
        "prompt": prompt.id,
        "identical": divergence is None,
        "diverges_at": divergence,
        "top2_gap": gaps[0] if gaps else None,
        "seconds": seconds,
        "first_tokens": first,
        "plain_tokens": len(reference.tokens),
        "plain_seconds": reference.seconds,
        **asdict(recorder.stats()),
    }


def diverges(tokens: Sequence[int], reference: Sequence[int]) -> int | None:
    """Index of the first difference, None where both are equal."""
    if tuple(tokens) == tuple(reference):
        return None
    pairs = zip(tokens, reference, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(tokens), len(reference)))


def _gap(row: mx.array) -> float:
    top = mx.sort(row.astype(mx.float32))[-2:]
    return float((top[1] - top[0]).item())


