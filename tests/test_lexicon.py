"""Word forms: what is known of them, and how that is kept from one run to the next."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from reference import lexicon as reference

from tokalign import lexicon_file
from tokalign.lexicon import LEXICON_SCHEMA, Lexicon, describe
from tokalign.lexicon_file import LexiconFile
from tokalign.morphology import dictionary
from tokalign.words import DIACRITICS

FORMS = pl.Series(
    "form",
    "kot kotami domów źdźbło Łodzi może nie była xqzt abym tyś Ale ON ÓSMY strategią miękkiego robiłem İi".split(),
)


def stored(folder: Path) -> LexiconFile:
    return LexiconFile(folder / "lexicon.parquet")


def test_entries_are_what_the_slow_definition_says():
    assert DIACRITICS == reference.DIACRITICS
    slow = reference.describe(FORMS).select("form", "inflection", "pos", "offsets")
    assert_frame_equal(describe(FORMS).cast({"inflection": pl.String, "pos": pl.String}), slow)
    assert describe(FORMS[:0]).schema == LEXICON_SCHEMA


def test_both_ways_to_the_dictionary_agree():
    if dictionary.source() is dictionary._wrapped:
        pytest.skip("this version of Morfeusz has no short way")
    for form in FORMS.to_list():
        direct, wrapped = dictionary.source()(form), dictionary._wrapped(form)
        assert [e[:4] for e in direct] == [e[:4] for e in wrapped]
        assert len(direct) == 1 or direct == wrapped


def test_an_analyser_without_a_short_way_is_asked_by_its_wrapper(monkeypatch):
    monkeypatch.setattr(dictionary, "_Direct", lambda wrapper: 1 / 0)
    assert dictionary.source.__wrapped__() is dictionary._wrapped


def test_rows_come_in_the_order_asked_for():
    asked = pl.Series(["dom", "kot", "dom"])
    assert Lexicon().of(asked)["form"].to_list() == ["dom", "kot", "dom"]


def test_words_longer_than_any_dictionary_has_are_not_looked_up(monkeypatch):
    monkeypatch.setattr("tokalign.morphology.analysis.source", lambda: 1 / 0)
    assert Lexicon().of(pl.Series(["x" * 1_000_000]))["inflection"].to_list() == ["unknown"]


def test_kept_forms_are_not_analysed_again(tmp_path, monkeypatch):
    first = Lexicon(stored(tmp_path))
    rows = first.of(FORMS)
    first.keep()
    monkeypatch.setattr("tokalign.lexicon.describe", lambda forms: 1 / 0)
    assert_frame_equal(Lexicon(stored(tmp_path)).of(FORMS), rows)


def test_little_that_is_new_is_not_worth_the_writing(tmp_path):
    file = stored(tmp_path)
    many = Lexicon(file)
    many.of(pl.Series([f"kot{'a' * i}" for i in range(200)]))
    many.keep()
    before = file.path.read_bytes()
    again = Lexicon(file)
    again.of(pl.Series(["dom"]))
    again.keep()
    assert file.path.read_bytes() == before


@pytest.mark.parametrize("damage", [b"", b"PAR1", b"no parquet at all" * 100, None])
def test_a_damaged_file_is_ignored_and_replaced(tmp_path, damage):
    file = stored(tmp_path)
    kept = Lexicon(file)
    kept.of(FORMS)
    kept.keep()
    whole = file.path.read_bytes()
    file.path.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    again = Lexicon(file)
    assert again.of(FORMS).height == FORMS.len()
    again.keep()
    assert file.read(LEXICON_SCHEMA).height == FORMS.len()


def test_a_file_of_another_schema_is_ignored(tmp_path):
    pl.DataFrame({"form": ["kot"]}).write_parquet(tmp_path / "lexicon.parquet")
    assert stored(tmp_path).read(LEXICON_SCHEMA).height == 0


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    lost = Lexicon(LexiconFile(tmp_path / "file" / "lexicon.parquet"))
    lost.of(FORMS)
    lost.keep()


def test_the_place_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv(lexicon_file.VARIABLE, "off")
    assert LexiconFile.here() is None
    monkeypatch.setenv(lexicon_file.VARIABLE, str(tmp_path))
    here = LexiconFile.here()
    assert here is not None and here.path.parent == tmp_path
    monkeypatch.delenv(lexicon_file.VARIABLE)
    monkeypatch.setenv("TOKALIGN_CACHE", str(tmp_path / "cache"))
    here = LexiconFile.here()
    assert here is not None and here.path.parent == tmp_path / "cache"


def test_another_dictionary_or_other_rules_have_another_file(tmp_path, monkeypatch):
    monkeypatch.setenv(lexicon_file.VARIABLE, str(tmp_path))
    one = LexiconFile.here()
    monkeypatch.setattr(lexicon_file, "version", lambda: "1.99 sgjp of tomorrow")
    assert LexiconFile.here() != one


def keep_some(path: Path, number: int) -> int:
    lexicon = Lexicon(LexiconFile(path))
    lexicon.of(pl.Series([f"kot{'a' * i}" for i in range(number, number + 60)]))
    lexicon.keep()
    return number


def test_several_processes_may_write_at_once(tmp_path):
    file = stored(tmp_path)
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(keep_some, [file.path] * 4, range(0, 400, 100))) == [0, 100, 200, 300]
    found = file.read(LEXICON_SCHEMA)
    assert found.height >= 60 and not found["form"].is_duplicated().any()
    assert [p.name for p in tmp_path.iterdir()] == [file.path.name]
    assert_frame_equal(found, describe(found["form"]))
