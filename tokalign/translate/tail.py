"""The open end of a token stream: all that a translation needs to know of the text so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from tokalign.tokenizers import WORD_START, Tokenizer

KEEP = 16  # tokens kept at least, for windows of a fixed number of tokens
LIMIT = 64  # tokens kept at most, where no word starts for long (a URL, Chinese text)


@dataclass(frozen=True, slots=True)
class Tail:
    """The last tokens of a stream, from a boundary that nothing to its right can change.

    ``ids`` are the stream's own ids and are never re-encoded. ``text`` is the bytes they stand for; a dummy
    prefix counts as the space it is. ``ends[i]`` is the byte offset in ``text`` where token ``i`` ends.
    ``settled`` says that the tail starts at such a boundary (the stream's start, a control token or a word
    start) rather than at the limit. The size is bounded, so that the cost of a translation does not grow
    with the length of the stream.
    """

    ids: tuple[int, ...] = ()
    text: bytes = b""
    settled: bool = True
    ends: tuple[int, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, tokenizer: Tokenizer, ids: Sequence[int]) -> Tail:
        """The tail of a whole stream, such as a prompt; it starts after the last control token."""
        control = tokenizer.vocabulary.control
        begin = next((i + 1 for i in range(len(ids) - 1, -1, -1) if ids[i] in control), 0)
        tail = cls(settled=True)
        for i in range(begin, len(ids), KEEP):
            tail = tail.extend(tokenizer, ids[i : i + KEEP])
        return tail

    def extend(self, tokenizer: Tokenizer, new: Iterable[int]) -> Tail:
        """The tail after more tokens. A control token among them starts a new tail after it."""
        new = list(new)
        control = tokenizer.vocabulary.control
        last = next((i for i in range(len(new) - 1, -1, -1) if new[i] in control), None)
        if last is not None:
            return Tail().extend(tokenizer, new[last + 1 :])
        table = tokenizer.vocabulary.table
        ids = self.ids + tuple(new)
        parts = [table[i] if i < len(table) else b"" for i in new]
        base = len(self.text)
        ends = self.ends + tuple(base + e for e in accumulate(len(p) for p in parts))
        return Tail(ids, self.text + b"".join(parts), self.settled, ends)._shortened()

    def without(self, n: int) -> Tail:
        """The tail without its last ``n`` tokens."""
        kept = len(self.ids) - n
        return Tail(self.ids[:kept], self.text[: self.start(kept)], self.settled, self.ends[:kept])

    def _shortened(self) -> Tail:
        if len(self.ids) <= KEEP:
            return self
        cut = self.word_start(len(self.ids) - KEEP)
        settled = True
        if not cut:
            if len(self.ids) <= LIMIT:
                return self
            cut, settled = len(self.ids) - LIMIT, False
        at = self.ends[cut - 1]
        return Tail(self.ids[cut:], self.text[at:], settled, tuple(e - at for e in self.ends[cut:]))

    def start(self, index: int) -> int:
        """Byte offset at which token ``index`` starts; ``index`` may be the number of tokens."""
        return self.ends[index - 1] if index else 0

    def word_start(self, limit: int, following: bytes = b"") -> int | None:
        """The last token index ≤ ``limit`` at which a word starts, or None.

        The stream's own start counts. ``following`` is text after the tail: where it begins with a space,
        a word can start at the very end of the tail.
        """
        text = self.text + following[:1]
        for index in range(limit, 0, -1):
            at = self.ends[index - 1]
            if text[at : at + 1] == b" " and WORD_START.match(text, at):
                return index
        return 0 if self.settled else None
