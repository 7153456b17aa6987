"""Who proposes: a model, the text so far, or nobody."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, cast

import mlx.core as mx

from decoder.bridge import Bridge
from decoder.healing import Healer
from decoder.lane import Lane, read_ids
from tokalign.tokenizers import Tokenizer
from tokalign.translate import Tail, Translation

if TYPE_CHECKING:
    from decoder.policy import Adaptive


@dataclass(frozen=True, slots=True)
class Proposal:
    """Target candidates for one round and what they came from.

    ``drafted`` are the draft's own ids (empty where it has none), ``text`` the bytes it drafted. ``ended``
    says that the draft would stop after them. ``confidence`` is the draft's own probability of each drafted
    token, where it was asked for. Times are seconds.
    """

    translation: Translation = field(default_factory=Translation)
    drafted: tuple[int, ...] = ()
    text: bytes = b""
    ended: bool = False
    confidence: tuple[float, ...] = ()
    draft_s: float = 0.0
    translate_s: float = 0.0


class Drafter(Protocol):
    """A source of candidates. ``propose`` and ``follow`` alternate: a round, then what became of it."""

    def propose(self, target: Tail, k: int) -> Proposal:
        """Draft ``k`` tokens behind the committed text."""
        ...

    def follow(self, committed: Sequence[int]) -> None:
        """Take note of the target tokens that the round committed."""
        ...


class NoDrafter:
    """Plain decoding."""

    def propose(self, target: Tail, k: int) -> Proposal:
        """Nothing."""
        return Proposal()

    def follow(self, committed: Sequence[int]) -> None:
        """Nothing to keep."""


class LookupDrafter:
    """Prompt lookup: the continuation of the last place where the last few target tokens stood before.

    It drafts in the target's ids, costs no model step and is right where text repeats itself. The longest
    matching n-gram wins (``longest`` down to ``shortest`` tokens), among equals the most recent.
    """

    def __init__(
        self, target: Tokenizer, prompt: Sequence[int], *, longest: int = 4, shortest: int = 2
    ) -> None:
        self._target = target
        self._sizes = range(longest, shortest - 1, -1)
        self._ids: list[int] = []
        self._after: dict[tuple[int, ...], int] = {}
        self.follow(prompt)

    def propose(self, target: Tail, k: int) -> Proposal:
        """Up to ``k`` tokens that followed before."""
        begin = time.perf_counter()
        at = self._place()
        if at is None:
            return Proposal(draft_s=time.perf_counter() - begin)
        found = tuple(self._ids[at : at + k])
        control = self._target.vocabulary.control
        end = next((j for j, i in enumerate(found) if i in control), len(found))
        text = self._target.decode(found[:end])
        return Proposal(Translation(found[:end]), (), text, draft_s=time.perf_counter() - begin)

    def available(self) -> int:
        """How many tokens a proposal could have now."""
        at = self._place()
        return 0 if at is None else len(self._ids) - at

    def _place(self) -> int | None:
        """Where the continuation of the longest matching n-gram begins."""
        ids = self._ids
        for n in self._sizes:
            at = self._after.get(tuple(ids[-n:])) if len(ids) > n else None
            if at is not None:
                return at
        return None

    def follow(self, committed: Sequence[int]) -> None:
        """Index the n-grams that the new tokens complete; the newest itself has no continuation yet."""
        for i in committed:
            self._ids.append(i)
            end = len(self._ids) - 1
            for n in self._sizes:
                if end >= n:
                    self._after[tuple(self._ids[end - n : end])] = end


class ModelDrafter:
    """A draft model of any vocabulary, kept at the committed text through a bridge.

    The draft's stream is the committed text in its own ids, its open end ``tail``. The cache holds the first
    ``_valid`` of them; the rest goes in with the next draft, so that catching up costs no step of its own.

    With a ``healer`` the draft may write the word it stands in anew. ``_owed`` is the part of that word which
    is committed already and which the drafted tokens repeat. ``allowed`` (bools, one a logit) restricts what
    is drafted; ``go_on`` is asked, given the confidences so far, whether to draft more.
    """

    def __init__(
        self,
        lane: Lane,
        tokenizer: Tokenizer,
        bridge: Bridge,
        prompt: Sequence[int],
        eos: frozenset[int],
        healer: Healer | None = None,
        go_on: Callable[[Sequence[float]], bool] | None = None,
        allowed: mx.array | None = None,
    ) -> None:
        self._lane = lane
        self._tokenizer = tokenizer
        self._bridge = bridge
        self._eos = eos
        self._healer = healer
        self._go_on = go_on
        self._allowed = allowed
        lane.prefill(prompt[lane.length : -1])
        self.stream = list(prompt)
        self.tail = Tail.of(tokenizer, prompt)
        self._valid = lane.length
        self._cached: tuple[int, ...] = ()
        self._owed = b""

    def propose(self, target: Tail, k: int) -> Proposal:
        """Draft ``k`` tokens greedily; the steps are enqueued before the host waits for any."""
        if k == 0:
            return Proposal()
        begin = time.perf_counter()
        drafted, confidence = self._draft(k)
        drafted_at = time.perf_counter()
        table = self._tokenizer.vocabulary.table
        end = next((n for n, i in enumerate(drafted) if i >= len(table) or not table[i]), len(drafted))
        ended = end < len(drafted) and drafted[end] in self._eos
        text = self._tokenizer.decode(drafted[:end])[len(self._owed) :]
        translation = self._bridge.propose(target, drafted[:end], text)
        done = time.perf_counter()
        times = drafted_at - begin, done - drafted_at
        return Proposal(translation, drafted[:end], text, ended, confidence[:end], *times)

    def _draft(self, k: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
        word = self._open_word()
        keep = min(self._valid, len(self.stream) - 1 - word)
        self._lane.trim(self._lane.length - keep)
        logits = self._lane.feed(mx.array(self.stream[keep:]))
        healer = self._healer if word else None
        y = self._healed(healer, logits, word) if healer is not None else self._best(logits[-1:])
        drafted, confidence = self._steps(y, k) if self._go_on is None else self._asking(y, k, self._go_on)
        self._cached, self._valid = drafted[:-1], len(self.stream)
        return drafted, confidence

    def _steps(self, y: mx.array, k: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """All steps enqueued at once."""
        steps = [y]
        for _ in range(k - 1):
            y = self._best(self._lane.feed(y))
            steps.append(y)
        return read_ids(mx.concatenate(steps)), ()

    def _best(self, logits: mx.array) -> mx.array:
        """The most likely token of each row, among those allowed."""
        if self._allowed is not None:
            logits = mx.where(self._allowed, logits, -mx.inf)
        return mx.argmax(logits, axis=-1)

    def _asking(
        self, y: mx.array, k: int, go_on: Callable[[Sequence[float]], bool]
    ) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Two steps at a time, going on while the draft is sure enough of itself.

        The first token's probability is not looked at: a healed one has none of its own.
        """
        drafted: list[int] = []
        confidence: list[float] = []
        while len(drafted) < k and (not drafted or go_on(confidence)):
            steps, sure = ([y], [mx.ones((1,))]) if not drafted else ([], [])
            while len(drafted) + len(steps) < k and len(steps) < 2:
                logits = self._lane.feed(y)
                y = self._best(logits)
                steps.append(y)
                chance = mx.exp(mx.max(logits, axis=-1) - mx.logsumexp(logits, axis=-1))
                sure.append(chance.astype(mx.float32))
            ids, chances = mx.concatenate(steps), mx.concatenate(sure)
            mx.eval(ids, chances)
            drafted += read_ids(ids)
            confidence += cast(list[float], chances.tolist())
        return tuple(drafted), tuple(confidence)

    def _open_word(self) -> int:
        """How many tokens at the stream's end belong to the word that the draft may write anew."""
        if self._healer is None or not self.tail.ids:
            return 0
        start = self.tail.word_start(len(self.tail.ids) - 1)
        return 0 if start is None else min(len(self.tail.ids) - start, len(self.stream) - 1)

    def _healed(self, healer: Healer, logits: mx.array, word: int) -> mx.array:
        kept, y = healer.first(logits[-1 - word :], self.stream[-word:])
        if drop := word - kept:
            self._lane.trim(drop)
            self._owed = self._tokenizer.decode(self.stream[-drop:])
            del self.stream[-drop:]
            self.tail = self.tail.without(drop)
        return y

    def follow(self, committed: Sequence[int]) -> None:
        """Bring the stream to the committed text and take out of the cache what no longer belongs to it."""
        resync = self._bridge.follow(self.tail, self._cached, committed, self._owed)
        known = len(self.stream) + len(self._cached) - resync.trim
        self.stream += self._cached
        del self.stream[known:]
        self.stream += resync.feed
        self._valid = min(self._valid + len(self._cached), known)
        self._lane.trim(self._lane.length - self._valid)
        self.tail, self._cached, self._owed = resync.tail, (), b""


class AutoDrafter:
    """A draft model and prompt lookup under one adaptive policy, which says who drafts.

    The model's stream is brought up to date only when it drafts again, so that stretches without it cost no
    more than plain decoding.
    """

    def __init__(self, policy: Adaptive, lookup: LookupDrafter, model: ModelDrafter | None) -> None:
        self._policy = policy
        self._lookup = lookup
        self.model = model
        self._behind: list[int] = []
        policy.offered = lookup.available()

    def propose(self, target: Tail, k: int) -> Proposal:
        """From whom the policy chose."""
        if self._policy.source == "lookup" or self.model is None:
            return self._lookup.propose(target, k)
        begin = time.perf_counter()
        if self._behind:
            self.model.follow(self._behind)
            self._behind = []
        caught_up = time.perf_counter() - begin
        proposal = self.model.propose(target, k)
        return replace(proposal, translate_s=proposal.translate_s + caught_up)

    def follow(self, committed: Sequence[int]) -> None:
        """Both take note, the model later."""
        self._lookup.follow(committed)
        self._behind += committed
        self._policy.offered = self._lookup.available()
