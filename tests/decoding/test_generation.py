"""The Python interface, on models that mlx-lm loads from folders."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import pytest
from mlx_lm.models.cache import RotatingKVCache

import decoder
from decoder import generate, load_pair, stream_generate
from decoder.errors import PairError, UntrimmableCache
from decoder.generation import Pair, encode_prompts
from decoder.strategy import Strategy
from decoding import makers as tiny
from tokalign import settings as settings_file
from tokalign.errors import SettingsError, UsageError
from tokalign.settings import DraftLength, Evidence, Model, Settings

ROOT = str(Path(__file__).parents[2])


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("pair")
    target, draft = tiny.PAIRS["sentencepiece-from-bytes"]()
    tiny.save_model(root / "cel", target, 1)
    tiny.save_model(root / "szkic", draft, 2)
    return root


@pytest.fixture(scope="module")
def pair(folders) -> Pair:
    return load_pair(str(folders / "cel"), str(folders / "szkic"), k=3)


def made_settings(target: str, draft: str) -> Settings:
    evidence = Evidence("anchored", None, 0.9, None, None)
    return Settings(
        created="2026-01-01T00:00:00Z",
        tokalign="0.1.0",
        target=Model("cel", target),
        draft=Model("szkic", draft),
        same_vocabulary=target == draft,
        p=2,
        anchored=False,
        k=6,
        lengths=(DraftLength(6, 3.0, 0.9, None, None),),
        chosen=evidence,
        runner_up=evidence,
        corpora=(),
        provisional=False,
        reason=None,
        verdict="Set p=2.",
    )


@pytest.fixture
def tuned(pair, tmp_path):
    """Writes settings for the pair, with changes, and gives their path."""

    def write(**changes) -> Path:
        path = tmp_path / "ustawienia.json"
        fingerprints = (pair.target.tokenizer.fingerprint, pair.draft.tokenizer.fingerprint)
        settings_file.write(replace(made_settings(*fingerprints), **changes), path)
        return path

    return write


def scripted(stream: list[int], prompt: str = "Ala", **options) -> tuple[Pair, list[int]]:
    """A pair whose target writes ``stream``, with a draft that is right most of the time."""
    target, draft = tiny.PAIRS["sentencepiece-from-bytes"]()
    pair = Pair(tiny.loaded(target, None), tiny.loaded(draft, None))
    ids, draft_ids = encode_prompts(pair, prompt)
    text = draft.decode(draft_ids) + target.decode(stream)
    models = (
        tiny.follows(ids, stream, len(target.vocabulary.table)),
        tiny.copies(draft, text, 0.1, 1),
    )
    return Pair(tiny.loaded(target, models[0]), tiny.loaded(draft, models[1]), k=options.get("k", 6)), ids


def target_ids(text: str) -> list[int]:
    return tiny.PAIRS["sentencepiece-from-bytes"]()[0].encode_bytes(text.encode())


def test_importing_the_package_does_not_import_mlx():
    code = "import decoder.cli, sys; print({'mlx', 'mlx_lm', 'transformers', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "set()"
    assert all(callable(getattr(decoder, name)) for name in decoder.__all__)
    with pytest.raises(AttributeError):
        decoder.nothing  # noqa: B018


def test_text_and_ids_are_those_of_the_target_alone(pair):
    alone = Pair(pair.target, k=0)
    for prompt in ("Ala ma", [5, 300, 301], [{"role": "user", "content": "Ala"}]):
        wanted = tiny.plain(pair.target.model, encode_prompts(alone, prompt)[0], 12)
        found = list(stream_generate(pair, prompt, max_tokens=12))
        assert [r.token for r in found] == wanted
        assert [r.generation_tokens for r in found] == list(range(1, 13))
        assert [r.finish_reason for r in found] == [None] * 11 + ["length"]
        assert generate(pair, prompt, max_tokens=12) == "".join(r.text for r in found)
        assert generate(alone, prompt, max_tokens=12) == "".join(r.text for r in found)
        assert found[-1].stats is not None and found[-1].stats.tokens == 12 and found[0].stats is None


def test_responses_carry_the_logprobs_of_their_token(pair):
    for r in stream_generate(pair, "Ala ma", max_tokens=6):
        assert r.logprobs.shape == (pair.target.rows,)
        assert mx.argmax(r.logprobs).item() == r.token
        assert mx.sum(mx.exp(r.logprobs)).item() == pytest.approx(1, abs=1e-4)
        assert r.prompt_tokens == len(encode_prompts(pair, "Ala ma")[0])


def test_what_came_from_the_draft_is_marked():
    pair, _ = scripted(target_ids(" ma kota i psa, a także żółwia."))
    found = list(stream_generate(pair, "Ala", max_tokens=10))
    assert sum(r.from_draft for r in found) == found[-1].stats.accepted > 0


def test_every_piece_of_the_stream_is_whole_letters():
    text = " ŻÓŁĆ, źdźbło 🙂 i 👨‍👩‍👧 łódź"
    for stream in (target_ids(text), [i for b in text.encode() for i in byte_ids(bytes([b]))]):
        pair, _ = scripted(stream)
        pieces = [r.text for r in stream_generate(pair, "Ala", max_tokens=len(stream))]
        assert "".join(pieces) == text
        assert not any("\ufffd" in p for p in pieces)


def byte_ids(data: bytes) -> list[int]:
    return tiny.PAIRS["sentencepiece-from-bytes"]()[0].encode_bytes(data)


@pytest.mark.parametrize("stop", ("kot", "a i p", "żół", "🙂", "🙂!", "nic takiego"))
def test_a_stop_text_ends_before_itself(stop):
    text = " ma kota i psa, a także żółwia 🙂!"
    stream = target_ids(text)
    pair, _ = scripted([*stream, *target_ids(" potem")])
    found = list(stream_generate(pair, "Ala", max_tokens=len(stream), stop=[stop, ""]))
    wanted, hit, _ = text.partition(stop)
    assert "".join(r.text for r in found) == wanted
    assert found[-1].finish_reason == ("stop" if hit else "length")
    assert all(r.finish_reason is None for r in found[:-1])
    if hit:
        decoded = pair.target.tokenizer.decode(r.token for r in found).decode(errors="ignore")
        assert stop in decoded and stop not in decoded[: -len(stop)]


def test_the_end_of_sequence_is_a_token_without_text():
    target, _ = tiny.PAIRS["sentencepiece-from-bytes"]()
    end = tiny.control_id(target, "<|im_end|>")
    stream = [*target_ids(" ma kota"), end, *target_ids(" potem")]
    pair, _ = scripted(stream)
    found = list(stream_generate(pair, "Ala", max_tokens=40))
    assert found[-1].token == end and found[-1].finish_reason == "stop" and found[-1].text == ""
    assert "".join(r.text for r in found) == " ma kota"


def test_a_reply_does_not_begin_with_the_dummy_space():
    stream = target_ids(" ma kota")
    target, _ = tiny.PAIRS["sentencepiece-from-bytes"]()
    messages = [{"role": "user", "content": "Co ma Ala?"}]
    ids, _ = encode_prompts(Pair(tiny.loaded(target, None)), messages)
    pair = Pair(tiny.loaded(target, tiny.follows(ids, stream, len(target.vocabulary.table))))
    assert generate(pair, messages, max_tokens=len(stream)) == "ma kota"


def test_each_model_gets_the_conversation_in_its_own_template(pair):
    ids, draft_ids = encode_prompts(pair, [{"role": "user", "content": "Źdźbło"}])
    for loaded, found in ((pair.target, ids), (pair.draft, draft_ids)):
        table = loaded.tokenizer.vocabulary
        assert [table.control[i] for i in found if i in table.control][:2] == ["<s>", "<|im_start|>"]
        assert "Źdźbło".encode() in loaded.tokenizer.decode(found)


def test_settings_give_the_translation(pair, folders, tuned):
    names = (str(folders / "cel"), str(folders / "szkic"))
    assert load_pair(*names, settings=tuned()).strategy == Strategy.parse("context:2")
    assert load_pair(*names, settings=tuned(anchored=True)).strategy == Strategy.parse("anchored")
    given = load_pair(*names, settings=tuned(), translation="context:5", k=2)
    assert given.strategy == Strategy.parse("context:5") and given.k == 2


def test_settings_for_other_vocabularies_are_refused(folders, tuned):
    names = (str(folders / "cel"), str(folders / "szkic"))
    with pytest.raises(SettingsError, match="made for the draft vocabulary 000000000000"):
        load_pair(*names, settings=tuned(draft=Model("x", "0" * 64)))
    with pytest.raises(SettingsError, match="made for the target vocabulary"):
        load_pair(names[0], names[0], settings=tuned(target=Model("x", "0" * 64)))
    with pytest.raises(SettingsError, match="cannot be read"):
        load_pair("no such model", "nor this", settings=Path("nie-ma.json"))


def test_provisional_settings_need_consent(folders, tuned):
    names = (str(folders / "cel"), str(folders / "szkic"))
    path = tuned(provisional=True, reason="APT4 is a stand-in")
    with pytest.raises(SettingsError, match="provisional"):
        load_pair(*names, settings=path)
    assert load_pair(*names, settings=path, allow_provisional=True).draft is not None


def test_settings_need_a_draft(folders, tuned):
    with pytest.raises(PairError, match="give the draft"):
        load_pair(str(folders / "cel"), settings=tuned())


@pytest.mark.parametrize(
    ("options", "named"),
    (({"max_tokens": 0}, "max_tokens"), ({"k": -1}, "k is -1"), ({"temperature": -1.0}, "temperature")),
)
def test_arguments_out_of_range(pair, options, named):
    with pytest.raises(UsageError, match=named):
        list(stream_generate(pair, "Ala", **options))


def test_an_empty_prompt_of_ids_is_refused(pair):
    with pytest.raises(PairError, match="empty"):
        list(stream_generate(pair, []))
    assert generate(pair, "", max_tokens=2)  # text has a beginning of its own


def test_speculation_needs_caches_that_can_be_trimmed(pair, folders, monkeypatch):
    class Rotating(tiny.llama.Model):
        def make_cache(self):
            return [RotatingKVCache(64) for _ in self.layers]

    model = Rotating(pair.target.model.args)
    model.update(pair.target.model.parameters())
    alone = Pair(replace(pair.target, model=model))
    wanted = tiny.plain(pair.target.model, encode_prompts(alone, "Ala")[0], 6)
    assert [r.token for r in stream_generate(alone, "Ala", max_tokens=6)] == wanted
    with pytest.raises(UntrimmableCache, match="RotatingKVCache in 2 layers"):
        generate(alone, "Ala", lookup=True, max_tokens=4)
    monkeypatch.setattr("mlx_lm.models.llama.Model.make_cache", Rotating.make_cache, raising=False)
    with pytest.raises(UntrimmableCache, match="the target"):
        load_pair(str(folders / "cel"), str(folders / "szkic"))
    assert load_pair(str(folders / "cel")).draft is None
