"""Why tokens were lost: classes by hand, sums over generated runs, and where rounds begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decoder.bench.cells import explained
from decoder.bench.losses import Emitted, losses, lost, strayed
from decoder.bench.places import place
from decoder.bench.rows import LOSSES
from decoder.stats import Recorder, Trace
from decoder.strategy import Strategy
from decoding import makers as tiny
from tokalign.tokenizers import Tokenizer


@pytest.fixture(scope="module")
def vocabulary() -> Tokenizer:
    return tiny.vocabulary("byte-level", 420)


def round_of(
    vocabulary: Tokenizer,
    text: bytes,
    candidates: Sequence[bytes | int],
    accepted: int,
    start: int,
    came: list[int],
) -> Trace:
    """A round whose candidates spell the given parts; an int is an id as it is."""
    ids, ends, at = [], [], 0
    for part in candidates:
        ids.append(part if isinstance(part, int) else vocabulary.vocabulary.table.index(part))
        at += 0 if isinstance(part, int) else len(part)
        ends.append(at)
    return Trace(start, text, (1,), tuple(ids), (), tuple(ends), tuple(came), accepted, 0, 0, False, 0, 0, 0, 0)


def kinds(
    vocabulary: Tokenizer,
    text: bytes,
    candidates: Sequence[bytes | int],
    accepted: int,
    came: Sequence[bytes],
    **more,
):
    """The classes of one round, after which ``came`` was emitted, a token a part."""
    table = vocabulary.vocabulary.table
    trace = round_of(vocabulary, text, candidates, accepted, 0, [table.index(part) for part in came])
    return lost(trace, 0, Emitted(vocabulary, [trace]), more.get("stray", False))


def test_right_text_in_other_tokens_is_lost_in_translation(vocabulary):
    found = kinds(vocabulary, b"abcx", [b"a", b"b", b"c", b"x"], 2, [b"a", b"b", b"c", b"d", b"e"])
    assert found.kinds == ("translation", "disagreement")


def test_right_text_that_was_not_proposed(vocabulary):
    found = kinds(vocabulary, b"abc", [], 0, [b"a", b"b", b"c", b"d"])
    assert found.kinds == ("translation",) * 3 and found.never_proposed == 3


def test_the_end_of_the_draft_cuts_a_token(vocabulary):
    two = next(t for t in vocabulary.vocabulary.table if len(t) == 2 and t.isalpha() and t.isascii())
    text = b"a" + two[:1]
    found = kinds(vocabulary, text, [b"a", two[:1]], 1, [b"a", two, b"c"])
    assert found.kinds == ("cut",) and found.never_proposed == 0


def test_a_candidate_that_goes_on_with_wrong_text_is_disagreement(vocabulary):
    two = next(t for t in vocabulary.vocabulary.table if len(t) == 2 and t.isalpha() and t.isascii())
    other = b"x" if two[1:] != b"x" else b"y"
    assert kinds(vocabulary, two, [two], 0, [two[:1], other]).kinds == ("disagreement",)
    assert kinds(vocabulary, two, [two], 0, [two[:1]]).kinds == ("unknown",)
    assert kinds(vocabulary, two, [two], 0, [two[:1], two[1:]]).kinds == ("translation", "translation")


def test_more_tokens_than_the_text_has_are_lost_in_translation(vocabulary):
    assert kinds(vocabulary, b"ab", [b"a", b"b", b"c"], 2, [b"a", b"b", b"d"]).kinds == ("translation",)


def test_the_run_ended_before_it_could_be_told(vocabulary):
    assert kinds(vocabulary, b"abcd", [b"a", b"b", b"c", b"d"], 2, [b"a", b"b"]).kinds == ("unknown",) * 2


def test_another_text_is_disagreement_or_a_lost_context(vocabulary):
    said = vocabulary, b"axy", [b"a", b"x", b"y"], 1, [b"a", b"b", b"c"]
    assert kinds(*said).kinds == ("disagreement",) * 2
    assert kinds(*said, stray=True).kinds == ("context",) * 2


def test_a_refused_end_is_disagreement(vocabulary):
    end = tiny.control_id(vocabulary, "<|im_end|>")
    assert kinds(vocabulary, b"a", [b"a", end], 1, [b"a", b"b"]).kinds == ("disagreement",)


STRATEGIES = ("anchored", "context:2", "intersection", "none", "naive", "counted:5", "length:5")


@given(st.sampled_from(sorted(tiny.PAIRS)), st.sampled_from(STRATEGIES), st.sampled_from((0.0, 0.3)))
def test_classes_sum_to_what_was_lost(which, name, miss):
    pair = tiny.random_pair(which, Strategy.parse(name), k=4)
    prompts = pair.target.encode_prompt(tiny.PROMPT), pair.draft.encode_prompt(tiny.PROMPT)
    output = tiny.plain(pair.target.model, prompts[0], 16)
    pair = replace(tiny.perturbed(pair, prompts, output, miss), strategy=pair.strategy)
    recorder = Recorder(pair.target.tokenizer)
    for r in tiny.rounds(pair, prompts, 16):
        recorder.add(r)
    traces, stats = recorder.traces, recorder.stats()
    found = list(losses(pair, traces))
    for trace, one in zip(traces, found, strict=True):
        assert len(one.kinds) - one.never_proposed == len(trace.candidates) - trace.accepted
    row = explained(pair, tiny.PROMPT, traces)
    total = sum(row[f"lost_{kind}"] for kind in LOSSES)
    assert total == stats.proposed - stats.accepted + row["never_proposed"]
    assert row["barred_rounds"] <= row["inside_rounds"] <= stats.rounds
    assert row["barred_accepted"] <= row["inside_accepted"] <= stats.accepted
    if pair.strategy.exact or name == "intersection":
        assert row["strayed_rounds"] == row["lost_context"] == 0


def test_published_ways_back_stray_where_a_block_loses_its_space():
    pair = tiny.random_pair("sentencepiece-from-bytes", Strategy.parse("counted:5"))
    target = pair.target.tokenizer
    table = target.vocabulary.table
    blocks = [target.encode_bytes(part.encode()) for part in ("górą", " żółty", "kot")]
    traces = [
        Trace(0, b"", (), (), (), (), tuple(b), 0, 0, 0, False, 0, 0, 0, 0)
        for b in blocks
        if all(table[i] for i in b)
    ]
    assert strayed(pair, traces) == [False, False, True]
    assert strayed(replace(pair, strategy=Strategy()), traces) == [False] * 3


@pytest.mark.parametrize(
    ("before", "after", "where"),
    [("Za ", "górą", "outside"), ("Za", " górą", "outside"), ("Za gó", "rą", "inside"), ("", "kot", "outside"),
     ("kot", "", "outside"), ("a1", "b", "outside")],
)  # fmt: skip
def test_places(before, after, where):
    assert place(before.encode(), after.encode(), None) == where


def test_barred_places_have_no_boundary_of_the_draft(vocabulary):
    table = vocabulary.vocabulary.table
    word = next(
        w for w in (t[1:] for t in table if t[:1] == b" ") if w.isalpha() and len(w) > 1 and w.isascii()
        and len(vocabulary.encode_bytes(b" " + w)) == 1
    )  # fmt: skip
    assert place(b"x " + word[:1], word[1:] + b" ", vocabulary) == "barred"
    letters = "ż".encode()
    assert place(letters[:1], letters[1:], vocabulary) == "barred"


def test_a_place_where_the_draft_has_a_boundary(vocabulary):
    for word in ("młynarz", "kotek", "obrazek", "nieboskłon", "samochodowy"):
        whole = f" {word}".encode()
        first = vocabulary.decode(vocabulary.encode_bytes(whole)[:2])
        if len(first) < len(whole) and first.decode(errors="replace").isprintable():
            assert place(first, whole[len(first) :], vocabulary) == "inside"
            return
    raise AssertionError("the made vocabulary has all these words whole")
