"""The tokens that two vocabularies share, by their bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tokalign.tokenizers import Tokenizer


@dataclass(frozen=True)
class Intersection:
    """``target_of`` maps a draft id to the target id of the same bytes, for the ids that have one.

    Where the target has several ids for one string of bytes ("A" and the byte token of 0x41), the one that
    its own encoder uses is taken, because the target model writes that one.
    """

    target_of: Mapping[int, int]

    @classmethod
    def of(cls, target: Tokenizer, draft: Tokenizer) -> Intersection:
        """Find the shared tokens of two vocabularies."""
        by_bytes: dict[bytes, int] = {}
        for i, data in enumerate(target.vocabulary.table):
            if data and (data not in by_bytes or target.encode_bytes(data) == [i]):
                by_bytes[data] = i
        table = draft.vocabulary.table
        return cls({i: by_bytes[data] for i, data in enumerate(table) if data in by_bytes})
