"""Strategies by name, and the bridge that each builds."""

from __future__ import annotations

import json

import makers
import pytest

from decoder.bridge import AsPublished, ByBytes, SameIds
from decoder.errors import PairError
from decoder.strategy import Strategy, same_vocabulary
from decoding import makers as tiny
from tokalign.translate import CountedTranslator, ExactTranslator, NaiveTranslator, Tail

TARGET, DRAFT = makers.TARGET, makers.DRAFT


@pytest.mark.parametrize("name", ("anchored", "context:0", "context:999", "none", "naive", "counted:5"))
def test_a_name_says_what_it_names(name):
    assert str(Strategy.parse(name)) == name
    assert Strategy.parse(name).exact == name.startswith(("anchored", "context"))


def test_the_name_tells_what_is_unusual():
    assert str(Strategy.parse("anchored", hold_back=True)) == "anchored hold-back"
    assert str(Strategy.parse("context:2", heal=False)) == "context:2 no-heal"


@pytest.mark.parametrize(
    "name", ("", "context", "context:", "context:-1", "context:1000", "Anchored", "naive:2")
)
def test_other_names_are_refused_with_the_choice(name):
    with pytest.raises(PairError, match="anchored, context:P"):
        Strategy.parse(name)


def test_bridges():
    def translator(name, **options):
        bridge = Strategy.parse(name, **options).bridge(TARGET, DRAFT)
        assert isinstance(bridge, (ByBytes, AsPublished))
        return bridge.translator

    assert translator("anchored") == ExactTranslator(TARGET, None)
    assert translator("anchored", hold_back=True) == ExactTranslator(TARGET, None, hold_back=True)
    assert translator("context:3") == ExactTranslator(TARGET, 3)
    assert translator("naive") == NaiveTranslator(TARGET, DRAFT)
    assert translator("counted:5") == CountedTranslator(TARGET, DRAFT, 5)
    assert isinstance(Strategy.parse("none").bridge(TARGET, DRAFT), SameIds)


def test_one_vocabulary_needs_no_translation():
    target, draft = tiny.PAIRS["same"]()
    padded = tiny.with_control(makers.trained(makers.polish_texts(3), 400), "a", ("<s>",))
    other = tiny.with_control(makers.trained(makers.polish_texts(3), 400), "b", tiny.CONTROL)
    assert same_vocabulary(target, draft)
    assert same_vocabulary(padded, other)  # control tokens have no part in it
    assert isinstance(Strategy().bridge(padded, other), SameIds)
    assert isinstance(Strategy.parse("naive").bridge(target, draft), AsPublished)


def test_equal_sizes_are_no_equal_vocabularies():
    one = makers.byte_level([" kot", " dom"], name="one")
    two = makers.byte_level([" kot", " sok"], name="two")
    assert len(one.vocabulary.table) == len(two.vocabulary.table)
    assert not same_vocabulary(one, two)
    bridge = Strategy().bridge(one, two)
    assert isinstance(bridge, ByBytes)
    words = two.encode_bytes(b" sok")
    found = bridge.propose(Tail.of(one, one.encode_bytes(b"ala")), words, b" sok")
    assert one.decode(found.ids) == b" sok"


def test_a_draft_that_cannot_spell_every_text_is_refused():
    whole = json.loads(makers.sentencepiece([" kot"])._document.to_str())
    vocabulary = {p: i for p, i in whole["model"]["vocab"].items() if p != "<0xC5>"}
    spec = {"model": whole["model"] | {"vocab": vocabulary}}
    poor = makers.sentencepiece([" kot"], name="poor", **spec)
    with pytest.raises(PairError, match="'poor' has no token for the byte 0xc5"):
        Strategy().bridge(TARGET, poor)
    bridge = Strategy().bridge(poor, DRAFT)  # as a target it is proposed what it can spell
    assert bridge.propose(Tail(), (), b" kot").ids
    assert bridge.propose(Tail(), (), " ź".encode()).ids == ()
