"""The figures of a run, by hand."""

from __future__ import annotations

from dataclasses import asdict

import makers
import mlx.core as mx
import pytest

from decoder.drafters import Proposal
from decoder.loop import Round, State
from decoder.stats import Recorder, Stats, refusals, summarise, total
from tokalign.translate import Tail, Translation

TARGET = makers.TARGET


def ids(text: str) -> tuple[int, ...]:
    return tuple(TARGET.encode_bytes(text.encode()))


def done(drafted: str, candidates, tokens, accepted: int, **translation) -> Round:
    translated = Translation(tuple(candidates), **translation)
    proposal = Proposal(translated, (1, 2, 3), drafted.encode(), draft_s=0.5, translate_s=0.25)
    state = State(Tail(), tokens[-1], len(tokens))
    return Round(
        state=state,
        k=3,
        proposal=proposal,
        candidates=tuple(candidates),
        choices=(),
        tokens=tuple(tokens),
        accepted=accepted,
        logits=mx.zeros((1, 1)),
        verify_s=2.0,
        host_s=0.125,
    )


def kinds(*rounds: Round) -> list[list[str]]:
    recorder = Recorder(TARGET)
    for r in rounds:
        recorder.add(r)
    emitted = b"".join(TARGET.decode(t.tokens) for t in recorder.traces)
    return [list(refusals(t, emitted)) for t in recorder.traces]


def test_text_that_came_in_other_tokens_is_lost_in_translation():
    (one,) = ids(" kot")
    spelled = [*ids(" ko"), *ids("t")]
    assert TARGET.decode(spelled) == TARGET.decode([one])
    assert kinds(done(" kot", spelled, [one], 0)) == [["translation"] * len(spelled)]


def test_text_that_did_not_come_is_disagreement():
    assert kinds(done(" kotami", [*ids(" kot"), *ids("ami")], [*ids(" kot"), *ids("ów")], 1)) == [
        ["disagreement"]
    ]


def test_text_that_may_still_come_is_unknown_until_it_comes():
    first = done(" kotami", [*ids(" ko"), *ids("t"), *ids("ami")], ids(" kot"), 0)
    spelled = ["translation"] * (len(ids(" ko")) + 1)
    assert kinds(first) == [[*spelled, "unknown"]]
    assert kinds(first, done("", (), ids("ami"), 0)) == [[*spelled, "translation"], []]
    assert kinds(first, done("", (), ids("ów"), 0)) == [[*spelled, "disagreement"], []]


def test_an_end_of_sequence_is_disagreement():
    control = len(TARGET.vocabulary.table) + 5
    assert kinds(done(" kot", [*ids(" kot"), control], [*ids(" kot"), *ids("ami")], 1)) == [["disagreement"]]


def test_totals():
    recorder = Recorder(TARGET)
    recorder.add(done(" kotami", [*ids(" kot"), *ids("ami")], [*ids(" kot"), *ids("ów")], 1))
    recorder.add(done("", (), ids("."), 0, held=b"\xc5", merged=True))
    found = recorder.stats()
    assert found == Stats(
        tokens=1 + len(ids("ów")) + 1,
        rounds=2,
        drafted=6,
        proposed=1 + len(ids("ami")),
        accepted=1,
        refused_in_translation=0,
        refused_by_disagreement=len(ids("ami")),
        refused_unknown=0,
        empty_rounds=1,
        merges=1,
        split_letters=1,
        draft_s=1.0,
        translate_s=0.5,
        verify_s=4.0,
        host_s=0.25,
    )
    assert found.proposed == found.accepted + found.refused_by_disagreement
    assert found.acceptance == 1 / found.proposed
    assert found.tokens_per_pass == found.tokens / 2
    assert found.as_dict() == {
        **asdict(found),
        "acceptance": found.acceptance,
        "tokens_per_pass": found.tokens_per_pass,
    }
    twice = total([found, found])
    assert twice is not None and twice.tokens == 2 * found.tokens and twice.verify_s == 8.0


def test_of_nothing_there_is_no_rate():
    empty = summarise([], TARGET)
    assert (empty.tokens, empty.acceptance, empty.tokens_per_pass) == (0, None, None)
    assert total([]) is None


@pytest.mark.parametrize("heal", (False, True))
def test_every_candidate_of_a_real_run_is_counted_once(heal):
    from decoder.generation import encode_prompts
    from decoder.strategy import Strategy
    from decoding import makers as tiny

    pair = tiny.random_pair("sentencepiece-from-bytes", Strategy(heal=heal))
    prompts = encode_prompts(pair, tiny.PROMPT)
    reference = tiny.plain(pair.target.model, prompts[0], 30)
    recorder = Recorder(pair.target.tokenizer)
    for r in tiny.rounds(tiny.perturbed(pair, prompts, reference, 0.2), prompts, 30):
        recorder.add(r)
    found = recorder.stats()
    refused = found.refused_in_translation + found.refused_by_disagreement + found.refused_unknown
    assert found.accepted + refused == found.proposed and found.tokens == 30
    assert found.tokens == found.rounds + found.accepted - (
        recorder.traces[-1].accepted == len(recorder.traces[-1].tokens)
    )
