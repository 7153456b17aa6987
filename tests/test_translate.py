"""Translation by hand-made examples."""

from __future__ import annotations

from makers import DRAFT, TARGET, byte_level, sentencepiece

from tokalign.translate import (
    CountedTranslator,
    ExactTranslator,
    LengthTranslator,
    NaiveTranslator,
    Tail,
    resynchronise,
    whole_letters,
)
from tokalign.translate.tail import KEEP, LIMIT


def spelled(tokenizer, ids):
    return [tokenizer.vocabulary.table[i] for i in ids]


def test_a_draft_that_continues_a_word_has_no_space_before_it():
    tail = Tail.of(TARGET, TARGET.encode("dom kot"))
    assert spelled(TARGET, ExactTranslator(TARGET).translate(tail, b"ami").ids) == [b"ami"]
    assert NaiveTranslator(TARGET, DRAFT).translate(tail, b"ami").ids[0] != TARGET.encode_bytes(b"ami")[0]


def test_a_merge_across_the_committed_end_is_counted():
    target = sentencepiece([" kotami"], "kotamipes")
    committed = [*target.encode_bytes(b" k"), *target.encode_bytes(b"ot")]
    found = ExactTranslator(target).translate(Tail.of(target, committed), b"ami")
    assert found.merged
    assert target.decode(found.ids) == b"ami"


def test_a_window_that_begins_inside_a_letter_is_widened_to_it():
    ids = TARGET.encode("dom ź")
    assert TARGET.vocabulary.table[ids[-1]] == "ź".encode()[1:]
    found = ExactTranslator(TARGET, 1).translate(Tail.of(TARGET, ids), b" kot")
    assert spelled(TARGET, found.ids) == [b" kot"]
    assert found.window == 2


def test_an_unfinished_letter_is_held_back():
    found = ExactTranslator(TARGET).translate(Tail.of(TARGET, TARGET.encode("dom")), " kotź".encode()[:-1])
    assert spelled(TARGET, found.ids) == [b" kot"]
    assert found.held == "ź".encode()[:1]
    assert whole_letters("kot🙂".encode()[:-1]) == (b"kot", "🙂".encode()[:-1])


def test_a_letter_begun_by_the_target_is_finished_by_bytes():
    ids = TARGET.encode("dom ź")[:-1]
    found = ExactTranslator(TARGET).translate(Tail.of(TARGET, ids), "ź".encode()[1:] + b" kot")
    assert spelled(TARGET, found.ids) == ["ź".encode()[1:], b" kot"]


def test_hold_back_leaves_out_the_last():
    tail = Tail.of(TARGET, TARGET.encode("dom"))
    whole = ExactTranslator(TARGET).translate(tail, b" kotami").ids
    assert ExactTranslator(TARGET, hold_back=True).translate(tail, b" kotami").ids == whole[:-1]


def test_a_prompt_shorter_than_p():
    tail = Tail.of(TARGET, TARGET.encode("d"))
    assert ExactTranslator(TARGET, 16).translate(tail, b"om").ids
    assert LengthTranslator(TARGET, 16).translate(tail, b"om").window == 1
    assert CountedTranslator(TARGET, DRAFT, 16).translate(tail, b"om").window == 1
    assert ExactTranslator(TARGET, 16).translate(Tail(), b" kot").ids == tuple(TARGET.encode_bytes(b" kot"))


def test_nothing_drafted_gives_nothing():
    assert ExactTranslator(TARGET).translate(Tail(), b"").ids == ()


def test_control_tokens_never_come_out_of_text():
    published = sentencepiece(["</s>"], "</s>")
    tail = Tail.of(published, published.encode("a"))
    for i in ExactTranslator(published).translate(tail, b"</s>").ids:
        assert i not in published.vocabulary.control


def test_a_tail_is_bounded_and_settles_at_words():
    tail = Tail()
    for _ in range(50):
        tail = tail.extend(TARGET, TARGET.encode_bytes(b" kotami"))
    assert KEEP <= len(tail.ids) <= KEEP + 2 and tail.settled and tail.text.startswith(b" kot")
    for _ in range(300):
        tail = tail.extend(TARGET, TARGET.encode_bytes(b"x"))
    assert len(tail.ids) == LIMIT and not tail.settled


def test_the_draft_keeps_the_leading_space_and_the_common_beginning():
    draft = byte_level([" kot", "ami", " dom"])
    tail = Tail.of(draft, draft.encode_bytes(b" dom"))
    drafted = draft.encode_bytes(b" kotami")
    back = resynchronise(draft, tail, drafted, b" kot dom")
    assert back.trim == 1
    assert spelled(draft, back.feed) == [b" dom"]
    assert back.tail.text == b" dom kot dom"
