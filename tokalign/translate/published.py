"""The translations of the published study, kept as baselines: what exactness is measured against.

They follow arXiv 2604.16368 as far as it describes them. Text passes through ``decode``, which drops a leading
space and turns an unfinished letter into U+FFFD, and is encoded as if it were a document, dummy prefix and all.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokalign.tokenizers import Tokenizer
from tokalign.translate.tail import Tail
from tokalign.translate.translation import Translation


@dataclass(frozen=True)
class NaiveTranslator:
    """The draft's text alone, encoded as a document of its own."""

    target: Tokenizer
    draft: Tokenizer

    def translate(self, tail: Tail, draft: bytes) -> Translation:
        """Candidates for a text round trip without context; ``tail`` is not looked at."""
        return Translation(tuple(self.target.encode(as_text(self.draft, draft))))


@dataclass(frozen=True)
class CountedTranslator:
    """The last ``p`` committed tokens put in front as text, and as many tokens taken off after encoding."""

    target: Tokenizer
    draft: Tokenizer
    p: int

    def translate(self, tail: Tail, draft: bytes) -> Translation:
        """Candidates by token count; where the context encodes to another number of tokens they are shifted."""
        first = max(0, len(tail.ids) - self.p)
        context = as_text(self.target, tail.text[tail.start(first) :])
        ids = self.target.encode(context + as_text(self.draft, draft))
        return Translation(tuple(ids[len(tail.ids) - first :]), len(tail.ids) - first)


@dataclass(frozen=True)
class LengthTranslator:
    """The last ``p`` committed tokens put in front, and as many taken off as they encode to on their own."""

    target: Tokenizer
    p: int

    def translate(self, tail: Tail, draft: bytes) -> Translation:
        """Candidates by the re-encoded prefix's own length, both encodings with the dummy prefix."""
        first = max(0, len(tail.ids) - self.p)
        context = tail.text[tail.start(first) :].decode(errors="replace")
        ids = self.target.encode(context + draft.decode(errors="replace"))
        return Translation(tuple(ids[len(self.target.encode(context)) :]), len(tail.ids) - first)


def as_text(tokenizer: Tokenizer, data: bytes) -> str:
    """Bytes as the tokenizer's own ``decode`` gives them: no dummy prefix, U+FFFD for unfinished letters."""
    text = data.decode(errors="replace")
    return text.removeprefix(" ") if tokenizer.dummy_prefix else text
