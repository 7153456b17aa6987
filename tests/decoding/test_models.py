"""Loading models, and prompts by each model's own rules."""

from __future__ import annotations

import mlx.core as mx
import pytest

from decoder import models
from decoder.errors import ModelError
from decoder.models import in_float32, load_model
from decoding import makers as tiny


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.save_model(tmp_path_factory.mktemp("models") / "cel", tiny.vocabulary("sentencepiece", 480))


@pytest.fixture(scope="module")
def model(folder):
    return load_model(str(folder), "target")


def test_a_folder_is_loaded_with_its_vocabulary_as_bytes(model):
    made = tiny.vocabulary("sentencepiece", 480)
    assert model.tokenizer.fingerprint == made.fingerprint
    assert model.rows == len(made.vocabulary.table)
    assert model.eos == {tiny.control_id(made, "<|im_end|>")} and model.end in model.eos
    wanted = tiny.plain(tiny.random_model(model.rows, 1), [5, 6, 7], 8)
    assert tiny.plain(model.model, [5, 6, 7], 8) == wanted


def test_a_prompt_gets_the_models_own_beginning_once(model):
    begin = tiny.control_id(model.tokenizer, "<s>")
    assert model.encode_prompt("Ala ma") == [begin, *model.tokenizer.encode("Ala ma")]
    assert model.encode_prompt("<s>Ala ma")[:2] != [begin, begin]
    assert model.encode_prompt("") == [begin]


def test_a_conversation_gets_the_template_and_one_beginning(model):
    ids = model.encode_chat([{"role": "user", "content": "Ala"}])
    table = model.tokenizer.vocabulary
    assert [table.control[i] for i in ids if i in table.control] == [
        "<s>", "<|im_start|>", "<|im_end|>", "<|im_start|>",
    ]  # fmt: skip
    assert b"Ala" in model.tokenizer.decode(ids)


def test_a_model_without_a_template_gets_paragraphs():
    made = tiny.vocabulary("byte-level", 420)
    plain = tiny.loaded(made, None, template=None)
    ids = plain.encode_chat([{"role": "system", "content": "A."}, {"role": "user", "content": "B."}])
    assert not plain.has_chat_template and made.decode(ids) == b"A.\n\nB.\n\n"


def test_a_template_that_refuses_is_named():
    strict = "{{ raise_exception('no system messages') }}"
    model = tiny.loaded(tiny.vocabulary("byte-level", 420), None, "szkic", template=strict)
    with pytest.raises(ModelError, match=r"chat template of 'szkic' refuses .*no system messages"):
        model.encode_chat([{"role": "system", "content": "A."}])


def test_the_tokenizers_own_end_comes_first():
    model = tiny.loaded(tiny.vocabulary("byte-level", 420), None)
    first = tiny.control_id(model.tokenizer, "</s>")
    own = tiny.control_id(model.tokenizer, "<|im_end|>")
    several = models.Loaded("m", None, model.wrapper, model.tokenizer, frozenset({first, own}))
    assert several.end == own != min(several.eos)
    assert models.Loaded("m", None, model.wrapper, model.tokenizer, frozenset({first})).end == first
    assert models.Loaded("m", None, model.wrapper, model.tokenizer, frozenset()).end is None


def test_what_cannot_be_loaded_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "pusty").mkdir()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(
        ModelError, match=r"the draft '.*pusty' cannot be loaded: .*; give the folder"
    ) as caught:
        load_model(str(tmp_path / "pusty"), "draft")
    assert "\n" not in str(caught.value)


def test_a_tokenizer_without_a_fast_form_is_refused(folder, monkeypatch):
    class Slow:
        eos_token_ids = (1,)

    monkeypatch.setattr("mlx_lm.load", lambda where, **options: (None, Slow()))
    with pytest.raises(ModelError, match=r"no fast form.*tokenizer\.json"):
        load_model(str(folder), "target")


def test_float32_takes_the_weights_that_were_quantized():
    import mlx.nn as nn

    model = tiny.random_model.__wrapped__(96, 5, 1, 64)
    nn.quantize(model, group_size=32, bits=8)
    before = model(mx.array([[1, 2, 3]]))
    exact = in_float32(model)
    assert all(w.dtype == mx.float32 for _, w in tiny.tree_flatten(exact.parameters()))
    assert mx.max(mx.abs(exact(mx.array([[1, 2, 3]])) - before)).item() < 1e-2
