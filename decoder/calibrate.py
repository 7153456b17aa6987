"""Measuring a machine: the target's passes, each draft's steps, translation, and the memory they rest on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import Any

from mlx.utils import tree_flatten

from decoder.curves import Spread, Timing
from decoder.errors import ProfileUsageError
from decoder.fused import fuse
from decoder.lane import Lane
from decoder.measure import Case, bandwidth, interleaved, machine, timing
from decoder.profile import DraftCost, ModelCard, Profile, Roof
from decoder.runner import Runner
from decoder.translation_time import translation_times
from tokalign.tokenizers import Tokenizer

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Subject:
    """A model to be measured. ``tokenizer`` is None where translation cannot be; ``note`` says why, or what
    kind of vocabulary it is. ``random`` marks random weights."""

    name: str
    model: Any
    tokenizer: Tokenizer | None = None
    random: bool = False
    note: str | None = None


@dataclass(frozen=True)
class Plan:
    """What to measure: context lengths in tokens, tokens a verification, steps a draft, tokens a catch-up and
    a prompt, repeats, and the bytes of a copy (None: 1 GiB on a GPU, 128 MiB elsewhere)."""

    contexts: Sequence[int] = (64, 512, 2048)
    repeats: int = 7
    verify: Sequence[int] = tuple(range(1, 17))
    steps: Sequence[int] = (1, 2, 4, 8)
    feeds: Sequence[int] = (1, 2, 4, 8)
    prompts: Sequence[int] = (128, 512)
    copy_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.repeats < 5:
            raise ProfileUsageError(
                f"{self.repeats} repeats are too few for a median with its spread; use 5 or more."
            )
        if not self.contexts or min(self.contexts) < 1:
            raise ProfileUsageError("give context lengths of at least 1 token.")


def calibrate(
    target: Subject,
    drafts: Sequence[Callable[[], Subject]],
    plan: Plan | None = None,
    progress: Progress = lambda what, share: None,
) -> Profile:
    """Measure a target and its drafts, which are loaded one at a time beside it."""
    plan = plan or Plan()
    contexts = sorted(set(plan.contexts))
    total = 1 + len(contexts) * (1 + 2 * len(drafts))
    here = machine()
    progress("memory bandwidth", 0.0)
    copy_bytes = plan.copy_bytes or (2**30 if here.device == "gpu" else 2**27)
    rate = bandwidth(copy_bytes, plan.repeats)
    phases = _Phases(progress, total, 1)
    plain, verify, trim, card = _target(target, contexts, plan, phases)
    return Profile(
        source="measured",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        note=None,
        machine=here,
        mlx=version("mlx"),
        mlx_lm=version("mlx-lm"),
        bandwidth=rate,
        target=card,
        plain=tuple(plain),
        verify=tuple(verify),
        prefill=_prefill(target.model, plan),
        trim=trim,
        roofline=roofline(card, plain, rate),
        drafts=tuple(_draft(target, load(), contexts, plan, phases) for load in drafts),
    )


@dataclass
class _Phases:
    """Progress over phases of equal weight."""

    progress: Progress
    total: int
    done: int

    def begin(self, what: str) -> Callable[[float], None]:
        at, self.done = self.done, self.done + 1
        return lambda share: self.progress(what, (at + share) / self.total)


def roofline(card: ModelCard, plain: Sequence[Timing], rate: Spread) -> tuple[Roof, ...]:
    """A plain step's bytes (weights and the context's cache) against the bandwidth; empty if unknown."""
    if card.step_bytes is None or card.kv_bytes is None:
        return ()
    found = []
    for t in plain:
        nbytes = card.step_bytes + card.kv_bytes * t.context
        floor = nbytes / rate.median
        found.append(Roof(t.context, nbytes, floor, floor / t.median))
    return tuple(found)


def card_of(subject: Subject, lane: Lane) -> ModelCard:
    """What decides the model's cost; ``lane`` must have been fed."""
    model = subject.model
    weights = dict(tree_flatten(model.parameters()))
    nbytes = sum(w.nbytes for w in weights.values())
    rows = sum(w.nbytes for path, w in weights.items() if ".embed_tokens." in f".{path}")
    untied = any(path.startswith("lm_head.") for path in weights)
    quantized = next((m for _, m in model.named_modules() if hasattr(m, "bits")), None)
    floating = next((w for path, w in weights.items() if "norm" in path), None)
    kept = [(c.keys, c.values) for c in lane.cache if getattr(c, "keys", None) is not None]
    kv = sum((k.nbytes + v.nbytes) // k.shape[2] for k, v in kept)
    return ModelCard(
        name=subject.name,
        dtype=None if floating is None else str(floating.dtype).rpartition(".")[2],
        bits=getattr(quantized, "bits", None),
        group_size=getattr(quantized, "group_size", None),
        layers=len(model.layers) if hasattr(model, "layers") else None,
        weight_bytes=nbytes,
        step_bytes=nbytes - rows if untied else nbytes,
        kv_bytes=kv if len(kept) == len(lane.cache) else None,
        random=subject.random,
    )


def _target(
    subject: Subject, contexts: Sequence[int], plan: Plan, phases: _Phases
) -> tuple[list[Timing], list[Timing], Spread, ModelCard]:
    runner = Runner(subject.model)
    plain, verify = [], []
    for context in contexts:
        runner.grow_to(context)
        cases: dict[tuple[str, int], Case] = {("verify", n): partial(runner.verify, n) for n in plan.verify}
        cases |= {("plain", 1): runner.plain, ("trim", 1): runner.trim}
        found = interleaved(cases, plan.repeats, phases.begin(f"{subject.name}, context {context}"))
        verify += [timing(context, n, found["verify", n]) for n in plan.verify]
        plain.append(timing(context, 1, found["plain", 1]))
    return plain, verify, found["trim", 1], card_of(subject, runner.lane)


def _draft(
    target: Subject, subject: Subject, contexts: Sequence[int], plan: Plan, phases: _Phases
) -> DraftCost:
    unfused = _unfused(subject, contexts, plan, phases)
    layers = fuse(subject.model)
    runner = Runner(subject.model)
    steps, feed = [], []
    for context in contexts:
        runner.grow_to(context)
        cases: dict[tuple[str, int], Case] = {("steps", k): partial(runner.steps, k) for k in plan.steps}
        cases |= {("feed", n): partial(runner.feed, n) for n in plan.feeds}
        cases["trim", 1] = runner.trim
        found = interleaved(cases, plan.repeats, phases.begin(f"{subject.name}, context {context}"))
        steps += [timing(context, k, found["steps", k]) for k in plan.steps]
        feed += [timing(context, n, found["feed", n]) for n in plan.feeds]
    there, back, why = translation_times(target, subject, plan.repeats)
    return DraftCost(
        model=card_of(subject, runner.lane),
        steps=tuple(steps),
        unfused=unfused if layers else None,
        unfused_note=None if layers else "its layers are of no kind that can be fused",
        feed=tuple(feed),
        prefill=_prefill(subject.model, plan),
        translate=there,
        follow=back,
        translate_note=why,
        trim=found["trim", 1],
    )


def _unfused(subject: Subject, contexts: Sequence[int], plan: Plan, phases: _Phases) -> tuple[Timing, ...]:
    """The draft's steps with the model as it was loaded."""
    runner = Runner(subject.model)
    found = []
    for context in contexts:
        runner.grow_to(context)
        cases: dict[int, Case] = {k: partial(runner.steps, k) for k in plan.steps}
        times = interleaved(cases, plan.repeats, phases.begin(f"{subject.name} as loaded, context {context}"))
        found += [timing(context, k, times[k]) for k in plan.steps]
    return tuple(found)


def _prefill(model: Any, plan: Plan) -> tuple[Timing, ...]:
    cases: dict[int, Case] = {n: partial(Runner(model).prefill, n) for n in plan.prompts}
    return tuple(timing(0, n, s) for n, s in interleaved(cases, plan.repeats).items())
