"""The stored result: nothing is lost on the way, and what is no result is refused."""

from __future__ import annotations

import gzip
import json
from dataclasses import fields, replace
from pathlib import Path

import makers
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tokalign import frames
from tokalign.compare import compare
from tokalign.errors import ResultError
from tokalign.job import Job
from tokalign.records import RecordError
from tokalign.result import Pair, Result, dumps, read, write


@pytest.fixture(scope="module")
def result(tmp_path_factory) -> Result:
    folder = tmp_path_factory.mktemp("result")
    texts = makers.polish_texts(8)
    cel = makers.saved(makers.trained(texts, 900), folder / "cel.json")
    szkic = makers.saved(makers.trained(texts, 700, "byte-level"), folder / "szkic.json")
    (folder / "t.txt").write_text("\n".join(texts), encoding="utf-8")
    job = Job(str(cel), (str(szkic),), (str(folder / "t.txt"),), cuts=20, command=("tokalign", "compare"))
    return compare(job)


def same(one: Result, two: Result) -> None:
    assert replace(one, pairs=()) == replace(two, pairs=())
    for left, right in zip(one.pairs, two.pairs, strict=True):
        for field in fields(Pair):
            a, b = getattr(left, field.name), getattr(right, field.name)
            if isinstance(a, pl.DataFrame):
                assert_frame_equal(a, b, check_exact=True)
            else:
                assert a == b


def test_results_from_before_a_field_was_added_are_read(result, tmp_path: Path):
    content = json.loads(dumps(result))
    for side in (content["target"], *content["drafts"]):
        del side["encoder"]
    for corpus in content["corpora"]:
        del corpus["damage"], corpus["curve"]
    path = tmp_path / "alt.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    same(read(path), result)


@pytest.mark.parametrize("name", ["wynik.json", "wynik.json.gz"])
def test_round_trip(result, tmp_path: Path, name):
    path = tmp_path / name
    write(result, path)
    same(read(path), result)
    assert path.read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")


def test_equal_results_give_equal_files(result, tmp_path: Path):
    for name in ("a.json.gz", "b.json.gz"):
        write(result, tmp_path / name)
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()


def test_it_is_json_with_missing_values_as_null(result):
    content = json.loads(dumps(result), parse_constant=lambda name: pytest.fail(name))
    assert content["schema"] == "tokalign-result/1"
    assert content["command"] == ["tokalign", "compare"]
    assert content["pairs"][0]["metrics"]["columns"]["value"] == "number"


def spoilt(result: Result, path: Path, change) -> Path:
    content = json.loads(dumps(result))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c.update(seed="0"), "'seed' is '0', not a whole number"),
        (lambda c: c.pop("pairs"), "'pairs' is missing"),
        (lambda c: c.update(pairs=[1]), "'pairs[0]' is no object"),
        (lambda c: c["pairs"][0].pop("curve"), "'pairs[0].curve' is missing"),
        (lambda c: c["pairs"][0]["curve"]["rows"][0].pop(), "'pairs[0].curve' has a row"),
        (lambda c: c["pairs"][0]["curve"]["rows"][0].__setitem__(1, "x"), "wrong type"),
        (lambda c: c["pairs"][0]["curve"]["columns"].update(k="date"), "unknown type 'date'"),
        (
            lambda c: c["pairs"][0].update(draft="x"),
            "names a tokenizer or corpus that the result does not have",
        ),
        (lambda c: c["pairs"][0]["choice"].update(p=None), "'pairs[0].choice.p' is null"),
        (lambda c: c["machine"].update(cores=None), "'machine.cores' is null"),
        (lambda c: c.update(extra=1), "'extra' is unknown"),
    ],
)
def test_a_wrong_field_is_named(result, tmp_path: Path, change, words):
    with pytest.raises(ResultError) as caught:
        read(spoilt(result, tmp_path / "r.json", change))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_files_are_refused_in_one_sentence(result, tmp_path: Path):
    newer = spoilt(result, tmp_path / "n.json", lambda c: c.update(schema="tokalign-result/2"))
    with pytest.raises(ResultError, match=r"newer schema.*upgrade tokalign"):
        read(newer)
    settings = spoilt(result, tmp_path / "s.json", lambda c: c.update(schema="tokalign-settings/1"))
    with pytest.raises(ResultError, match="is no result file: its schema is"):
        read(settings)
    for content in (b"", b"\x00\xff", b"[1]", b"\x1f\x8bxx"):
        path = tmp_path / "x.json"
        path.write_bytes(content)
        with pytest.raises(ResultError):
            read(path)
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes(gzip.compress(dumps(result).encode())[:2000])
    with pytest.raises(ResultError, match="cut off"):
        read(cut)
    with pytest.raises(ResultError, match="cannot be read: No such file"):
        read(tmp_path / "brak.json")


def test_frames_keep_types_without_rows():
    frame = pl.DataFrame(schema={"a": pl.Int64, "b": pl.List(pl.Int64), "c": pl.String, "d": pl.Float64})
    assert_frame_equal(frames.from_json(frames.to_json(frame), "x"), frame)
    with pytest.raises(RecordError, match="'x' is no table"):
        frames.from_json([], "x")
    with pytest.raises(TypeError, match="not stored"):
        frames.to_json(pl.DataFrame({"t": [None]}, schema={"t": pl.Date}))
