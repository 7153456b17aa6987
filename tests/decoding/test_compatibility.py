"""Whether two models can work together, without decoding."""

from __future__ import annotations

import json
from dataclasses import replace

import makers
import pytest
from mlx_lm.models.cache import ArraysCache, KVCache, RotatingKVCache

from decoder.compatibility import Difference, compatibility, first_difference, shared_tokens
from decoding import makers as tiny


def looked_at(which: str = "sentencepiece-from-bytes", padding: int = 0):
    pair = tiny.random_pair(which, padding=padding)
    return pair, compatibility(pair.target, pair.draft)


def test_a_pair_of_two_vocabularies():
    pair, found = looked_at(padding=7)
    assert found.works and not found.problems and not found.same_vocabulary
    assert found.verdict.startswith("Works: drafts are translated through bytes; ")
    assert found.target.padding == found.draft.padding == 7
    assert found.target.rows == len(pair.target.tokenizer.vocabulary.table) + 7
    assert (found.target.dummy_prefix, found.draft.dummy_prefix) == (True, False)
    assert (found.target.family, found.draft.family) == ("sentencepiece", "byte-level")
    end = tiny.control_id(pair.target.tokenizer, "<|im_end|>")
    assert found.target.eos == {end: "<|im_end|>"}
    assert list(found.target.bos.values()) == ["<s>"]
    assert found.target.caches == {"KVCache": 2} and found.target.untrimmable == {}
    assert found.target.chat_template and found.target.doubled_bos is True
    values = json.loads(json.dumps(found.as_dict()))
    assert values["works"] is True and values["first_difference"]["draft"] == b"!".hex()


def test_one_vocabulary():
    _, found = looked_at("same")
    assert found.works and found.same_vocabulary and found.first_difference is None and found.shared == 1
    assert "nothing is translated" in found.verdict


def test_the_first_difference_and_the_share():
    one = makers.byte_level([" kot", " dom"], name="one")
    two = makers.byte_level([" kot", " dok", "x"], name="two")
    last = next(i for i, data in enumerate(one.vocabulary.table) if data == b" dom")
    assert first_difference(one, two) == Difference(last, b" dom", b" dok")
    shorter = makers.byte_level([" kot"], name="shorter")
    assert first_difference(one, shorter) == Difference(len(shorter.vocabulary.table), b" d", None)
    assert first_difference(one, one) is None
    assert shared_tokens(one, two) == pytest.approx(1 - 1 / len(one.vocabulary.table))
    assert shared_tokens(shorter, one) == 1


def test_caches_that_cannot_be_trimmed_are_named():
    pair, _ = looked_at()

    class Mixed(tiny.Scripted):
        def make_cache(self):
            return [KVCache(), RotatingKVCache(8), ArraysCache(2), RotatingKVCache(8)]

        def __call__(self, ids, cache=None):
            return super().__call__(ids, None)

    draft = replace(pair.draft, model=Mixed(pair.draft.rows, lambda ids: 0))
    found = compatibility(pair.target, draft)
    assert not found.works
    assert found.verdict == (
        "Cannot work: the draft keeps ArraysCache in 1 layer, RotatingKVCache in 2 layers, "
        "which cannot take tokens back."
    )
    assert found.draft.untrimmable == {"RotatingKVCache": 2, "ArraysCache": 1}


def test_a_model_too_small_for_its_vocabulary_is_named():
    pair, _ = looked_at()
    draft = replace(pair.draft, model=tiny.random_model(100, 1))
    found = compatibility(pair.target, draft)
    last = pair.draft.tokenizer.vocabulary.n_ordinary - 1
    assert found.problems == (f"the draft's vocabulary has the id {last}, but its model only 100 rows",)


def test_notes():
    pair, _ = looked_at()
    bare = tiny.loaded(pair.draft.tokenizer, pair.draft.model, template=None)
    found = compatibility(pair.target, replace(bare, eos=frozenset()))
    assert found.works and found.draft.doubled_bos is None
    assert [n.split(":")[0] for n in found.notes][:2] == [
        "the draft has no chat template",
        "the draft has no end of sequence",
    ]
    failing = tiny.loaded(pair.draft.tokenizer, pair.draft.model, template="{{ raise_exception('no') }}")
    assert compatibility(pair.target, failing).draft.doubled_bos is None
