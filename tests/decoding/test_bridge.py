"""Both ways over each bridge, by hand."""

from __future__ import annotations

import makers

from decoder.bridge import AsPublished, ByBytes, SameIds
from decoding import makers as tiny
from tokalign.translate import ExactTranslator, NaiveTranslator, Tail

TARGET, DRAFT = makers.TARGET, makers.DRAFT


def test_bytes_keep_spaces_and_letters():
    bridge = ByBytes(TARGET, DRAFT, ExactTranslator(TARGET))
    committed = TARGET.encode_bytes(b" kot")
    drafted = DRAFT.encode_bytes("ami źle".encode())
    found = bridge.propose(Tail.of(TARGET, committed), drafted, "ami źle".encode())
    assert TARGET.decode(found.ids) == "ami źle".encode()
    tail = Tail.of(DRAFT, DRAFT.encode_bytes(b"ala"))
    back = bridge.follow(tail, DRAFT.encode_bytes(b" kot z"), TARGET.encode_bytes(b" kot na"))
    assert back.trim == 1 and DRAFT.decode(back.feed) == b"na"  # the space before it is in the cache already
    assert back.tail.text == b"ala kot na"


def test_what_is_owed_stands_before_what_is_committed():
    bridge = ByBytes(TARGET, DRAFT, ExactTranslator(TARGET))
    tail = Tail.of(DRAFT, DRAFT.encode_bytes(b"ala ko"))
    kept = tail.without(len(tail.ids) - len(DRAFT.encode_bytes(b"ala")))
    back = bridge.follow(kept, DRAFT.encode_bytes(b" kot"), TARGET.encode_bytes(b"t i"), b" ko")
    assert back.trim == 0 and back.tail.text == b"ala kot i"


def test_equal_ids_end_at_what_is_no_text():
    target, draft = tiny.PAIRS["same"]()
    bridge = SameIds(target, draft)
    end = tiny.control_id(target, "</s>")
    words = target.encode_bytes(b" kot")
    past = len(target.vocabulary.table) + 3
    assert bridge.propose(Tail(), [*words, end, *words], b" kot").ids == tuple(words)
    assert bridge.propose(Tail(), [*words, past], b" kot").ids == tuple(words)
    back = bridge.follow(Tail(), words[:1], [*words, past])
    assert back.trim == 0 and back.feed == tuple(words[1:])


def test_the_studys_way_back_loses_the_leading_space():
    bridge = AsPublished(TARGET, DRAFT, NaiveTranslator(TARGET, DRAFT))
    back = bridge.follow(Tail(), (), TARGET.encode_bytes(b" kot"))
    assert DRAFT.decode(back.feed) == b"kot"
    exact = ByBytes(TARGET, DRAFT, ExactTranslator(TARGET)).follow(Tail(), (), TARGET.encode_bytes(b" kot"))
    assert DRAFT.decode(exact.feed) == b" kot"
