"""What an anchored window gives is what encoding the whole text gives; what the draft is told is the text."""

from __future__ import annotations

from itertools import accumulate

import pytest
from families import MADE, PUBLISHED, family
from hypothesis import given
from hypothesis import strategies as st

from tokalign.tokenizers import Tokenizer
from tokalign.translate import ExactTranslator, Tail, resynchronise, whole_letters

TEXT = st.text(alphabet="aąbcćdeęiklłmnńoóprsśtuwyzźżŁŻŃ   ,.–\n0123\u00a0", min_size=1, max_size=120)
NAMES = [*MADE, *PUBLISHED]


def needed(name: str) -> Tokenizer:
    tokenizer = family(name)
    if tokenizer is None:
        pytest.skip(f"the vocabulary of {name} is not installed")
    return tokenizer


def whole(tokenizer: Tokenizer, stream: bytes, at: int) -> list[int] | None:
    """Slow definition: encode all of the text, take what starts at ``at``; None where no token starts there."""
    ids = tokenizer.encode_bytes(stream)
    ends = [0, *accumulate(len(tokenizer.vocabulary.table[i]) for i in ids)]
    return ids[ends.index(at) :] if at in ends else None


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXT, where=st.floats(0, 1), length=st.integers(1, 30), p=st.one_of(st.none(), st.integers(0, 16)))
def test_candidates_are_those_of_the_whole_text(name: str, text: str, where: float, length: int, p: int | None):
    target = needed(name)
    ids = target.encode(text)
    cut = int(where * len(ids))
    committed = target.decode(ids[:cut])
    draft = target.decode(ids)[len(committed) :][:length]
    found = ExactTranslator(target, p).translate(Tail.of(target, ids[:cut]), draft)
    assert target.decode(found.ids) + found.held == draft
    if p is None and not found.merged:
        assert list(found.ids) == whole(
            target, committed + draft[: len(draft) - len(found.held)], len(committed)
        )


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXT, other=TEXT, where=st.floats(0, 1))
def test_committed_ids_of_any_kind(name: str, text: str, other: str, where: float):
    """Ids that no encoder would give (a model may emit any) still translate: the bytes are the draft's."""
    target = needed(name)
    ids = [i for c in text for i in target.encode_bytes(c.encode())]
    found = ExactTranslator(target).translate(Tail.of(target, ids), other.encode())
    assert target.decode(found.ids) + found.held == other.encode()


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXT, drafted=TEXT, came=st.binary(max_size=20), keep=st.floats(0, 1))
def test_the_draft_follows_the_committed_text(name: str, text: str, drafted: str, came: bytes, keep: float):
    draft = needed(name)
    tail = Tail.of(draft, draft.encode_bytes(text.encode()))
    ids = draft.encode_bytes(drafted.encode())
    committed = draft.decode(ids[: int(keep * len(ids))]) + came
    back = resynchronise(draft, tail, ids, committed)
    assert tail.text.endswith(back.tail.text) or (tail.text + committed).endswith(back.tail.text)
    stream = [*tail.ids, *ids]
    stream = stream[: len(stream) - back.trim] + list(back.feed)
    assert draft.decode(stream) == tail.text + committed
    assert back.tail.ids == tuple(stream[len(stream) - len(back.tail.ids) :])


@given(data=st.binary(max_size=12))
def test_letters_are_cut_off_whole(data: bytes):
    kept, held = whole_letters(data)
    assert kept + held == data and len(held) <= 3


@given(text=st.text(max_size=20), cut=st.integers(0, 80))
def test_a_cut_letter_is_held_back(text: str, cut: int):
    data = text.encode()[:cut]
    kept, held = whole_letters(data)
    assert kept.decode() + "" == data.decode(errors="ignore")
    assert held == data[len(kept) :]
