"""Where rounds begin: between words, inside one, or inside one where the draft's vocabulary has no boundary."""

from __future__ import annotations

from itertools import accumulate, takewhile
from typing import Literal

from tokalign.tokenizers import Tokenizer

Place = Literal["outside", "inside", "barred"]
REACH = 96  # bytes looked at on either side


def place(before: bytes, after: bytes, draft: Tokenizer | None) -> Place:
    """The place between two texts.

    ``barred``: inside a word whose own spelling in the draft's vocabulary (behind a space) has no token
    boundary there, so that a draft starting there continues text as its model has not met it in training.
    """
    if after[:1] and 0x80 <= after[0] < 0xC0:  # inside a letter
        return "inside" if draft is None else "barred"
    left = before[-REACH:].decode(errors="ignore")
    right = after[:REACH].decode(errors="ignore")
    head = "".join(takewhile(str.isalpha, reversed(left)))[::-1].encode()
    rest = "".join(takewhile(str.isalpha, right)).encode()
    if not head or not rest:
        return "outside"
    if draft is None:
        return "inside"
    table = draft.vocabulary.table
    ends = accumulate(len(table[i]) for i in draft.encode_bytes(b" " + head + rest))
    return "inside" if len(head) + 1 in ends else "barred"
