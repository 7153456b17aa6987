"""Who proposes: a model, the text so far, or nobody."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import mlx.core as mx

from decoder.bridge import Bridge
from decoder.healing import Healer
from decoder.lane import Lane
from tokalign.tokenizers import Tokenizer
from tokalign.translate import Tail, Translation


@dataclass(frozen=True, slots=True)
class Proposal:
    """Target candidates for one round and what they came from.

    ``drafted`` are the draft's own ids (empty where it has none), ``text`` the bytes it drafted. ``ended``
    says that the draft would stop after them. Times are seconds.
    """

    translation: Translation = Translation()
    drafted: tuple[int, ...] = ()
    text: bytes = b""
    ended: bool = False
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

    def __init__(self, target: Tokenizer, prompt: Sequence[int], *, longest: int = 4, shortest: int = 2) -> None:
        self._target = target
        self._sizes = range(longest, shortest - 1, -1)
        self._ids: list[int] = []
        self._after: dict[tuple[int, ...], int] = {}
        self.follow(prompt)

    def propose(self, target: Tail, k: int) -> Proposal:
        """Up to ``k`` tokens that followed before."""
        begin = time.perf_counter()
        ids = self._ids
        for n in self._sizes:
            at = self._after.get(tuple(ids[-n:])) if len(ids) > n else None
            if at is not None:
                found = tuple(ids[at : at + k])
                control = self._target.vocabulary.control
                end = next((j for j, i in enumerate(found) if i in control), len(found))
                text = self._target.decode(found[:end])
                return Proposal(Translation(found[:end]), (), text, False, time.perf_counter() - begin)
        return Proposal(draft_s=time.perf_counter() - begin)

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
    is committed already and which the drafted tokens repeat.
    """

    def __init__(
        self,
        lane: Lane,
        tokenizer: Tokenizer,
        bridge: Bridge,
        prompt: Sequence[int],
        eos: frozenset[int],
        healer: Healer | None = None,
    ) -> None:
        self._lane = lane
        self._tokenizer = tokenizer
        self._bridge = bridge
        self._eos = eos
        self._healer = healer
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
        drafted = self._draft(k)
        drafted_at = time.perf_counter()
        table = self._tokenizer.vocabulary.table
        end = next((n for n, i in enumerate(drafted) if i >= len(table) or not table[i]), k)
        ended = end < k and drafted[end] in self._eos
        text = self._tokenizer.decode(drafted[:end])[len(self._owed) :]
        translation = self._bridge.propose(target, drafted[:end], text)
        done = time.perf_counter()
        return Proposal(translation, drafted[:end], text, ended, drafted_at - begin, done - drafted_at)

    def _draft(self, k: int) -> tuple[int, ...]:
        word = self._open_word()
        keep = min(self._valid, len(self.stream) - 1 - word)
        self._lane.trim(self._lane.length - keep)
        logits = self._lane.feed(mx.array(self.stream[keep:]))
        y = self._healed(logits, word) if word else mx.argmax(logits[-1:], axis=-1)
        steps = [y]
        for _ in range(k - 1):
            y = mx.argmax(self._lane.feed(y), axis=-1)
            steps.append(y)
        drafted = tuple(mx.concatenate(steps).tolist())
        self._cached, self._valid = drafted[:-1], len(self.stream)
        return drafted

    def _open_word(self) -> int:
        """How many tokens at the stream's end belong to the word that the draft may write anew."""
        if self._healer is None or not self.tail.ids:
            return 0
        start = self.tail.word_start(len(self.tail.ids) - 1)
        return 0 if start is None else min(len(self.tail.ids) - start, len(self.stream) - 1)

    def _healed(self, logits: mx.array, word: int) -> mx.array:
        kept, y = self._healer.first(logits[-1 - word :], self.stream[-word:])
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
