"""How a draft reaches the target and how the target's text reaches the draft: one strategy a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from decoder.intersection import Intersection
from tokalign.tokenizers import Tokenizer
from tokalign.tokenizers.tokenizer import Unaligned
from tokalign.translate import Resync, Tail, Translation, Translator, resynchronise
from tokalign.translate.published import as_text


class Bridge(Protocol):
    """A translation strategy, both ways. Tails are the open ends of the target's and the draft's streams."""

    def propose(self, target: Tail, drafted: Sequence[int], text: bytes) -> Translation:
        """Target candidates for drafted tokens, whose ``text`` follows the text that ``target`` ends."""
        ...

    def follow(self, draft: Tail, cached: Sequence[int], committed: Sequence[int], owed: bytes = b"") -> Resync:
        """Bring the draft to newly committed target tokens; its cache holds ``cached`` beyond ``draft``.

        ``owed`` is text before them that ``draft`` does not hold, because the draft rewrote its last word.
        """
        ...


@dataclass(frozen=True)
class SameIds:
    """Ids pass as they are, both ways: right for one vocabulary, the study's 'none' for two.

    Ids that the receiving side does not have end the draft, or are left out of its context.
    """

    target: Tokenizer
    draft: Tokenizer

    def propose(self, target: Tail, drafted: Sequence[int], text: bytes) -> Translation:
        """The drafted ids up to the first that is no text for the target."""
        table = self.target.vocabulary.table
        end = next((n for n, i in enumerate(drafted) if i >= len(table) or not table[i]), len(drafted))
        return Translation(tuple(drafted[:end]), 0)

    def follow(self, draft: Tail, cached: Sequence[int], committed: Sequence[int], owed: bytes = b"") -> Resync:
        """Keep what agrees with the cache, feed the rest."""
        size = len(self.draft.vocabulary.table)
        return _kept(self.draft, draft, cached, [i for i in committed if i < size])


@dataclass(frozen=True)
class ByBytes:
    """Exact translation both ways, through bytes."""

    target: Tokenizer
    draft: Tokenizer
    translator: Translator

    def propose(self, target: Tail, drafted: Sequence[int], text: bytes) -> Translation:
        """See :class:`tokalign.translate.ExactTranslator`; nothing where the target cannot spell the draft."""
        try:
            return self.translator.translate(target, text)
        except Unaligned:
            return Translation()

    def follow(self, draft: Tail, cached: Sequence[int], committed: Sequence[int], owed: bytes = b"") -> Resync:
        """See :func:`tokalign.translate.resynchronise`."""
        return resynchronise(self.draft, draft, cached, owed + self.target.decode(committed))


@dataclass(frozen=True)
class ById:
    """Drafted ids passed one by one to the target ids of the same bytes; the way back through bytes."""

    target: Tokenizer
    draft: Tokenizer
    shared: Intersection

    def propose(self, target: Tail, drafted: Sequence[int], text: bytes) -> Translation:
        """The target ids of the drafted ones, up to the first that has none."""
        ids = [self.shared.target_of.get(i) for i in drafted]
        end = next((n for n, i in enumerate(ids) if i is None), len(ids))
        return Translation(tuple(i for i in ids[:end] if i is not None))

    def follow(self, draft: Tail, cached: Sequence[int], committed: Sequence[int], owed: bytes = b"") -> Resync:
        """See :func:`tokalign.translate.resynchronise`."""
        return resynchronise(self.draft, draft, cached, owed + self.target.decode(committed))


@dataclass(frozen=True)
class AsPublished:
    """The study's way back: each block of accepted tokens decoded on its own, which loses its leading space,
    and encoded for the draft as a text of its own."""

    target: Tokenizer
    draft: Tokenizer
    translator: Translator

    def propose(self, target: Tail, drafted: Sequence[int], text: bytes) -> Translation:
        """See :mod:`tokalign.translate.published`."""
        return self.translator.translate(target, text)

    def follow(self, draft: Tail, cached: Sequence[int], committed: Sequence[int], owed: bytes = b"") -> Resync:
        """The block's text, encoded as a document; its bytes are not always the committed ones."""
        wanted = self.draft.encode(as_text(self.target, self.target.decode(committed)))
        return _kept(self.draft, draft, cached, wanted)


def _kept(tokenizer: Tokenizer, tail: Tail, cached: Sequence[int], wanted: Sequence[int]) -> Resync:
    same = 0
    for have, want in zip(cached, wanted, strict=False):
        if have != want:
            break
        same += 1
    return Resync(len(cached) - same, tuple(wanted[same:]), tail.extend(tokenizer, wanted))
