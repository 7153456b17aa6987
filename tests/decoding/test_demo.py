"""The demo pair: its data, its training, what comes with the package, its card."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from mlx.utils import tree_flatten
from mlx_lm import load

from decoder import demo
from decoder.demo import card, demo_pair, unpack
from decoder.demo.data import batches, heldout_batches, read_tokens
from decoder.demo.export import build
from decoder.demo.learning import LAST, WARM_UP, learning_rate, rounded
from decoder.demo.prepare import is_held_out, prepare, with_start
from decoder.demo.recipes import RECIPES, Recipe
from decoder.demo.train import Budget, learn, train
from decoder.errors import ModelError
from decoder.models import load_model
from decoding.makers import plain
from tokalign.tokenizers.convert import sha256_of

TINY = Recipe(32_000, hidden=64, layers=1, inner=64, heads=1, kv_heads=1, peak=1e-2, batch=4)
CONTEXT = 24
STEPS = 12
TRAINED = all((demo.PACKAGE / role / "training.json").is_file() for role in demo.ROLES)
needs_models = pytest.mark.skipif(not TRAINED, reason="the demo models are not in this checkout")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prepared data of a few hundred short texts, one in four of a kind that is left out."""
    folder = tmp_path_factory.mktemp("demo")
    kinds = ("law/a", "novels/b", "wiki", "law/c")
    text = "Artykuł {} stanowi, że żółty kot śpi na płocie."
    rows = [{"text": text.format(n), "source": kinds[n % 4]} for n in range(800)]
    texts = folder / "texts.jsonl"
    texts.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    prepare(texts, "bielik-1.5b", folder / "data")
    return folder / "data"


@pytest.fixture(scope="module")
def trained(data: Path) -> tuple[Path, dict[str, Any]]:
    out = data.parent / "out"
    log = train(TINY, data, out, Budget(steps=STEPS), seed=1, dtype=mx.float32, context=CONTEXT)
    return out, log


def test_prepared_data_hold_every_kept_document_once_between_its_marks(data: Path) -> None:
    counts = json.loads((data / "data.json").read_text(encoding="utf-8"))
    assert counts["train"]["documents"] + counts["heldout"]["documents"] == 600
    assert set(counts["kinds"]) == {"law", "novels"}
    tokens = read_tokens(data, "train")
    assert tokens.dtype == np.uint16 and len(tokens) == counts["train"]["tokens"]
    assert (tokens == 1).sum() == (tokens == 2).sum() == counts["train"]["documents"]
    assert tokens[0] == 1 and tokens[-1] == 2


def test_about_one_document_in_two_hundred_is_held_out() -> None:
    assert 60 < sum(is_held_out(f"tekst {n}") for n in range(20_000)) < 140


def test_windows_hold_the_text_as_it_is() -> None:
    tokens = np.arange(1000, dtype=np.uint16)
    stream = batches(tokens, 4, 16, seed=1)
    for _ in range(40):
        ids = next(stream)
        assert ids.shape == (4, 17) and ids.dtype == np.int32
        assert (np.diff(ids, axis=1) == 1).all()


@pytest.mark.parametrize("length", [2, 16, 17, 18, 200])
def test_every_held_out_token_is_predicted_once(length: int) -> None:
    seen = [ids[:, 1:].ravel() for ids in heldout_batches(np.arange(length, dtype=np.uint16), 3, 16)]
    assert np.concatenate(seen).tolist() == list(range(1, length))


def test_the_learning_rate_rises_and_falls() -> None:
    rates = [learning_rate(n / 100, 1.0) for n in range(101)]
    assert rates[int(100 * WARM_UP)] == 1.0 == max(rates)
    assert rates[100] == pytest.approx(LAST) and 0 < rates[0] < 1


def test_rounded_weights_are_what_quantization_gives_and_pass_the_gradient() -> None:
    weight = mx.random.normal((64, 64), key=mx.random.key(1))
    back = mx.dequantize(*mx.quantize(weight.astype(mx.bfloat16), group_size=64, bits=4), group_size=64, bits=4)
    assert mx.array_equal(rounded(weight, TINY).astype(mx.bfloat16), back)
    assert mx.array_equal(mx.grad(lambda w: rounded(w, TINY).sum())(weight), mx.ones((64, 64)))


def test_training_lowers_the_loss_and_says_so(trained: tuple[Path, dict[str, Any]]) -> None:
    log = trained[1]
    losses = [entry["loss"] for entry in log["curve"]]
    assert losses[0] > 0.9 * math.log(TINY.vocabulary)
    assert losses[-1] < 0.5 * losses[0]
    assert log["tokens"] == STEPS * TINY.batch * CONTEXT
    for loss in log["heldout"].values():
        assert loss["nats_per_token"] < 0.7 * losses[0] and loss["bits_per_byte"] > 0


def test_training_in_bfloat16_lowers_the_loss(data: Path) -> None:
    learner, log = learn(TINY, data, Budget(steps=5), seed=1, dtype=mx.bfloat16, context=CONTEXT)
    assert log["curve"][-1]["loss"] < 0.8 * log["curve"][0]["loss"]
    assert learner.parameters["model"]["embed_tokens"]["weight"].dtype == mx.float32
    assert learner.settle().model.embed_tokens.weight.dtype == mx.bfloat16


