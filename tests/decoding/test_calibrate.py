"""Measuring a machine, from tiny models to the file and the commands."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import mlx.core as mx
import pytest
from click.testing import CliRunner, Result

from decoder import shapes
from decoder.calibrate import Plan, Subject, calibrate
from decoder.cli import cli
from decoder.errors import ModelError, ProfileUsageError
from decoder.lane import Lane
from decoder.measure import interleaved, spread
from decoder.profile import Profile, read, write
from decoder.runner import Runner
from decoder.shapes import build
from decoder.subjects import from_shape
from decoding import makers as tiny

SMALL = Plan((8, 24), 5, (1, 2, 3), (1, 2), (1, 2), (8,), 2**16)


def subjects() -> tuple[Subject, Subject]:
    target, draft = tiny.PAIRS["sentencepiece-from-bytes"]()
    rows = [len(t.vocabulary.table) for t in (target, draft)]
    return (
        Subject("cel", tiny.random_model(rows[0], 1), target),
        Subject("szkic", tiny.random_model.__wrapped__(rows[1], 2), draft),  # of its own: it is fused
    )


@cache
def measured() -> Profile:
    target, draft = subjects()
    return calibrate(
        target, [lambda: draft, lambda: replace(draft, name="bez", tokenizer=None, note="none here")], SMALL
    )


def test_everything_is_measured():
    profile = measured()
    assert profile.source == "measured" and profile.machine.device in ("cpu", "gpu")
    assert [(t.context, t.n) for t in profile.verify] == [(c, n) for c in (8, 24) for n in (1, 2, 3)]
    assert [(t.context, t.n) for t in profile.plain] == [(8, 1), (24, 1)]
    draft = profile.draft("szkic")
    assert {(t.context, t.n) for t in draft.steps} == {(c, k) for c in (8, 24) for k in (1, 2)}
    assert draft.unfused is not None and draft.unfused_note is None and len(draft.unfused) == 4
    assert draft.translate.median > 0 and draft.follow.median > 0
    assert profile.translate_s("szkic") == draft.translate.median + draft.follow.median
    timings = (*profile.plain, *profile.verify, *profile.prefill, *draft.steps, *draft.feed, *draft.prefill)
    assert all(0 < t.low <= t.median <= t.high and t.repeats == 5 for t in timings)
    assert profile.host_s("szkic") > 0 and profile.bandwidth.median > 0


def test_what_cannot_be_measured_is_null_with_the_reason():
    draft = measured().draft("bez")
    assert draft.translate is None and draft.follow is None and draft.translate_note == "none here"
    assert measured().translate_s("bez") is None


def test_bytes_of_a_step():
    card = measured().target
    model = subjects()[0].model
    embedding = model.model.embed_tokens.weight.nbytes
    assert card.weight_bytes - card.step_bytes == embedding  # untied: one row of it is read
    assert card.kv_bytes == 2 * 2 * 2 * 8 * 4  # layers × (keys and values) × heads × dim × float32
    assert (card.dtype, card.bits, card.layers) == ("float32", None, 2)
    roof = measured().roofline[1]
    assert roof.bytes == card.step_bytes + 24 * card.kv_bytes
    assert roof.fraction == pytest.approx(roof.seconds / measured().plain_s(24))


def test_the_file_holds_all_of_it(tmp_path):
    write(measured(), tmp_path / "p.json")
    assert read(tmp_path / "p.json") == measured()


@pytest.mark.parametrize("name", ("plain", "trim", "verify", "feed", "steps"))
def test_a_case_leaves_the_cache_as_it_found_it(name):
    runner = Runner(subjects()[0].model)
    runner.grow_to(10)
    arguments = () if name in ("plain", "trim") else (3,)
    assert getattr(runner, name)(*arguments) > 0
    assert runner.lane.length == 10 == runner.lane.cache[0].offset


def test_order_changes_and_warm_runs_do_not_count():
    order: list[str] = []

    def case(name: str, seconds: float):
        return lambda: order.append(name) or seconds

    found = interleaved({n: case(n, s) for n, s in (("a", 1.0), ("b", 2.0), ("c", 3.0))}, 6)
    assert [s.median for s in found.values()] == [1.0, 2.0, 3.0] and found["a"].repeats == 6
    turns = ["".join(order[i : i + 3]) for i in range(0, len(order), 3)]
    assert len(turns) == 8 and len(set(turns)) > 1 and all(sorted(t) == ["a", "b", "c"] for t in turns)


def test_quartiles():
    assert spread([4.0, 1.0, 3.0, 2.0, 5.0]) == spread([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (spread([1, 2, 3, 4, 5]).low, spread([1, 2, 3, 4, 5]).high) == (2.0, 4.0)


def test_plans_that_measure_too_little():
    with pytest.raises(ProfileUsageError, match="4 repeats"):
        Plan(repeats=4)
    with pytest.raises(ProfileUsageError, match="at least 1 token"):
        Plan(contexts=(0,))


# Shapes


@pytest.fixture
def little(monkeypatch):
    """The published shapes, with few and narrow layers."""
    narrow = {"num_hidden_layers": 2, "hidden_size": 128, "intermediate_size": 128, "vocab_size": 300}
    few = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32}
    made = {n: {**s, **narrow, **few} for n, s in shapes.SHAPES.items()}
    monkeypatch.setattr(shapes, "SHAPES", made)


@pytest.mark.parametrize("name", shapes.SHAPES)
@pytest.mark.parametrize("bits", shapes.BITS)
def test_shapes_run(name, bits, little):
    model = build(name, bits)
    lane = Lane(model)
    assert lane.feed(mx.array([1, 2])).shape == (2, 300)
    assert hasattr(model.layers[0].mlp.up_proj, "bits") == (bits != 16)
    assert model.layers[0].input_layernorm.weight.dtype == mx.bfloat16


def test_weights_of_the_published_shapes():
    """Parameters as published, in thousand millions."""

    def count(s) -> float:
        head = s.get("head_dim") or s["hidden_size"] // s["num_attention_heads"]
        attention = 2 * s["hidden_size"] * head * (s["num_attention_heads"] + s["num_key_value_heads"])
        layer = attention + 3 * s["hidden_size"] * s["intermediate_size"]
        tables = s["vocab_size"] * s["hidden_size"] * (1 if s["tie_word_embeddings"] else 2)
        return (s["num_hidden_layers"] * layer + tables) / 1e9

    found = {name: round(count(s), 2) for name, s in shapes.SHAPES.items()}
    assert found == {"bielik-11b": 11.17, "bielik-1.5b": 1.6, "qwen2.5-1.5b": 1.54, "llama3.2-1b": 1.24}


def test_shapes_that_there_are_not():
    with pytest.raises(ModelError, match="there is: bielik-11b"):
        build("gpt")
    with pytest.raises(ModelError, match="3 bits"):
        build("bielik-11b", 3)


def test_a_shape_is_random_and_says_what_its_vocabulary_is(little):
    subject = from_shape("bielik-1.5b", 8)
    assert subject.random and (subject.note is not None or not subject.tokenizer.source.provisional)


# Commands


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.save_pair(tmp_path_factory.mktemp("models"))


def test_from_models_to_a_profile_to_costs(folder):
    profile = folder / "p.json"
    done = run(
        "calibrate",
        str(folder / "cel"),
        str(folder / "szkic"),
        "-o",
        str(profile),
        "--context",
        "8",
        "--repeats",
        "5",
    )
    assert done.exit_code == 0, done.output
    assert "n = 16" in done.stdout and "unfused step" in done.stdout and f"profile: {profile}" in done.stderr
    assert [t.n for t in read(profile).verify] == list(range(1, 17))
    done = run(
        "cost", str(profile), "--json", "--acceptance", "0.5", "-k", "1,4", "--html", str(folder / "k.html")
    )
    assert done.exit_code == 0 and [r["k"] for r in json.loads(done.stdout)[0]["rows"]] == [1, 4]
    assert (folder / "k.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_costs_of_the_study():
    done = run("cost")
    assert done.exit_code == 0 and "39%" in done.stdout and "never" in done.stdout


def test_a_replay_on_the_study(tmp_path):
    rows = [{"start": 9 * n, "drafted": 4, "candidates": 4, "accepted": n % 4} for n in range(20)]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = run("cost", "--replay", str(tmp_path / "r.jsonl"), "--profile", "study-m2-pro", "--json")
    found = json.loads(done.stdout)
    assert [r["policy"] for r in found[:6]] == ["k=0", "k=1", "k=2", "k=3", "k=4", "auto"]
    assert found[0]["speedup"] == pytest.approx(1.0)
    assert run("cost", "--replay", str(tmp_path / "r.jsonl")).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    (
        (("calibrate", "-o", "p.json"), "give a TARGET with its drafts, or shapes"),
        (
            ("calibrate", "x", "--shape", "bielik-11b", "-o", "p.json"),
            "give a TARGET with its drafts, or shapes",
        ),
        (("calibrate", "x", "-o", "p.json", "--context", "a"), "no list of numbers"),
        (("calibrate", "x", "-o", "/none/p.json"), "--out /none/p.json cannot be written"),
        (("cost", "nie-ma"), "there is: study-m2-pro"),
        (("cost", "a", "--profile", "b"), "given twice"),
        (("cost", "--acceptance", "2"), "lie from 0 to 1"),
        (("cost", "-k", "0"), "lie from 1 to"),
        (("cost", "-k", "x"), "no list of numbers"),
        (("cost", "--draft", "inny"), "it has: bielik-1.5b"),
        (("cost", "--replay", "r", "--html", "h"), "leave out one of them"),
    ),
)
def test_requests_that_cannot_be_met(arguments, said):
    done = run(*arguments)
    assert done.exit_code == 2 and said in done.stderr and done.stdout == ""
