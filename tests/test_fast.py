"""Many texts at once: flat arrays, and the fast encoder that is taken only where it agrees."""

from __future__ import annotations

import json
import pickle
import sys

import numpy as np
import pytest
from families import MADE, PUBLISHED, family
from makers import byte_level, sentencepiece

from tokalign.tokenizers import Source, Tokenizer, Unaligned, fast


def spied(monkeypatch, encode) -> None:
    """Put an encoder in the place of the fast one."""
    monkeypatch.setattr(fast.FastEncoder, "__init__", lambda self, spec: None)
    monkeypatch.setattr(fast.FastEncoder, "encode", encode)


def test_the_fast_encoder_is_taken_where_it_agrees():
    pytest.importorskip("gigatoken")
    texts = ["Źdźbło trawy.", "kot <s> i </s> dom", "a▁b", "", "a\ud800b"]
    for name in ("sentencepiece-first", "sentencepiece-prepend", "bielik-11b"):
        made = family(name)
        if made is None:
            continue
        plain = Tokenizer.from_json(made._document.to_str(), name, Source("memory", "made by a test"))
        told = plain.accelerate(texts)
        if "by gigatoken" not in told:
            continue
        assert told == (
            f"{name!r} is encoded by gigatoken, equal to the reference encoder on {len(fast.HARD)} hard texts "
            "and 4 of the corpus."
        )
        for one, other in zip(plain.segment_batch(texts[:4]), made.segment_batch(texts[:4]), strict=True):
            assert one.ids.tolist() == other.ids.tolist() and one.ends.tolist() == other.ends.tolist()
            assert one.path == other.path


def test_a_stored_tokenizer_keeps_its_encoder():
    pytest.importorskip("gigatoken")
    made = family("sentencepiece-first")
    assert made is not None and "by gigatoken" in made.accelerate([])
    again = pickle.loads(pickle.dumps(made))
    assert again._fast is not None
    assert again.segment("źdźbło").ids.tolist() == made.segment("źdźbło").ids.tolist()


def test_without_the_fast_encoder_the_reference_one_stays(monkeypatch):
    monkeypatch.setitem(sys.modules, "gigatoken", None)
    made = byte_level(["kot"], name="mine")
    assert made.accelerate(["kot"]) == "'mine' is encoded by the reference encoder: gigatoken is not installed."
    assert made.segment("kot").ids.size == 1


def test_a_vocabulary_that_the_fast_encoder_cannot_read(monkeypatch):
    def refuse(self, spec):
        raise RuntimeError("Unsupported pre_tokenizer\n\nLocation: somewhere")

    monkeypatch.setattr(fast.FastEncoder, "__init__", refuse)
    told = byte_level(name="mine").accelerate([])
    assert told == (
        "'mine' is encoded by the reference encoder: gigatoken cannot read it (Unsupported pre_tokenizer)."
    )


def test_a_text_that_the_fast_encoder_cuts_otherwise(monkeypatch):
    made = byte_level(["kot"], name="mine")

    def wrong(self, texts):
        parts = [made.encode(text) if "dom" not in text or text in fast.HARD else [0] for text in texts]
        offsets = np.cumsum([0, *(len(part) for part in parts)])
        return np.concatenate([np.array(part, dtype=np.int32) for part in parts]), offsets

    spied(monkeypatch, wrong)
    told = made.accelerate(["kot", "dom i źdźbło"])
    assert told.endswith(
        "reference encoder: gigatoken encodes the text 'dom i \\u017ad\\u017ab\\u0142o' differently."
    )
    assert made.encode_batch(["dom"]) == [made.encode("dom")]
    assert "by gigatoken" in made.accelerate(["kot"])


def test_a_fast_encoder_that_fails_is_left_alone(monkeypatch):
    def fail(self, texts):
        raise ValueError

    spied(monkeypatch, fail)
    assert byte_level(name="mine").accelerate([]).endswith("gigatoken fails on them (ValueError()).")


@pytest.mark.parametrize("name", [*MADE, *PUBLISHED])
def test_flat_segmentations_are_those_of_each_text(name):
    tokenizer = family(name)
    if tokenizer is None:
        pytest.skip(f"the vocabulary of {name} is not installed")
    texts = ["kot", "", " ", "a▁b", "zaz\u0307", "  dom", "źdźbło", "x", "", "kot <s>"]
    found = tokenizer.segment_flat(texts)
    assert len(found) == len(texts)
    for i, (text, part) in enumerate(zip(texts, found, strict=True)):
        try:
            alone = tokenizer.segment(text)
        except Unaligned as error:
            assert str(found.errors[i]) == str(error)
            continue
        assert part.ids.tolist() == alone.ids.tolist()
        assert part.ends.tolist() == alone.ends.tolist()
        assert part.path == alone.path


def test_a_letter_without_a_token_is_not_taken_for_the_dummy_prefix():
    spec = json.loads(sentencepiece([], "kot")._document.to_str())
    spec["model"]["byte_fallback"] = False  # the x is unknown: a byte too few, as the prefix is one too many
    made = Tokenizer.from_json(json.dumps(spec), "lossy", Source("memory", "made by a test"))
    assert made.segment_flat(["kotx"])[0].path == "offsets"
