"""Encodings put together from those of words: the same, several times faster where words recur.

A cut at a word start moves no token boundary (`Tokenizer.word_starts_are_safe`), so a text's tokens are those
of its words in order. The windows of a sweep over p are made of the same few words again and again.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cached_property
from typing import cast

from tokalign.tokenizers import WORD_START, Tokenizer, Vocabulary
from tokalign.tokenizers.vocabulary import SPACE

_MOST = 100_000  # words, or texts, that are remembered


class Pieces:
    """What translations use of a tokenizer, from pieces; see `pieced`."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.vocabulary: Vocabulary = tokenizer.vocabulary
        self._texts: dict[str, list[int]] = {}
        self._start = _Remembered(lambda word: tokenizer.encode(word.decode()))  # of a document
        self._first = _Remembered(tokenizer.encode_bytes)  # of a continuation
        self._later = _Remembered(lambda word: tokenizer.encode_bytes(b" " + word))

    @cached_property
    def dummy_prefix(self) -> bool:
        return self._tokenizer.dummy_prefix

    def encode(self, text: str) -> list[int]:
        """As `Tokenizer.encode`; the list is not to be changed, since half of the texts come again."""
        found = self._texts.get(text)
        if found is None:
            if len(self._texts) > _MOST:
                self._texts.clear()
            found = self._joined(self._start, text.encode())
            found = self._texts[text] = self._tokenizer.encode(text) if found is None else found
        return found

    def encode_bytes(self, data: bytes) -> list[int]:
        """As `Tokenizer.encode_bytes`."""
        found = self._joined(self._first, data)
        return self._tokenizer.encode_bytes(data) if found is None else found

    def _joined(self, start: _Remembered, data: bytes) -> list[int] | None:
        first, *rest = WORD_START.split(data)
        ids = start[first]
        if not rest or ids is None:
            return ids
        ids, later = ids.copy(), self._later
        for word in rest:
            found = later[word]
            if found is None:
                return None
            ids += found
        return ids


class _Remembered(dict[bytes, "list[int] | None"]):
    """Words with their ids, None for a word that is no piece of a text."""

    def __init__(self, encode: Callable[[bytes], list[int]]) -> None:
        super().__init__()
        self._encode = encode

    def __missing__(self, word: bytes) -> list[int] | None:
        if len(self) > _MOST:
            self.clear()
        found = self[word] = self._encode(word) if _plain(word) else None
        return found


def pieced(tokenizer: Tokenizer) -> Tokenizer:
    """The tokenizer for the use of translators, from pieces where its vocabulary allows it.

    It must have a token for every byte, and none that reaches across a word start.
    """
    if len(tokenizer.vocabulary.byte_ids) < 256 or not tokenizer.word_starts_are_safe:
        return tokenizer
    return cast(Tokenizer, Pieces(tokenizer))


def _plain(word: bytes) -> bool:
    """Whether no encoder rewrites the word, which could change how the text around it is encoded."""
    if word.isascii():
        return True
    text = word.decode(errors="ignore")  # a window or a draft may cut a letter
    return SPACE not in text and unicodedata.is_normalized("NFC", text)
