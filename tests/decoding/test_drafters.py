"""Who proposes, looked at alone."""

from __future__ import annotations

import makers
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decoder.drafters import LookupDrafter, NoDrafter, Proposal
from decoder.generation import Pair
from decoder.strategy import Strategy
from decoding import makers as tiny
from tokalign.translate import Tail

TARGET = makers.TARGET


def looked_up(prompt, k=4, **options) -> tuple[int, ...]:
    return LookupDrafter(TARGET, prompt, **options).propose(Tail(), k).translation.ids


def test_nobody_proposes_nothing():
    nobody = NoDrafter()
    nobody.follow([1, 2])
    assert nobody.propose(Tail(), 4) == Proposal()


def test_lookup_takes_what_followed_the_most_recent_of_the_longest_match():
    a, b, c, d, e = range(300, 305)
    assert looked_up([a, b, c, d, a, b]) == (c, d, a, b)
    assert looked_up([a, b, c, a, b, d, a, b]) == (d, a, b)
    assert looked_up([e, a, b, c, a, b, d, e, a, b]) == (c, a, b, d)
    assert looked_up([a, b, c, d, a, b], k=1) == (c,)
    assert looked_up([a, b, c, d, a, b], k=0) == ()


def test_lookup_needs_a_place_before():
    assert looked_up([]) == looked_up([300]) == looked_up([300, 301]) == looked_up([300, 301, 302]) == ()


def test_lookup_repeats_what_repeats():
    ids = TARGET.encode_bytes(b"nie, nie, nie, nie")
    assert TARGET.decode(looked_up(ids, 6)) in b", nie, nie" and looked_up(ids, 6)


def test_lookup_never_proposes_a_control_token():
    target, _ = tiny.PAIRS["same"]()
    end = tiny.control_id(target, "</s>")
    words = target.encode_bytes(b" kot")
    drafter = LookupDrafter(target, [300, 301, *words, end, 300, 301])
    found = drafter.propose(Tail(), 9)
    assert found.translation.ids == tuple(words) and found.text == b" kot"


@given(st.lists(st.integers(300, 303), max_size=40), st.integers(0, 5), st.integers(0, 40))
def test_lookup_against_a_search_through_the_text(ids, k, cut):
    drafter = LookupDrafter(TARGET, ids[:cut])
    drafter.follow(ids[cut:])
    wanted: tuple[int, ...] = ()
    for n in (4, 3, 2):
        places = [i for i in range(len(ids) - n) if ids[i : i + n] == ids[len(ids) - n :]]
        if places and len(ids) > n:
            wanted = tuple(ids[places[-1] + n :][:k])
            break
    assert drafter.propose(Tail(), k).translation.ids == wanted


def model_drafter(text: str, prompt: str, strategy: Strategy | None = None, heal: bool = True):
    target, draft = tiny.PAIRS["sentencepiece-from-bytes"]()
    scripted = tiny.copies(draft, text.encode(), 0, 0)
    pair = Pair(tiny.loaded(target, None), tiny.loaded(draft, scripted), strategy or Strategy())
    drafter = tiny.draft_of(pair, draft.encode(prompt), heal)
    return target, draft, drafter, Tail.of(target, target.encode(prompt))


def test_a_model_drafts_what_it_would_write():
    target, _, drafter, tail = model_drafter("Ala ma kota i psa.", "Ala ma")
    found = drafter.propose(tail, 3)
    assert len(found.drafted) == 3 and not found.ended
    assert b" kota i psa.".startswith(found.text)
    assert target.decode(found.translation.ids) == found.text
    assert drafter._lane.length == len(drafter.stream) + 2  # the last drafted token is not fed


def test_no_tokens_asked_no_step_taken():
    _, _, drafter, tail = model_drafter("Ala ma kota.", "Ala ma")
    before = drafter._lane.length
    assert drafter.propose(tail, 0) == Proposal() and drafter._lane.length == before


@pytest.mark.parametrize("prompt", ("A", "Ala ma"))
def test_a_prompt_is_prefilled_but_for_its_last_token(prompt):
    _, draft, drafter, _ = model_drafter("Ala ma kota.", prompt)
    assert drafter._lane.length == len(draft.encode(prompt)) - 1


def test_a_healed_draft_repeats_what_it_owes_and_proposes_what_is_new():
    text = "Zażółć gęślą jaźń polskiego"
    whole = next(
        data.decode()
        for data in tiny.PAIRS["sentencepiece-from-bytes"]()[1].vocabulary.table
        if data.startswith(b" ") and len(data) > 3 and data.isascii()
    )
    target, draft, drafter, tail = model_drafter(f"Ala{whole} i", f"Ala{whole[:-1]}")
    cut = len(draft.encode(f"Ala{whole[:-1]}"))
    found = drafter.propose(tail, 2)
    assert found.text.startswith(whole[-1:].encode())
    assert draft.decode(drafter.stream) + draft.decode(found.drafted) == f"Ala{whole}".encode() + found.text[1:]
    drafter.follow(target.encode_bytes(found.text[:1]))
    assert draft.decode(drafter.stream) == f"Ala{whole}".encode()
    assert len(drafter.stream) <= cut + 1 and text


def test_a_draft_that_would_stop_says_so():
    target, draft = tiny.PAIRS["sentencepiece-from-bytes"]()
    end = tiny.control_id(draft, "<|im_end|>")
    words = draft.encode("Ala ma")
    scripted = tiny.Scripted(len(draft.vocabulary.table), lambda ids: end)
    pair = Pair(tiny.loaded(target, None), tiny.loaded(draft, scripted))
    drafter = tiny.draft_of(pair, words, heal=False)
    found = drafter.propose(Tail.of(target, target.encode("Ala ma")), 3)
    assert found.ended and found.drafted == () and found.text == b"" and found.translation.ids == ()
    other = tiny.control_id(draft, "<|im_start|>")
    scripted.following = lambda ids: other
    drafter.follow(target.encode_bytes(b" k"))
    assert not drafter.propose(Tail.of(target, target.encode("Ala ma k")), 3).ended
