"""The settings file: round trip, strict reading, and the refusal of other vocabularies."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import makers
import pytest

from tokalign import settings as module
from tokalign.errors import SettingsError
from tokalign.settings import CorpusIdentity, DraftLength, Evidence, Model, Settings, check, read, write

TARGET = makers.sentencepiece([" kot"], name="cel")
DRAFT = makers.byte_level([" kot"], name="szkic")


def made(**changes) -> Settings:
    evidence = Evidence("anchored", None, 0.99, 0.98, 1.0)
    plain = Settings(
        created="2026-01-02T03:04:05+00:00",
        tokalign="0.1.0",
        target=Model("cel", TARGET.fingerprint),
        draft=Model("szkic", DRAFT.fingerprint),
        same_vocabulary=False,
        p=2,
        anchored=True,
        k=4,
        lengths=(DraftLength(2, 2.2, 0.98, None, None), DraftLength(4, 4.4, None, None, None)),
        chosen=evidence,
        runner_up=replace(evidence, method="exact", p=2),
        corpora=(CorpusIdentity("źródło", "ab" * 32, 3, 1234, True),),
        provisional=False,
        reason=None,
        verdict="Ustaw p=2.",
    )
    return replace(plain, **changes)


def test_round_trip(tmp_path: Path):
    path = tmp_path / "nowy" / "ustawienia.json"
    write(made(), path)
    assert read(path) == made()
    assert "źródło" in path.read_text(encoding="utf-8")
    assert json.loads(path.read_text(encoding="utf-8"))["schema"] == "tokalign-settings/1"


def test_the_window_is_what_a_translator_takes():
    assert made().window is None
    assert made(anchored=False).window == 2


def damaged(tmp_path: Path, **changes) -> Path:
    path = tmp_path / "s.json"
    write(made(), path)
    content = json.loads(path.read_text(encoding="utf-8"))
    for name, value in changes.items():
        if value is ...:
            del content[name]
        else:
            content[name] = value
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"p": "5"}, "'p' is '5', not a whole number"),
        ({"p": True}, "'p' is True, not a whole number"),
        ({"p": 2.5}, "'p' is 2.5, not a whole number"),
        ({"p": -1}, "'p' is -1, less than 0"),
        ({"p": ...}, "'p' is missing"),
        ({"temperature": 1}, "'temperature' is unknown"),
        ({"k": 8}, "'k' is 8, which is not among 'lengths'"),
        ({"target": {"name": "x", "fingerprint": "12"}}, "'target.fingerprint' is '12'"),
        ({"target": "x"}, "'target' is 'x', not an object"),
        ({"same_vocabulary": True}, "which the fingerprints deny"),
        ({"provisional": True}, "'reason' is empty"),
        (
            {"chosen": {"method": "exact", "p": 1, "fidelity": 1.5, "low": None, "high": None}},
            "'chosen.fidelity' is 1.5",
        ),
        ({"lengths": [{"k": 0}]}, "'lengths[0].ceiling' is missing"),
        ({"lengths": 3}, "'lengths' is 3, not a list"),
    ],
)
def test_a_wrong_field_is_named_with_its_value(tmp_path: Path, changes, words):
    with pytest.raises(SettingsError) as caught:
        read(damaged(tmp_path, **changes))
    message = str(caught.value)
    assert words in message and "make it anew with `tokalign tune" in message
    assert "\n" not in message


def test_other_schemas_are_refused(tmp_path: Path):
    with pytest.raises(SettingsError, match=r"newer schema 'tokalign-settings/2'.*upgrade tokalign"):
        read(damaged(tmp_path, schema="tokalign-settings/2"))
    with pytest.raises(SettingsError, match="no settings file: its schema is 'tokalign-result/1'"):
        read(damaged(tmp_path, schema="tokalign-result/1"))
    with pytest.raises(SettingsError, match="its schema is None"):
        read(damaged(tmp_path, schema=...))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe\x00", b'"text"'])
def test_what_is_no_settings_file_is_refused_in_one_sentence(tmp_path: Path, content):
    path = tmp_path / "s.json"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match="is no settings file"):
        read(path)


def test_a_missing_file_and_a_folder(tmp_path: Path):
    with pytest.raises(SettingsError, match=r"brak\.json cannot be read: No such file"):
        read(tmp_path / "brak.json")
    with pytest.raises(SettingsError, match="cannot be read"):
        read(tmp_path)


def test_check_accepts_the_vocabularies_whatever_their_names():
    renamed = makers.sentencepiece([" kot"], name="inna nazwa")
    check(made(), renamed, DRAFT)


def test_check_names_the_side_and_both_fingerprints():
    other = makers.byte_level([" pies"], name="pies")
    with pytest.raises(SettingsError) as caught:
        check(made(), TARGET, other)
    message = str(caught.value)
    assert "the draft vocabulary" in message and "pies" in message
    assert DRAFT.fingerprint[:12] in message and other.fingerprint[:12] in message
    assert "`tokalign compare cel pies --settings FILE`" in message
    with pytest.raises(SettingsError, match="the target vocabulary"):
        check(made(), other, DRAFT)


def test_equal_sizes_are_not_enough():
    other = makers.byte_level([" kos"], name="kos")
    assert len(other.vocabulary.table) == len(DRAFT.vocabulary.table)
    with pytest.raises(SettingsError):
        check(made(), TARGET, other)


def test_provisional_settings_need_consent():
    provisional = made(provisional=True, reason="x (stand-in for APT4, not APT4)")
    with pytest.raises(SettingsError, match=r"stand-in for APT4, not APT4.*--allow-provisional"):
        check(provisional, TARGET, DRAFT)
    check(provisional, TARGET, DRAFT, allow_provisional=True)


def test_a_failed_write_leaves_the_older_file(tmp_path: Path, monkeypatch):
    path = tmp_path / "s.json"
    write(made(), path)
    before = path.read_bytes()

    def full(self, *args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        write(made(p=3), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["s.json"]


def test_the_decoder_can_import_it_without_the_analysis():
    code = "import tokalign.settings, sys; print({'polars', 'altair', 'corpora', 'rich'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
    assert module.SCHEMA.startswith("tokalign-settings/")
