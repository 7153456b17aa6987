"""Bytes in are bytes out, and the fast ends are the slow ends, for every family."""

from __future__ import annotations

import unicodedata

import pytest
from families import MADE, PUBLISHED, family
from hypothesis import given
from hypothesis import strategies as st

from tokalign.tokenizers import Tokenizer, Unaligned

POLISH = st.text(alphabet="aąbcćdeęfghijklłmnńoóprsśtuwyzźżAĄĆĘŁŃÓŚŹŻ  \n,.–„”0123456789\u00a0", max_size=80)
NASTY = st.sampled_from(
    [
        "\u00ad",
        "\u200b",
        "\u200d",
        "▁",
        "<s>",
        "</s>",
        "<|im_end|>",
        "<0x41>",
        "🙂",
        "👨‍👩‍👧",
        "z\u0307",
        "\ufffd",
        "\r\n",
    ]
)
MIXED = st.lists(st.one_of(POLISH, NASTY, st.text(max_size=20)), max_size=8).map("".join)


def slow_ends(tokenizer: Tokenizer, text: str, ids: list[int]) -> list[int]:
    """Ends by decoding ever longer beginnings, without the cumulative sum and without offsets."""
    prefix = len(tokenizer.decode(ids)) - len(text.encode())
    return [len(tokenizer.decode(ids[: n + 1])) - prefix for n in range(len(ids))]


@pytest.mark.parametrize("name", [*MADE, *PUBLISHED])
@given(text=MIXED)
def test_every_byte_has_one_token(name: str, text: str):
    tokenizer = family(name)
    if tokenizer is None:
        pytest.skip(f"the vocabulary of {name} is not installed")
    try:
        found = tokenizer.segment(text)
    except Unaligned:
        assert unicodedata.normalize("NFC", text) != text, "only rewritten text may be refused"
        return
    ends = found.ends.tolist()
    assert ends == sorted(ends)
    assert (ends[-1] if ends else 0) == len(text.encode())
    assert not set(found.ids.tolist()) & set(tokenizer.vocabulary.control)
    if found.path == "bytes":
        assert (
            tokenizer.decode(found.ids).removeprefix(b" " * tokenizer.dummy_prefix).endswith(text.encode()[1:])
        )
        assert ends == slow_ends(tokenizer, text, found.ids.tolist())


@pytest.mark.parametrize("name", [*MADE, *PUBLISHED])
@given(text=POLISH)
def test_the_offsets_path_agrees_with_the_sums(name: str, text: str):
    tokenizer = family(name)
    if tokenizer is None:
        pytest.skip(f"the vocabulary of {name} is not installed")
    found = tokenizer.segment(text)
    if found.path == "bytes":
        assert tokenizer._by_offsets(text).ends.tolist() == found.ends.tolist()


@pytest.mark.parametrize("name", [*MADE, *PUBLISHED])
@given(data=st.one_of(st.binary(max_size=40), MIXED.map(str.encode)), cut=st.integers(0, 40))
def test_any_bytes_continue_exactly(name: str, data: bytes, cut: int):
    tokenizer = family(name)
    if tokenizer is None:
        pytest.skip(f"the vocabulary of {name} is not installed")
    assert tokenizer.decode(tokenizer.encode_bytes(data)) == data
    assert tokenizer.decode(tokenizer.encode_bytes(data[cut:])) == data[cut:]
