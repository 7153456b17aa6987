"""Recorded rounds played again: against sequences counted by hand, and made ones."""

from __future__ import annotations

import gzip
import json
from functools import partial

import pytest

from decoder.cost import Setup
from decoder.errors import ProfileError, ProfileUsageError
from decoder.recordings import generations, read_recordings, recording
from decoder.replay import (
    Fixed,
    Recording,
    assess,
    oracle,
    replay,
)
from decoder.replay_auto import Auto
from decoder.synthetic import constant, drift, jump, synthetic, zero
from decoding.test_cost import made

SETUP = Setup(made({1: 1.0, 2: 1.1, 3: 1.2, 4: 1.3, 5: 1.4}, {1: 0.1, 2: 0.2, 4: 0.4}))
"""A round of k tokens takes 1 + 0.2 k plain steps of 1 s."""


def row(start: int, drafted: int, candidates: int, accepted: int, **more) -> dict:
    return {"start": start, "drafted": drafted, "candidates": candidates, "accepted": accepted, **more}


ROWS = [row(0, 4, 4, 2), row(9, 4, 4, 4), row(25, 4, 4, 0), row(30, 4, 0, 0), row(33, 4, 4, 1)]
RIGHT = (True, True, False, True, True, True, True, None, False, False, True, False)


def test_a_recording_by_hand():
    found = recording(ROWS)
    assert found.right == RIGHT and found.k == 4
    assert found.ratio == (*[1.0] * 9, 0.0, 1.0, 1.0)


def test_the_recorded_k_gives_the_recorded_rounds():
    found = replay([recording(ROWS)], SETUP, partial(Fixed, 4))
    assert (found.tokens, found.rounds, found.accepted) == (12, 5, 7)
    assert found.proposed == 4 + 4 + 3 + 0 + 1  # none can be proposed for tokens beyond the end
    assert found.ks == {4: 5}


def test_a_shorter_k_by_hand():
    """Right, wrong and never proposed, k = 2: TTW TTT T?W W TW, and TTW TTT T? W W TW with ? as wrong."""
    found = replay([recording(ROWS)], SETUP, partial(Fixed, 2), bonus=True)
    assert (found.tokens, found.rounds, found.accepted) == (12, 5, 7)
    wrong = replay([recording(ROWS)], SETUP, partial(Fixed, 2), bonus=False)
    assert (wrong.tokens, wrong.rounds, wrong.accepted) == (12, 6, 6)


def test_seconds_by_hand():
    found = replay([Recording((True, True, False, False), (1.0,) * 4, 2)], SETUP, partial(Fixed, 2))
    # Two right and one more: 0.2 + 1.2 s; then nothing may be proposed for the last token: 0.2 + 1.0 s.
    assert found.seconds == pytest.approx(1.4 + 1.2)
    assert found.speedup == pytest.approx(4 / 2.6) and found.tokens_per_s == pytest.approx(4 / 2.6)


def test_plain_decoding_is_plain():
    found = replay([recording(ROWS)], SETUP, partial(Fixed, 0))
    assert found.rounds == found.tokens == 12 and found.speedup == pytest.approx(1.0)
    assert found.proposed == 0


def test_a_longer_draft_cannot_be_answered():
    with pytest.raises(ProfileUsageError, match="recorded with 4; record them with the largest k"):
        replay([recording(ROWS)], SETUP, partial(Fixed, 5))


def test_nothing_to_replay():
    with pytest.raises(ProfileUsageError, match="no rounds"):
        assess([], SETUP, partial(Fixed, 1))
    empty = replay([], SETUP, partial(Fixed, 1))
    assert empty.speedup is None and empty.tokens_per_s is None


def test_the_oracle_by_hand():
    """One right token and one wrong, again and again: k = 1 at the right ones takes 1.2 s for two tokens."""
    recorded = Recording((True, False) * 4, (1.0,) * 8, 2)
    assert oracle([recorded], SETUP) == pytest.approx(4 * 1.2)
    outcome = assess([recorded], SETUP, partial(Fixed, 2))
    assert outcome.best_k == 1 and outcome.best_fixed.seconds == pytest.approx(4 * 1.2)
    assert outcome.regret_oracle == pytest.approx((3 * 1.4 + 1.3) / 4.8 - 1)


