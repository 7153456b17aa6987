"""One cell of the grid: a draft, a translation and a k, run on one prompt."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import mlx.core as mx
from mlx_lm.generate import generate_step

from decoder.bench.losses import losses, strayed
from decoder.bench.places import place
from decoder.bench.prompts import BenchPrompt
from decoder.bench.rows import LOSSES, full_row
from decoder.energy import Energy, measured
from decoder.generation import Pair, generate_rounds
from decoder.loop import Round
from decoder.models import Loaded
from decoder.stats import Recorder, Trace
from tokalign.tokenizers import Tokenizer

LOOKUP = "lookup"  # the name that stands for prompt lookup among the drafts


@dataclass(frozen=True)
class Reference:
    """Plain greedy decoding by mlx-lm: the tokens, the seconds after the first of them, the joules of all."""

    tokens: tuple[int, ...]
    seconds: float
    joules: float | None = None


@dataclass(frozen=True)
class Run:
    """One row of figures and the rounds behind it, ready for JSON."""

    row: dict[str, Any]
    traces: list[dict[str, Any]]


def plain(target: Loaded, prompt: str, max_tokens: int) -> Reference:
    """Plain greedy decoding of one prompt, ended at the target's end of sequence."""
    tokens: list[int] = []
    with measured() as meter:
        begin = time.perf_counter()
        ids = mx.array(target.encode_prompt(prompt))
        for token, _ in generate_step(ids, target.model, max_tokens=max_tokens):
            if not tokens:
                begin = time.perf_counter()
            tokens.append(int(token))
            if token in target.eos:
                break
        seconds = time.perf_counter() - begin
    return Reference(tuple(tokens), seconds, meter.energy.joules if meter.energy else None)


def run_cell(
    pair: Pair, prompt: BenchPrompt, reference: Reference, max_tokens: int, k: int, draft: str | None = None
) -> Run:
    """Decode one prompt speculatively. ``draft`` is the name in the row; ``lookup`` drafts from the text."""
    draft = draft or (pair.draft.name if pair.draft else "none")
    lookup = draft == LOOKUP
    recorder = Recorder(pair.target.tokenizer)
    watch = _Watch(reference)
    with measured() as meter:
        begin = time.perf_counter()
        rounds = generate_rounds(pair, prompt.text, max_tokens=max_tokens, k=k, lookup=lookup)
        for n, r in enumerate(rounds):
            if n == 0:
                begin, first = time.perf_counter(), len(r.tokens)
            recorder.add(r)
            watch.see(r)
        seconds = time.perf_counter() - begin
    keys = {
        "draft": draft,
        "translation": "" if lookup else str(pair.strategy),
        "k": k,
        "group": prompt.group,
        "prompt": prompt.id,
    }
    row = {
        **keys,
        **watch.compared(),
        "seconds": seconds,
        "first_tokens": first,
        **_energy(meter.energy),
        **asdict(recorder.stats()),
        **explained(pair, prompt.text, recorder.traces),
    }
    return Run(full_row(row), list(_written(pair, recorder.traces, keys)))


def explained(pair: Pair, prompt: str, traces: Sequence[Trace]) -> dict[str, int]:
    """Columns that say why tokens were lost and where rounds began."""
    found = list(losses(pair, traces))
    kinds = [kind for one in found for kind in one.kinds]
    draft = pair.draft.tokenizer if pair.draft else None
    text = prompt.encode() + b"".join(pair.target.tokenizer.decode(t.tokens) for t in traces)
    at = len(prompt.encode())
    places = [(place(text[: at + t.start], text[at + t.start :], draft), t.accepted) for t in traces if t.text]
    inside = [accepted for where, accepted in places if where != "outside"]
    barred = [accepted for where, accepted in places if where == "barred"]
    return {
        **{f"lost_{kind}": kinds.count(kind) for kind in LOSSES},
        "never_proposed": sum(one.never_proposed for one in found),
        "strayed_rounds": sum(strayed(pair, traces)),
        "inside_rounds": len(inside),
        "inside_accepted": sum(inside),
        "barred_rounds": len(barred),
        "barred_accepted": sum(barred),
    }


def diverges(tokens: Sequence[int], reference: Sequence[int]) -> int | None:
    """Index of the first difference, None where both are equal."""
    if tuple(tokens) == tuple(reference):
        return None
    pairs = zip(tokens, reference, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(tokens), len(reference)))


def _energy(energy: Energy | None) -> dict[str, Any]:
    if energy is None:
        return {"joules": None, "energy_reason": "not measured"}
    return {"joules": energy.joules, "energy_reason": energy.reason}


class _Watch:
    """Collects the tokens; at the first that differs from plain decoding, the gap of the two best logits."""

    def __init__(self, reference: Reference) -> None:
        self._tokens: list[int] = []
        self._gap: float | None = None
        self._reference = reference
        self._same = True

    def see(self, r: Round) -> None:
        """Take note of a round."""
        before = len(self._tokens)
        self._tokens += r.tokens
        if not self._same:
            return
        at = diverges(r.tokens, self._reference.tokens[before : len(self._tokens)])
        if at is not None:
            self._same = False
            if at < len(r.tokens):
                self._gap = _gap(r.logits[at])

    def compared(self) -> dict[str, Any]:
        """The columns about plain decoding."""
        divergence = diverges(self._tokens, self._reference.tokens)
        return {
            "identical": divergence is None,
            "diverges_at": divergence,
            "top2_gap": self._gap,
            "plain_tokens": len(self._reference.tokens),
            "plain_seconds": self._reference.seconds,
            "plain_joules": self._reference.joules,
        }


def _gap(row: mx.array) -> float:
    top = mx.sort(row.astype(mx.float32))[-2:]
    return float((top[1] - top[0]).tolist())  # type: ignore[arg-type]


def _written(pair: Pair, traces: Sequence[Trace], keys: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Traces as JSON values, with the texts of all tokens; undecodable bytes are lone surrogates."""
    target = pair.target.tokenizer
    draft = pair.draft.tokenizer if pair.draft else target
    for trace, stray, gone in zip(traces, strayed(pair, traces), losses(pair, traces), strict=True):
        texts = {
            "text": _spelled(trace.text),
            "drafted_texts": _texts(draft, trace.drafted),
            "candidate_texts": _texts(target, trace.candidates),
            "token_texts": _texts(target, trace.tokens),
        }
        yield keys | asdict(trace) | texts | {"strayed": stray, "lost": gone.kinds}


def _texts(tokenizer: Tokenizer, ids: Sequence[int]) -> list[str]:
    return [_spelled(tokenizer.decode((i,))) for i in ids]


def _spelled(data: bytes) -> str:
    return data.decode(errors="surrogateescape")
