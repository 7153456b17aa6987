"""Encodings from pieces equal those of the whole text, whatever the text and wherever it is cut."""

from __future__ import annotations

import makers
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokalign.tune.pieces import Pieces, pieced

TEXTS = makers.polish_texts(20)
MADE = {
    "sentencepiece": makers.trained(TEXTS, 1200),
    "byte-level": makers.trained(TEXTS, 900, "byte-level"),
    "NFC": makers.byte_level([" kot", "ż"], normalizer={"type": "NFC"}),
}
WORDS = st.sampled_from(
    [*" ".join(TEXTS).split()[:400], "a\u0301", "▁", "a▁b", "<s>", "🙂", "10\u00a0000", "", "\n", "…"]
)
TEXT = st.lists(WORDS | st.text(max_size=4), max_size=12).map(" ".join)


@pytest.mark.parametrize("name", MADE)
@given(text=TEXT, cut=st.tuples(st.integers(0, 60), st.integers(0, 60)))
def test_pieces_are_the_whole(name: str, text: str, cut: tuple[int, int]) -> None:
    tokenizer = MADE[name]
    found = pieced(tokenizer)
    assert isinstance(found, Pieces)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return
    assert found.encode(text) == tokenizer.encode(text)
    part = data[cut[0] : len(data) - cut[1]]
    assert found.encode_bytes(part) == tokenizer.encode_bytes(part)


def test_a_vocabulary_that_forbids_pieces_is_left_as_it_is() -> None:
    extra = {"id": 256, "content": "kot dom", "special": False, "normalized": False}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    bridging = makers.byte_level(added_tokens=[extra | flags])
    assert not bridging.word_starts_are_safe and pieced(bridging) is bridging