MADE = {
    "constant": constant(0.8, 300),
    "zero": zero(300),
    "jump": jump(0.05, 0.95, 300),
    "drift": drift(0.95, 0.05, 300),
}


@pytest.mark.parametrize("kind", MADE)
def test_no_policy_beats_the_oracle(kind):
    recorded = [synthetic(MADE[kind], 4, seed=3)]
    least = oracle(recorded, SETUP)
    for k in range(5):
        assert replay(recorded, SETUP, partial(Fixed, k)).seconds >= least - 1e-9


@pytest.mark.parametrize("kind", MADE)
def test_the_adaptive_policy_loses_little(kind):
    outcome = assess([synthetic(MADE[kind], 4, seed=3)], SETUP, partial(Auto, SETUP, 4))
    assert outcome.policy.tokens == 300
    assert outcome.regret_fixed < 0.08


def test_made_recordings():
    assert synthetic(constant(1.0, 5), 2).right == (True,) * 5
    assert synthetic(zero(5), 2).right == (False,) * 5
    assert synthetic(constant(0.5, 50), 2, seed=1) == synthetic(constant(0.5, 50), 2, seed=1)
    assert jump(0.0, 1.0, 4) == [0.0, 0.0, 1.0, 1.0]
    assert drift(0.0, 1.0, 5) == [0.0, 0.25, 0.5, 0.75, 1.0]


# Files


def test_a_draft_asked_at_every_token_by_hand(tmp_path):
    places = [[(1, 1), (3, 2)], [(1, 0), (2, 0)], [(1, 1)], [(2, 2), (2, 2)], []]
    as_rows = [{"candidates": [c for c, _ in p], "accepted": [a for _, a in p]} for p in places]
    line = json.dumps({"group": "g", "tokens": [1] * 5, "places": as_rows}).encode()
    (tmp_path / "r.jsonl.gz").write_bytes(gzip.compress(line))
    (found,) = read_recordings(tmp_path / "r.jsonl.gz")
    assert (found.k, found.length, found.group) == (2, 5, "g")
    done = replay([found], SETUP, partial(Fixed, 2))
    assert (done.rounds, done.tokens, done.proposed, done.accepted) == (2, 5, 3 + 1, 2 + 1)
    done = replay([found], SETUP, partial(Fixed, 1))
    assert (done.rounds, done.accepted) == (3, 2)  # from tokens 0, 2 and 4
    assert assess([found], SETUP, partial(Fixed, 2)).regret_oracle >= 0


def test_generations_end_where_the_next_begins():
    rows = [row(0, 2, 2, 1), row(5, 2, 2, 0), row(0, 2, 2, 2), row(4, 2, 2, 0, group="prawo")]
    assert [len(g) for g in generations(rows)] == [2, 1, 1]


def test_rounds_from_a_file_as_the_decoder_traces_them(tmp_path):
    trace = {"start": 0, "drafted": [5, 6], "candidates": [7, 8, 9], "tokens": [7, 8, 4], "accepted": 2}
    last = {"start": 8, "drafted": [5, 6], "candidates": [7, 8], "tokens": [7], "accepted": 1, "group": "g"}
    (tmp_path / "r.jsonl").write_text(
        "\n".join(map(json.dumps, (trace | {"group": "g"}, last))), encoding="utf-8"
    )
    (found,) = read_recordings(tmp_path / "r.jsonl")
    assert found.right == (True, True, False, True) and found.ratio[0] == 1.5
    assert found.k == 2 and found.group == "g"
    assert found.round_at(0, 1, True) == (2, 2)  # 1.5 candidates a drafted token


@pytest.mark.parametrize(
    ("text", "said"),
    (
        ("", "holds no round"),
        ("{", "not every line is JSON"),
        ("{}", "lacks a field"),
        ("[1]", "lacks a field"),
        (json.dumps(row(0, 2, 2, 3)), "3 accepted of 2"),
        (json.dumps(row(0, True, 2, 1)), "neither a list nor a number"),
    ),
)
def test_files_that_are_no_recording(text, said, tmp_path):
    (tmp_path / "r.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(ProfileError, match=said):
        read_recordings(tmp_path / "r.jsonl")
    with pytest.raises(ProfileError, match="cannot be read"):
        read_recordings(tmp_path / "none.jsonl")
