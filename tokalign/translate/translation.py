"""Draft bytes → target candidates, exact in bytes: the translation that is tuned is the one that runs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

from tokalign.tokenizers import Tokenizer
from tokalign.translate.tail import Tail


@dataclass(frozen=True, slots=True)
class Translation:
    """Target candidates for one round.

    ``ids`` stand, from the committed end on, for the drafted text without ``held``: the bytes held back at
    its end because they begin a letter that the draft did not finish. ``window`` is the number of committed
    tokens that were encoded with the draft. ``merged`` says that no token boundary fell on the committed
    end, so that the draft was encoded without what stands before it.
    """

    ids: tuple[int, ...] = ()
    window: int = 0
    held: bytes = b""
    merged: bool = False


class Translator(Protocol):
    """Anything that turns a draft into candidates for what follows ``tail``."""

    def translate(self, tail: Tail, draft: bytes) -> Translation:
        """Candidates for the draft's text; empty where nothing fits."""
        ...


@dataclass(frozen=True)
class ExactTranslator:
    """Encodes the draft behind a window of committed text and takes the tokens that start at its end.

    ``p`` is the number of committed tokens in the window; None anchors the window at the last word start
    instead, the nearest boundary that nothing to its right can change. ``hold_back`` leaves out the last
    candidate, which the end of the draft may have cut short.
    """

    target: Tokenizer
    p: int | None = None
    hold_back: bool = False

    def translate(self, tail: Tail, draft: bytes) -> Translation:
        """See the class. Control tokens never come out: the draft is text."""
        draft, held = whole_letters(draft)
        if not draft:
            return Translation(held=held)
        merged = False
        first = self._window_start(tail, draft)
        ids = self._behind(tail, first, draft)
        if ids is None and self.p is not None:
            # A window of a fixed length may begin inside a word; the word's own start is the wider window.
            wider = self._anchor(tail, draft)
            if wider < first:
                first = wider
                ids = self._behind(tail, first, draft)
        if ids is None:
            merged, first = True, len(tail.ids)
            ids = self.target.encode_bytes(draft)
        if self.hold_back:
            ids = ids[:-1]
        return Translation(tuple(ids), len(tail.ids) - first, held, merged)

    def _window_start(self, tail: Tail, draft: bytes) -> int:
        if self.p is None:
            return self._anchor(tail, draft)
        first = max(0, len(tail.ids) - self.p)
        while first and first < len(tail.ids) and _continues_letter(tail.text, tail.start(first)):
            first -= 1
        return first

    @staticmethod
    def _anchor(tail: Tail, draft: bytes) -> int:
        return tail.word_start(len(tail.ids), draft) or 0

    def _behind(self, tail: Tail, first: int, draft: bytes) -> list[int] | None:
        """The tokens from the committed end on, or None where a token lies across it."""
        context = tail.text[tail.start(first) :]
        ids = self.target.encode_bytes(context + draft)
        if not context:
            return ids
        table = self.target.vocabulary.table
        for n, end in enumerate(accumulate(len(table[i]) for i in ids), 1):
            if end >= len(context):
                return ids[n:] if end == len(context) else None
        return None


def whole_letters(data: bytes) -> tuple[bytes, bytes]:
    """Split off an unfinished UTF-8 letter at the end: (whole, unfinished)."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return (data[:-back], data[-back:]) if length > back else (data, b"")
        if byte < 0x80:
            break
    return data, b""


def _continues_letter(text: bytes, at: int) -> bool:
    return at < len(text) and 0x80 <= text[at] < 0xC0
