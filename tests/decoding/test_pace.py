"""Timing side by side: staged models give the recorded tokens, and ratios are those of medians."""

from __future__ import annotations

import json

import pytest

from decoder.bench.dense import Dense, record
from decoder.bench.pace import PLAIN, errors, pair_modes, ratios, rows_of, staged_modes, staged_policies
from decoder.bench.race import main
from decoder.bench.staged import Stage
from decoder.generation import load_pair
from decoder.healing import Healer
from decoder.policy import KnownCosts
from decoding import makers as tiny


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.save_pair(tmp_path_factory.mktemp("race"))


@pytest.fixture(scope="module")
def pair(folder):
    return load_pair(str(folder / "cel"), str(folder / "szkic"))


@pytest.fixture(scope="module")
def dense(pair):
    tokens = tiny.plain(pair.target.model, pair.target.encode_prompt(tiny.PROMPT), 24)
    return record(pair, tiny.PROMPT, "law", tokens)


def test_a_recording_survives_json(dense):
    assert Dense.from_dict(json.loads(json.dumps(dense.as_dict()))) == dense
    assert dense.prompt and len(dense.places) == len(dense.tokens)


@pytest.mark.parametrize("k", ("2", "4", "auto", "whole"))
def test_staged_models_of_another_size_give_the_recorded_tokens(pair, dense, k):
    other = tiny.random_model(pair.target.rows, 7), tiny.random_model(pair.draft.rows, 8)
    stage = Stage(*other, pair.target.tokenizer, Healer(pair.draft.tokenizer, pair.draft.rows))
    stage.warm()
    policy = staged_policies(KnownCosts({1: 1e-3, 9: 2e-3}, {1: 1e-4}, 1e-3, 1e-5), [k])[k]
    _, rounds = stage.decode(dense, policy, whole=k != "auto")
    assert [t for r in rounds for t in r.tokens] == list(dense.tokens[1:])
    assert any(r.k for r in rounds)


def test_every_mode_is_timed_at_every_repeat(pair, dense):
    stage = Stage(pair.target.model, pair.draft.model, pair.target.tokenizer)
    modes = staged_modes(stage, dense, staged_policies(KnownCosts(), ["auto", "2"]))
    rows = list(rows_of({"draft": "d", "group": "law", "prompt": 0}, modes, 2))
    assert sorted((r["mode"], r["repeat"]) for r in rows) == sorted((m, n) for m in modes for n in (0, 1))
    assert all(r["tokens"] == len(dense.tokens) - 1 and r["seconds"] > 0 for r in rows)


def test_a_real_pair_is_timed_behind_its_first_round(pair):
    rows = list(rows_of({"draft": "d", "group": "g", "prompt": 0}, pair_modes(pair, tiny.PROMPT, 12, ["3"]), 1))
    plain, drafted = (next(r for r in rows if r["mode"] == mode) for mode in (PLAIN, "3"))
    assert plain["tokens"] == 11 and 0 < drafted["tokens"] < 12
    assert plain["passes"] is None and drafted["passes"] > 0


def row(mode, prompt, seconds, tokens=10, **more):
    parts = {} if mode == PLAIN else {"passes": 4, "draft_s": 0.5, "translate_s": 0.0, "verify_s": 0.25}
    about = {"draft": "d", "group": "law", "prompt": prompt, "mode": mode, "seconds": seconds, "tokens": tokens}
    return about | parts | more


def test_a_ratio_is_of_medians_and_of_sums():
    rows = [row(PLAIN, 0, s) for s in (1.0, 2.0, 90.0)] + [row("2", 0, s) for s in (1.0, 1.0, 5.0)]
    rows += [row(PLAIN, 1, 3.0), row("2", 1, 6.0)]
    (found,) = ratios(rows)
    assert (found.ratio, found.low, found.high, found.n) == (5 / 7, 0.5, 2.0, 2)
    assert found.tokens_per_pass == 40 / 16 and found.draft_share == pytest.approx(2 / 13)


def test_a_prediction_is_compared_with_the_measured_ratio():
    rows = [row(PLAIN, 0, 2.0, predicted=None), row("2", 0, 1.0, predicted=2.2)]
    assert errors(rows) == [pytest.approx(0.1)]


def test_the_command_writes_rows_and_prints_ratios(folder, tmp_path, capsys):
    prompts = tmp_path / "p.jsonl"
    prompts.write_text(json.dumps({"group": "law", "prompt": tiny.PROMPT}) + "\n", encoding="utf-8")
    out = tmp_path / "race.jsonl"
    models = str(folder / "cel"), str(folder / "szkic")
    options = "--max-tokens", "8", "--repeats", "1", "--k", "auto,2", "--out", str(out)
    assert main([*models, "--prompts", str(prompts), *options]) == 0
    assert {json.loads(line)["mode"] for line in out.read_text().splitlines()} == {PLAIN, "auto", "2"}
    assert "law auto: " in capsys.readouterr().out


def test_a_missing_model_is_one_sentence(tmp_path, capsys):
    prompts = tmp_path / "p.jsonl"
    prompts.write_text(json.dumps({"group": "law", "prompt": "x"}) + "\n", encoding="utf-8")
    assert main(["brak-celu", "d", "--prompts", str(prompts), "--out", str(tmp_path / "r")]) != 0
    assert capsys.readouterr().err.startswith("race: there is no target 'brak-celu'")