def test_the_same_seed_trains_the_same_model(data: Path) -> None:
    once, again = (
        dict(tree_flatten(learn(TINY, data, budget, seed=1, dtype=mx.float32, context=CONTEXT)[0].parameters))
        for budget in (Budget(steps=2), Budget(steps=2))
    )
    assert once.keys() == again.keys()
    assert all(mx.array_equal(once[name], again[name]) for name in once)


def test_the_exported_model_loads_and_writes_the_same_tokens(
    data: Path, trained: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    import mlx.nn as nn

    model, wrapper = load(str(unpack(trained[0], tmp_path / "model")))[:2]
    before = build(TINY)
    before.load_weights(str(trained[0].with_name("out.checkpoint") / "model.safetensors"))
    before.set_dtype(mx.bfloat16)
    nn.quantize(before, group_size=TINY.group, bits=TINY.bits)
    prompt = wrapper.encode("Artykuł 5 stanowi")
    assert prompt[0] == 1
    assert plain(model, prompt, 20) == plain(before, prompt, 20)


def test_the_exported_tokenizer_writes_the_ids_of_the_training(
    data: Path, trained: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    loaded = load_model(str(unpack(trained[0], tmp_path / "model")), "draft")
    counts = json.loads((data / "data.json").read_text(encoding="utf-8"))
    assert loaded.tokenizer.fingerprint == counts["vocabulary"]["fingerprint"]
    first = read_tokens(data, "train")[: len(loaded.encode_prompt("Artykuł 0 stanowi, że żółty kot"))]
    assert loaded.encode_prompt("Artykuł 0 stanowi, że żółty kot") == first.tolist()
    assert loaded.end == 2


def test_a_start_is_put_before_texts_only_by_the_post_processor() -> None:
    first = with_start({"model": {}})["post_processor"]["single"][0]
    assert first == {"SpecialToken": {"id": "<s>", "type_id": 0}}


@pytest.fixture
def installed(
    trained: tuple[Path, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, Path]:
    """A package folder in which the tiny model is both target and draft, and an empty cache."""
    package = tmp_path / "package"
    for role in demo.ROLES:
        (package / role).mkdir(parents=True)
        for file in trained[0].iterdir():
            (package / role / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(demo, "PACKAGE", package)
    monkeypatch.setenv("TOKALIGN_CACHE", str(tmp_path / "cache"))
    return package, tmp_path / "cache"


def test_the_pair_is_unpacked_once(installed: tuple[Path, Path]) -> None:
    target, draft = demo_pair()
    assert target != draft and (target / "tokenizer.json").is_file() and (draft / "model.safetensors").is_file()
    stamp = (target / "model.safetensors").stat().st_mtime_ns
    assert demo_pair() == (target, draft)
    assert (target / "model.safetensors").stat().st_mtime_ns == stamp
    assert sorted(p.name for p in installed[1].iterdir()) == sorted([target.name, draft.name])


def test_a_damaged_copy_is_made_again(installed: tuple[Path, Path]) -> None:
    target, _ = demo_pair()
    (target / "tokenizer.json").unlink()
    assert (demo_pair()[0] / "tokenizer.json").is_file()


def test_an_installation_without_models_says_so(installed: tuple[Path, Path]) -> None:
    (installed[0] / "draft" / "model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"draft model is not in this installation .*; reinstall"):
        demo_pair()


def test_a_cache_that_cannot_be_written_says_so(
    installed: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TOKALIGN_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(ModelError, match="set TOKALIGN_CACHE"):
        demo_pair()


def test_the_card_names_the_figures_of_the_logs(installed: tuple[Path, Path]) -> None:
    text = card.card(installed[0])
    log = json.loads((installed[0] / "target" / "training.json").read_text(encoding="utf-8"))
    assert f"{log['heldout']['quantized']['bits_per_byte']:.3f}" in text
    assert f"{log['parameters']:,}" in text


def test_the_recipes_fit_twelve_megabytes() -> None:
    sizes = [
        sum(w.size * (r.bits + 32 / r.group) / 8 for _, w in tree_flatten(build(r).parameters()))
        for r in RECIPES.values()
    ]
    assert sum(sizes) < 11.3e6  # and 0.7 MB for the tokenizers


@needs_models
def test_the_committed_card_is_in_line_with_the_logs() -> None:
    assert (demo.PACKAGE / "CARD.md").read_text(encoding="utf-8") == card.card(demo.PACKAGE)


@needs_models
def test_the_committed_models_are_the_ones_of_the_logs_and_small() -> None:
    total = 0
    for role in demo.ROLES:
        folder = demo.PACKAGE / role
        log = json.loads((folder / "training.json").read_text(encoding="utf-8"))
        total += sum(f.stat().st_size for f in folder.iterdir())
        assert log["recipe"] | {"batch": 0} == vars(RECIPES[role]) | {"batch": 0}
        assert sha256_of(folder / "model.safetensors") == log["sha256"]
    assert total <= 12_000_000
