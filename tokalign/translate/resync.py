"""Committed bytes → draft context: what the draft's cache must hold after a round, and what of it is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokalign.tokenizers import Tokenizer
from tokalign.translate.tail import Tail


@dataclass(frozen=True, slots=True)
class Resync:
    """How to bring the draft's cache to the committed text.

    Of the cached tokens, drop the last ``trim``; then ``feed`` the rest. ``tail`` is the draft stream's tail
    afterwards; it decodes to the committed text.
    """

    trim: int
    feed: tuple[int, ...]
    tail: Tail


def resynchronise(draft: Tokenizer, tail: Tail, drafted: Sequence[int], committed: bytes) -> Resync:
    """Follow a round in the draft's vocabulary.

    ``tail`` is the draft stream before the round, ``drafted`` the tokens that the draft's cache holds beyond
    it, ``committed`` the bytes that the target has emitted since. The text from the last word start on is
    encoded anew, as the draft would have met it in training, leading spaces and all; the longest common
    prefix with what the cache holds is kept.
    """
    anchor = tail.word_start(len(tail.ids), committed) or 0
    cached = tail.ids[anchor:] + tuple(drafted)
    wanted = tuple(draft.encode_bytes(tail.text[tail.start(anchor) :] + committed))
    same = 0
    for have, want in zip(cached, wanted, strict=False):
        if have != want:
            break
        same += 1
    head = Tail(tail.ids[:anchor], tail.text[: tail.start(anchor)], tail.settled, tail.ends[:anchor])
    return Resync(len(cached) - same, wanted[same:], head.extend(draft, wanted))
