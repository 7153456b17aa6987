"""The Python interface: load a pair of models, stream what the target writes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

import mlx.core as mx

from decoder.drafters import AutoDrafter, Drafter, LookupDrafter, ModelDrafter, NoDrafter
from decoder.errors import PairError
from decoder.fused import fuse
from decoder.healing import Healer
from decoder.intersection import Intersection
from decoder.known import known_costs
from decoder.lane import Lane, cache_kinds, require_trimmable
from decoder.loop import Fixed, Limits, Policy, Round, decode
from decoder.models import Loaded, load_model
from decoder.policy import Adaptive, KnownCosts
from decoder.profile import Profile
from decoder.sampling import LogitsProcessor, Sampling
from decoder.stats import Recorder, Stats
from decoder.strategy import Strategy, same_vocabulary
from decoder.text import TextStream
from tokalign.settings import Settings
from tokalign.settings import check as check_settings
from tokalign.settings import read as read_settings

if TYPE_CHECKING:
    from decoder.session import Session


class Prompts(NamedTuple):
    """One prompt in the target's ids and in the draft's."""

    target: list[int]
    draft: list[int]


Prompt = str | Sequence[int] | Sequence[Mapping[str, str]] | Prompts


@dataclass(frozen=True)
class Pair:
    """A target with, where there is one, its draft, and how drafts reach it.

    ``k`` draft tokens a round, or ``auto``: as many as pay. ``known`` are costs to start from under ``auto``,
    which learns them and how the draft fares over all generations of the pair.
    """

    target: Loaded
    draft: Loaded | None = None
    strategy: Strategy = field(default_factory=Strategy)
    k: int | Literal["auto"] = "auto"
    known: KnownCosts = field(default_factory=KnownCosts)

    @cached_property
    def healer(self) -> Healer | None:
        """For drafts of another vocabulary under an exact strategy; built once."""
        if self.draft is None or not (self.strategy.heal and self.strategy.exact):
            return None
        if same_vocabulary(self.target.tokenizer, self.draft.tokenizer):
            return None
        return Healer(self.draft.tokenizer, self.draft.rows)

    @cached_property
    def allowed(self) -> mx.array | None:
        """Which draft tokens may be drafted, where the strategy restricts them; bools of shape (rows,)."""
        if self.draft is None or self.strategy.kind != "intersection":
            return None
        shared = Intersection.of(self.target.tokenizer, self.draft.tokenizer).target_of
        return mx.array([i in shared or i in self.draft.eos for i in range(self.draft.rows)])

    @cached_property
    def policy(self) -> Adaptive:
        """What ``auto`` has learnt so far."""
        return Adaptive(self.known, model=self.draft is not None)


@dataclass(frozen=True)
class GenerationResponse:
    """One emitted token; the fields of mlx-lm's response of the same name, and the run's statistics.

    ``text`` is what this token makes certain (perhaps nothing yet). ``logprobs`` is lazy, of shape
    (vocabulary,), before the sampling rule. Rates are tokens per second, ``peak_memory`` is in GB.
    ``finish_reason`` is 'stop', 'length' or None, ``stats`` is there with the last token.
    """

    text: str
    token: int
    logprobs: mx.array
    from_draft: bool
    prompt_tokens: int
    prompt_tps: float
    generation_tokens: int
    generation_tps: float
    peak_memory: float
    finish_reason: str | None = None
    stats: Stats | None = None


def load_pair(
    target: str,
    draft: str | None = None,
    *,
    settings: str | Path | None = None,
    allow_provisional: bool = False,
    translation: str | None = None,
    k: int | Literal["auto"] | None = None,
    known: KnownCosts | None = None,
    profile: Profile | str | Path | None = None,
    float32: bool = False,
) -> Pair:
    """Load a target and a draft by path, hub id or alias.

    ``settings`` is a file that ``tokalign compare`` or ``tokalign tune`` wrote for the pair: it gives the
    translation unless it is given here. How many tokens to draft depends on the machine: ``k`` is a number or
    ``auto`` (the default), which costs help from the first round on: those of a ``profile`` (or its file, which
    ``decoder calibrate`` writes), or ``known`` ones.

    Raises:
        ModelError, UntrimmableCache: a model cannot be loaded or cannot be used.
        SettingsError: the file is for other tokenizers, or provisional and that was not allowed.
        ProfileError: the profile cannot be read, or does not say which of its drafts this one is.
    """
    if settings is not None and draft is None:
        raise PairError("settings belong to a pair; give the draft model too.")
    if known is not None and profile is not None:
        raise PairError("costs come from a profile or as known ones; leave out either.")
    tuned: Settings | None = read_settings(Path(settings)) if settings is not None else None
    if translation is None and tuned is not None:
        translation = "anchored" if tuned.anchored else f"context:{tuned.p}"
    strategy = Strategy.parse(translation or "anchored")
    k = "auto" if k is None else k
    if profile is not None:
        known = known_costs(profile, draft)
    known = known or KnownCosts()
    loaded_target = load_model(target, "target", float32=float32)
    if draft is None:
        return Pair(loaded_target, None, strategy, k, known)
    require_trimmable(loaded_target.model, "target", target)
    loaded_draft = load_model(draft, "draft", float32=float32)
    require_trimmable(loaded_draft.model, "draft", draft)
    fuse(loaded_draft.model)
    if tuned is not None:
        check_settings(
            tuned, loaded_target.tokenizer, loaded_draft.tokenizer, allow_provisional=allow_provisional
        )
    strategy.bridge(loaded_target.tokenizer, loaded_draft.tokenizer)
    return Pair(loaded_target, loaded_draft, strategy, k, known)


def make_drafter(
    pair: Pair,
    draft_prompt: Sequence[int],
    target_prompt: Sequence[int],
    *,
    lookup: bool = False,
    policy: Adaptive | None = None,
    lane: Lane | None = None,
) -> Drafter:
    """The drafter of one generation; ``lane`` is the draft's, where it holds the prompt's beginning already."""
    if lookup or policy is not None:
        require_trimmable(pair.target.model, "target", pair.target.name)
    if lookup:
        return LookupDrafter(pair.target.tokenizer, target_prompt)
    model = None
    if pair.draft is not None:
        bridge = pair.strategy.bridge(pair.target.tokenizer, pair.draft.tokenizer)
        model = ModelDrafter(
            lane or Lane(pair.draft.model),
            pair.draft.tokenizer,
            bridge,
            draft_prompt,
            pair.draft.eos,
            pair.healer,
            policy.go_on if policy is not None else None,
            pair.allowed,
        )
    if policy is not None:
        return AutoDrafter(policy, LookupDrafter(pair.target.tokenizer, target_prompt), model)
    return model or NoDrafter()


def choose_policy(
    pair: Pair, k: int | Literal["auto"] | None, *, lookup: bool
) -> tuple[Policy, Adaptive | None]:
    """The policy for ``k`` (None: the pair's own), and the same again where it is the adaptive one.

    A target whose cache cannot be trimmed and that has no draft is decoded plainly.
    """
    length = pair.k if k is None else k
    if length == "auto":
        if lookup:
            return Fixed(4), None
        if pair.draft is None and not all(trimmable for _, trimmable in cache_kinds(pair.target.model)):
            return Fixed(0), None
        return pair.policy, pair.policy
    if length < 0:
        raise PairError(f"k is {length}; it must be at least 0, or 'auto'.")
    return Fixed(length if lookup or pair.draft is not None else 0), None


def encode_prompts(pair: Pair, prompt: Prompt) -> Prompts:
    """The prompt in the target's ids and in the draft's, each by its own rules.

    A text is encoded by each tokenizer; messages go through each model's own chat template; ids are the
    target's, and the draft gets the text they stand for, without control tokens. What is encoded stays as it is.
    """
    if isinstance(prompt, Prompts):
        return prompt
    if not isinstance(prompt, str) and prompt and isinstance(prompt[0], Mapping):
        messages = [dict(m) for m in prompt if isinstance(m, Mapping)]
        return Prompts(
            pair.target.encode_chat(messages), pair.draft.encode_chat(messages) if pair.draft else []
        )
    if isinstance(prompt, str):
        return Prompts(
            pair.target.encode_prompt(prompt), pair.draft.encode_prompt(prompt) if pair.draft else []
        )
    ids = [int(i) for i in cast(Sequence[int], prompt)]
    if not ids:
        raise PairError("the prompt is empty; give at least one token.")
    text = pair.target.tokenizer.decode(ids).decode(errors="replace")
    return Prompts(ids, pair.draft.encode_prompt(text) if pair.draft else [])


def generate_rounds(
    pair: Pair,
    prompt: Prompt,
    *,
    max_tokens: int | None = 256,
    sampling: Sampling | None = None,
    k: int | Literal["auto"] | None = None,
    lookup: bool = False,
    policy: Policy | None = None,
    session: Session | None = None,
) -> Iterator[Round]:
    """The rounds of one generation; see :func:`decoder.loop.decode`. A ``session`` keeps the caches for the next."""
    if max_tokens is not None and max_tokens < 1:
        raise PairError(f"max_tokens is {max_tokens}; it must be at least 1.")
    chosen, adaptive = choose_policy(pair, k, lookup=lookup) if policy is None else (policy, None)
    target_ids, draft_ids = encode_prompts(pair, prompt)
    if session is None:
        lane, drafts = Lane(pair.target.model), None
    else:
        lane, drafts = session.lanes(target_ids, draft_ids, lookup=lookup)
    drafter = make_drafter(pair, draft_ids, target_ids, lookup=lookup, policy=adaptive, lane=drafts)
    rounds = decode(
        lane,
        pair.target.tokenizer,
        drafter,
        target_ids,
        sampling=sampling or Sampling(),
        limits=Limits(pair.target.eos, max_tokens, pair.target.end),
        policy=chosen,
    )
    yield from rounds if session is None else session.noting(target_ids, drafter, rounds)


def stream_generate(
    pair: Pair,
    prompt: Prompt,
    *,
    max_tokens: int | None = 256,
    k: int | Literal["auto"] | None = None,
    lookup: bool = False,
    temperature: float = 0.0,
    top_p: float = 0.0,
    top_k: int = 0,
    min_p: float = 0.0,
    seed: int = 0,
    logits_processors: Sequence[LogitsProcessor] = (),
    stop: Sequence[str] = (),
    session: Session | None = None,
) -> Iterator[GenerationResponse]:
    """Stream what the target writes after ``prompt``: a text, target ids, or chat messages.

    The draft changes how fast it comes, never what comes: under a seed, sampled text too. ``stop`` strings end
    the text before them. ``max_tokens`` None is no limit.

    Raises:
        PairError, UsageError: an argument is out of range.
    """
    sampling = Sampling(temperature, top_p, top_k, min_p, seed, tuple(logits_processors))
    chat = not isinstance(prompt, str) and bool(prompt) and isinstance(prompt[0], Mapping)
    text = TextStream(tuple(stop), strip_first_space=chat)
    target = pair.target.tokenizer
    recorder = Recorder(target)
    prompts = encode_prompts(pair, prompt)
    prompt_tokens = len(prompts.target)
    begin = time.perf_counter()
    prompt_s: float | None = None
    count = 0
    rounds = generate_rounds(
        pair, prompts, max_tokens=max_tokens, sampling=sampling, k=k, lookup=lookup, session=session
    )
    for r in rounds:
        now = time.perf_counter()
        prompt_s = now - begin if prompt_s is None else prompt_s
        recorder.add(r)
        for n, token in enumerate(r.tokens):
            count += 1
            ending = token in pair.target.eos
            piece = text.feed(b"" if ending else target.decode((token,)))
            last = r.state.finish is not None and n == len(r.tokens) - 1
            finish = "stop" if text.stopped else r.state.finish if last else None
            if finish is not None:
                piece += text.finish()
            row = r.logits[n]
            yield GenerationResponse(
                text=piece,
                token=token,
                logprobs=row - mx.logsumexp(row),
                from_draft=n < r.accepted,
                prompt_tokens=prompt_tokens,
                prompt_tps=prompt_tokens / prompt_s,
                generation_tokens=count,
                generation_tps=count / max(now - begin - prompt_s, 1e-9) if count > len(r.tokens) else 0.0,
                peak_memory=mx.get_peak_memory() / 1e9,
                finish_reason=finish,
                stats=recorder.stats() if finish is not None else None,
            )
            if finish is not None:
                return


def generate(pair: Pair, prompt: Prompt, **options: object) -> str:
    """The whole text of :func:`stream_generate`, which takes the same options."""
    return "".join(r.text for r in stream_generate(pair, prompt, **options))  # type: ignore[arg-type]
