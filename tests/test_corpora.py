"""Corpora: every format, every bad input, sampling, the hub and what stands in for it. No network."""

from __future__ import annotations

import gzip
import hashlib
import io
import itertools
import json
import random
import subprocess
import sys
import threading
import time
import tracemalloc
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import corpora
from corpora import cache, hub, remote, sampling
from corpora.corpus import Document, with_unique_ids
from corpora.names import Names
from corpora.reading import BROKEN
from tokalign.errors import CorpusError, CorpusUsageError

TEXTS = ["Zażółć gęślą jaźń.", "źdźbło\r\n", "  Łódź", "a\u0301 NFD", "a\u2028b\x0bc 🙂", "x" * 200_000]
NAMES = ["plwiki", "pl_alpaca", "questions"]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*hub._OFFLINE_SWITCHES, "HF_ENDPOINT", "HF_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "no-cache"))
    monkeypatch.setattr(hub, "_probe", lambda *_: "no network in tests")


@pytest.fixture
def fake_hub(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[object, ...]]]:
    """``fake_hub(answer)``: the hub answers and `datasets.load_dataset` gives or raises this; its calls."""

    def install(answer: object) -> list[tuple[object, ...]]:
        calls: list[tuple[object, ...]] = []

        def load_dataset(path: str, name: str | None = None, *, split: str, streaming: bool) -> object:
            calls.append((path, name, split, streaming))
            if isinstance(answer, Exception):
                raise answer
            return answer() if callable(answer) else answer

        monkeypatch.setattr(hub, "_probe", lambda *_: None)
        monkeypatch.setitem(sys.modules, "datasets", types.SimpleNamespace(load_dataset=load_dataset))
        return calls

    return install


def texts(corpus: corpora.Corpus) -> list[str]:
    return [document.text for document in corpus.documents]


def counts(corpus: corpora.Corpus) -> dict[str, int]:
    return {kind: count for kind, _, count in corpus.skipped}


def json_lines(rows: list[object]) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor().compress(data)


def write(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return str(path)


def refused(spec: str, kind: type[CorpusError] = CorpusUsageError, **options: object) -> str:
    """The one-sentence message of the expected error."""
    with pytest.raises(CorpusError) as caught:
        corpora.open_corpus(spec, **options)  # type: ignore[arg-type]
    assert type(caught.value) is kind
    assert caught.value.exit_code == (2 if kind is CorpusUsageError else 1)
    message = str(caught.value)
    assert "\n" not in message and not message.endswith(".")
    return message


def parquet(path: Path, columns: dict[str, object]) -> str:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table(columns), path, row_group_size=2)
    return str(path)


def csv_bytes(rows: list[list[str]], separator: str = ",") -> bytes:
    import csv

    out = io.StringIO(newline="")
    csv.writer(out, delimiter=separator).writerows(rows)
    return out.getvalue().encode()


# ---- the manifest and its samples


@pytest.mark.parametrize("name", NAMES)
def test_manifest_sha256_is_that_of_the_file(name: str) -> None:
    entry = corpora.named_corpora()[name]
    assert hashlib.sha256(entry.sample_path.read_bytes()).hexdigest() == entry.sample_sha256
    assert entry.sample_licence == "Apache-2.0"
    assert entry.licence and entry.description and entry.columns


def test_manifest_names_and_addresses() -> None:
    entries = corpora.named_corpora()
    assert list(entries) == NAMES
    assert (entries["plwiki"].hub, entries["plwiki"].config) == ("wikimedia/wikipedia", "20231101.pl")
    assert entries["pl_alpaca"].columns == ("instruction", "input", "output")
    assert entries["questions"].hub is None


@pytest.mark.parametrize(
    ("name", "documents", "n_bytes"), [("plwiki", 150, 150_000), ("pl_alpaca", 200, 0), ("questions", 300, 0)]
)
def test_samples_are_large_enough_and_clean(name: str, documents: int, n_bytes: int) -> None:
    corpus = corpora.open_corpus(f"sample:{name}")
    assert len(corpus.documents) >= documents and corpus.n_bytes >= n_bytes
    assert len(set(texts(corpus))) == len({document.id for document in corpus.documents}) == corpus.total
    assert not corpus.skipped and not corpus.fallback and corpus.notice is None
    assert corpus.licence == "Apache-2.0" and "written for this project" in corpus.source
    assert corpora.open_corpus(f"{name}:sample").sha256 == corpus.sha256


def test_alpaca_joins_its_columns_by_blank_lines() -> None:
    row = json.loads(
        corpora.named_corpora()["pl_alpaca"].sample_path.read_text(encoding="utf-8").splitlines()[0]
    )
    parts = [row[column] for column in ("instruction", "input", "output") if row[column]]
    assert texts(corpora.open_corpus("sample:pl_alpaca"))[0] == "\n\n".join(parts)


def test_altered_sample_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("corpora.manifest.HERE", tmp_path)
    assert "missing" in refused("questions", CorpusError)
    (tmp_path / "samples").mkdir()
    write(tmp_path / "samples" / "questions.jsonl", b'{"text": "inne"}\n')
    assert "altered" in refused("questions", CorpusError)


def test_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = corpora.catalogue(offline=True)
    assert [entry.name for entry in entries] == NAMES
    assert all(entry.available == ("bundled sample",) for entry in entries)
    assert entries == corpora.catalogue()  # the hub does not answer here
    sample = corpora.open_corpus("sample:plwiki")
    assert (entries[0].documents, entries[0].n_bytes) == (sample.total, sample.n_bytes)
    assert (entries[0].sha256, entries[0].licence) == (sample.sha256, "CC BY-SA 4.0")
    monkeypatch.setattr(hub, "_probe", lambda *_: None)
    monkeypatch.setattr("corpora.listing.cached_files", lambda data: [Path("x")])
    assert [len(entry.available) for entry in corpora.catalogue()] == [3, 3, 1]
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert [len(entry.available) for entry in corpora.catalogue()] == [2, 2, 1]


# ---- formats


def test_text_file_keeps_every_byte(tmp_path: Path) -> None:
    for number, text in enumerate(TEXTS):
        corpus = corpora.open_corpus(write(tmp_path / f"{number}.txt", text.encode()))
        assert texts(corpus) == [text] and corpus.documents[0].id == f"{number}.txt"
        assert corpus.n_bytes == len(text.encode()) and corpus.licence is None


def test_json_lines_plain_and_compressed(tmp_path: Path) -> None:
    data = json_lines([{"text": text, "n": 1} for text in TEXTS])
    plain = corpora.open_corpus(write(tmp_path / "a.jsonl", data))
    assert texts(plain) == TEXTS
    assert [document.id for document in plain.documents][:2] == ["a.jsonl:1", "a.jsonl:2"]
    half = data.index(b"\n") + 1
    versions = {
        "b.jsonl.gz": gzip.compress(data),
        "c.jsonl.zst": zstd(data),
        "d.jsonl.zst": zstd(data[:half]) + zstd(data[half:]),  # two frames
        "e.JSONL": data,
        "f.json": data,  # JSON lines under the suffix of JSON
    }
    for name, content in versions.items():
        corpus = corpora.open_corpus(write(tmp_path / name, content))
        assert (texts(corpus), corpus.sha256) == (TEXTS, plain.sha256), name


def test_json_file(tmp_path: Path) -> None:
    rows = [{"id": 7, "text": text} for text in TEXTS]
    corpus = corpora.open_corpus(write(tmp_path / "a.json", json.dumps(rows, indent=1).encode()))
    assert texts(corpus) == TEXTS
    assert [document.id for document in corpus.documents][:3] == ["7", "7#2", "7#3"]
    one = corpora.open_corpus(
        write(tmp_path / "b.json", json.dumps({"text": "jeden", "n": 1}, indent=1).encode())
    )
    assert texts(one) == ["jeden"]
    mixed = corpora.open_corpus(write(tmp_path / "c.json", b'[1, {"text": "dwa"}]'))
    assert texts(mixed) == ["dwa"] and counts(mixed) == {"item that is no JSON object": 1}


def test_csv(tmp_path: Path) -> None:
    rows = [["text", "n"], *[[text, "1"] for text in TEXTS]]
    for name, data in {
        "a.csv": csv_bytes(rows),
        "b.csv.gz": gzip.compress(csv_bytes(rows)),
        "c.csv": csv_bytes(rows, ";"),
        "d.csv": csv_bytes(rows, "\t"),
        "e.csv": csv_bytes([row[:1] for row in rows]),
    }.items():
        assert texts(corpora.open_corpus(write(tmp_path / name, data))) == TEXTS, name
    damaged = "text,n\na,1\nb\n\nżółw,3\n".encode() + b"\xb9\xe6,4\n"
    corpus = corpora.open_corpus(write(tmp_path / "f.csv", b"\xef\xbb\xbf" + damaged))
    assert texts(corpus) == ["a", "żółw"]
    assert counts(corpus) == {
        "byte-order mark": 1,
        "row of another length than the header": 1,
        "blank line": 1,
        "text that is not UTF-8": 1,
    }


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    path = parquet(tmp_path / "a.parquet", {"text": TEXTS, "n": list(range(len(TEXTS)))})
    corpus = corpora.open_corpus(path)
    assert texts(corpus) == TEXTS and corpus.documents[1].id == "a.parquet:2"
    bad = pa.array([b"dobrze", b"\xff\xfe", None, b""], pa.binary()).view(pa.string())
    corpus = corpora.open_corpus(parquet(tmp_path / "b.parquet", {"text": bad, "id": ["a", "b", "c", "d"]}))
    assert [(document.id, document.text) for document in corpus.documents] == [("a", "dobrze")]
    assert counts(corpus) == {"text that is not UTF-8": 1, "null column value": 1, "empty document": 1}
    coded = pa.array(["tak", "nie", "tak"]).dictionary_encode()
    assert texts(corpora.open_corpus(parquet(tmp_path / "c.parquet", {"text": coded}))) == [
        "tak",
        "nie",
        "tak",
    ]


def test_folder_is_sorted_and_counts_what_it_leaves(tmp_path: Path) -> None:
    folder = tmp_path / "zbiór"
    (folder / "inner").mkdir(parents=True)
    for name in ("b.txt", "a.txt", "Z.txt", "notes.md", ".hidden.txt"):
        write(folder / name, name.encode())
    write(folder / "c.jsonl", b'{"text": "c1"}\n{"text": "c2"}\n')
    write(folder / "inner" / "d.txt", b"d")
    corpus = corpora.open_corpus(str(folder))
    assert texts(corpus) == ["Z.txt", "a.txt", "b.txt", "c1", "c2"] and corpus.name == "zbiór"
    assert counts(corpus) == {"hidden file": 1, "folder not entered": 1, "file of no supported format": 1}
    assert texts(corpora.open_corpus(f"{folder}/*.txt")) == ["Z.txt", "a.txt", "b.txt"]
    deep = corpora.open_corpus(f"{folder}/**/*.txt")
    assert [document.id.removeprefix(f"{folder}/") for document in deep.documents][-1] == "inner/d.txt"


@pytest.mark.parametrize("name", ["a[1].txt", "z odstępem.txt", "--help.txt"])
def test_odd_file_names(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / name, b"tekst")
    assert texts(corpora.open_corpus(name)) == ["tekst"]


def test_a_name_wins_over_a_file_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "questions").mkdir()
    write(tmp_path / "questions" / "a.txt", b"moje")
    assert corpora.open_corpus("questions").total != 1
    assert texts(corpora.open_corpus("./questions")) == ["moje"]


# ---- standard input


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    def feed(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(data)))

    return feed


def test_standard_input(pipe: Callable[[bytes], None]) -> None:
    pipe(json_lines([{"text": "raz"}, {"text": "dwa"}]) + b"\n")
    corpus = corpora.open_corpus("-")
    assert texts(corpus) == ["raz", "dwa"] and corpus.name == "stdin" and counts(corpus) == {"blank line": 1}
    pipe(json_lines([{"a": "raz", "b": "x"}]))
    assert texts(corpora.open_corpus("-", column="a,b")) == ["raz\n\nx"]
    for plain in (b"zwyk\xc5\x82y\r\ntekst\n", b'{"text": "raz"}\nnie JSON\n', b"7\n", b'["a"]\n'):
        pipe(plain)
        assert texts(corpora.open_corpus("-")) == [plain.decode()]
    pipe(b"\xef\xbb\xbfala")
    corpus = corpora.open_corpus("-")
    assert texts(corpus) == ["ala"] and counts(corpus) == {"byte-order mark": 1}


def test_standard_input_refused(pipe: Callable[[bytes], None]) -> None:
    pipe(b"")
    assert "empty" in refused("-", CorpusError)
    pipe(b"ab\0c")
    assert "byte 2" in refused("-")
    pipe(b"ala\n")
    assert "'body'" in refused("-", column="body")
    pipe(json_lines([{"a": "1", "b": "2"}]))
    assert "'a', 'b'" in refused("-")
    pipe(json_lines([{"text": "1"}, {"b": "2"}]))
    assert "'text'" in refused("-")


# ---- what is left out is counted


def test_json_lines_count_every_flaw(tmp_path: Path) -> None:
    data = (
        b'\xef\xbb\xbf{"text": "dobry"}\n'
        b'{"text": "\xb9\xe6"}\n{"text": \n{"text": null}\n{"text": ""}\n[1]\n\n{"text": 5}\n{"other": "x"}\n'
        b'{"text": "\\ud800"}\n{"text": "z\\u0000 \\ufeff"}\n' + b"[" * 100_000 + b'\n{"text": " "}'
    )
    corpus = corpora.open_corpus(write(tmp_path / "a.jsonl", data))
    assert texts(corpus) == ["dobry", "z\0 \ufeff", " "]
    assert counts(corpus) == {
        "byte-order mark": 1,
        "line that is not UTF-8": 1,
        "invalid JSON line": 2,
        "null column value": 1,
        "empty document": 1,
        "line that is no JSON object": 1,
        "blank line": 1,
        "column value that is no text (int)": 1,
        "row without the column": 1,
        "text with a lone surrogate": 1,
    }
    invalid = next(entry for entry in corpus.skipped if entry.kind == "invalid JSON line")
    assert invalid.where.endswith("a.jsonl (first at line 3)")


def test_byte_order_mark_of_text_is_cut_and_counted(tmp_path: Path) -> None:
    corpus = corpora.open_corpus(write(tmp_path / "a.txt", "\ufeffala \ufeff kot".encode()))
    assert texts(corpus) == ["ala \ufeff kot"] and counts(corpus) == {"byte-order mark": 1}


def test_empty_file_among_others_is_counted(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", b"")
    write(tmp_path / "b.txt", b"b")
    corpus = corpora.open_corpus(str(tmp_path))
    assert texts(corpus) == ["b"] and counts(corpus) == {"empty document": 1}


# ---- columns


def test_columns(tmp_path: Path) -> None:
    rows: list[object] = [{"q": "pytanie", "a": "odpowiedź", "n": None}, {"q": "drugie", "a": None}]
    path = write(tmp_path / "a.jsonl", json_lines(rows))
    assert texts(corpora.open_corpus(path, column="q")) == ["pytanie", "drugie"]
    assert texts(corpora.open_corpus(path, column="q, a")) == ["pytanie\n\nodpowiedź", "drugie"]
    assert "'q', 'a', 'n'" in refused(path)
    assert "'nope'" in (message := refused(path, column="nope")) and "'q', 'a', 'n'" in message
    comma = write(tmp_path / "b.jsonl", json_lines([{"q,a": "x", "q": "y"}]))
    assert texts(corpora.open_corpus(comma, column="q,a")) == ["x"]
    late = write(tmp_path / "c.jsonl", json_lines([{"text": "x"}, {"body": "y"}]))
    assert texts(corpora.open_corpus(late, column="body")) == ["y"]
    table = write(tmp_path / "d.csv", csv_bytes([["q", "a"], ["x", "y"]]))
    assert texts(corpora.open_corpus(table, column="a")) == ["y"]
    assert "'zzz'" in (message := refused(table, column="q,zzz")) and "'q', 'a'" in message
    assert "'q'" in refused(parquet(tmp_path / "e.parquet", {"q": ["x"], "a": ["y"]}), column="text")
    assert "plain text" in refused(write(tmp_path / "f.txt", b"x"), column="q")
    assert "empty" in refused(path, column=" ")


# ---- requests that cannot be met


def test_unknown_names() -> None:
    message = refused("plwikii")
    assert "'plwikii'" in message and "perhaps plwiki" in message and all(name in message for name in NAMES)
    assert "perhaps" not in refused("xyzzy")
    assert "'nic'" in refused("sample:nic")
    assert "''" in refused("")
    assert "hf:wikimedia/wikipedia" in refused("wikimedia/wikipedia")


@pytest.mark.parametrize("spec", ["hf:", "hf:squad", "hf:a/b/c", "hf:a/b:c:d:e:f", "hf:a b/c"])
def test_malformed_addresses(spec: str) -> None:
    assert "hf:owner/name[:config][:split][:column]" in refused(spec)


def test_paths_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "brak.txt" in refused(str(tmp_path / "brak.txt"))
    assert "brak/" in refused("./brak/")
    assert ".txt, .jsonl" in refused(str(tmp_path))
    assert ".txt, .jsonl" in refused(write(tmp_path / "a.docx", b"x"))
    assert "*.jsonl" in refused(f"{tmp_path}/*.jsonl")
    path = write(tmp_path / "a.txt", b"x")

    def deny(self: Path, *_: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", deny)
        assert "permissions" in refused(path, CorpusError)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "iterdir", deny)
        assert "permissions" in refused(str(tmp_path), CorpusError)


def test_binary_and_foreign_text_names_the_byte(tmp_path: Path) -> None:
    assert "byte 4" in refused(write(tmp_path / "a.txt", b"\x89PNG\0\1"))
    assert "byte 3 (0xb9)" in (message := refused(write(tmp_path / "b.txt", b"ala\xb9"))) and "1250" in message
    assert "UTF-16" in refused(write(tmp_path / "c.txt", "ala".encode("utf-16")))
    assert "not UTF-8 at byte 2" in refused(write(tmp_path / "d.json", b'["\xb9"]'))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.txt", b""),
        ("a.jsonl", b""),
        ("a.jsonl", b"\n\n"),
        ("a.json", b"[]"),
        ("a.csv", b"text\n"),
        ("a.jsonl", b"\x00\x01"),
    ],
)
def test_sources_without_text(name: str, data: bytes, tmp_path: Path) -> None:
    assert "no text was found" in refused(write(tmp_path / name, data), CorpusError)


@pytest.mark.parametrize(
    "data", [b"", b"Ala ma kota.\nA kot.\n", b"Ala ma kota.,7\n", b"12,13\n", b"text,text\n", b"text,\n"]
)
def test_csv_without_header(data: bytes, tmp_path: Path) -> None:
    assert "header" in refused(write(tmp_path / "a.csv", data))


def test_csv_with_broken_quotes_names_the_line(tmp_path: Path) -> None:
    assert "line 3" in refused(write(tmp_path / "a.csv", b'text\nok\n"zly"x\n'), CorpusError)
    assert "CSV" in refused(write(tmp_path / "b.csv", b'text\n"bez konca\n'), CorpusError)


def test_invalid_json_file(tmp_path: Path) -> None:
    assert "line 2 column" in refused(write(tmp_path / "a.json", b'[{"text": "a"},\n{"text": }]'), CorpusError)
    assert "array of objects" in refused(write(tmp_path / "b.json", b'"tekst"'))
    assert "not valid JSON" in refused(write(tmp_path / "c.json", b"[" * 100_000), CorpusError)


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_cut_and_damaged_streams(suffix: str, tmp_path: Path) -> None:
    pack = gzip.compress if suffix == "gz" else zstd
    given = [hashlib.sha512(str(number).encode()).hexdigest() for number in range(5000)]
    lines = json_lines([{"text": text} for text in given])
    whole = pack(lines)
    cut = write(tmp_path / f"a.jsonl.{suffix}", whole[: len(whole) * 2 // 3])
    corpus = corpora.open_corpus(cut)
    good = corpus.n_documents
    assert 1000 < good < 4000 and texts(corpus) == given[:good]
    assert corpus.skipped == ((BROKEN, f"{cut} (first at document {good + 1})", 1),)
    assert (
        corpus.notice == corpus.damage[0] and f"only the {good:,} documents before the break" in corpus.notice
    )
    assert corpora.open_corpus(cut, sample=5).damage == corpus.damage
    nothing = refused(write(tmp_path / f"b.jsonl.{suffix}", b"to nie to"), CorpusError)
    assert "no document was whole" in nothing and f"b.jsonl.{suffix}" in nothing
    table = pack(csv_bytes([["text"], *[[line] for line in lines.decode().splitlines()]]))
    half = corpora.open_corpus(write(tmp_path / f"d.csv.{suffix}", table[: len(table) // 2]))
    assert 0 < half.n_documents < 5000 and counts(half) == {BROKEN: 1}
    for name in ("c.txt", "e.json"):
        assert "incomplete" in refused(write(tmp_path / f"{name}.{suffix}", whole[:-9]), CorpusError)
    assert "incomplete" in refused(write(tmp_path / f"f.csv.{suffix}", whole[:9]), CorpusError)


def test_a_damaged_file_costs_no_other_file(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl.zst", b"to nie to")
    write(tmp_path / "b.parquet", b"PAR1")
    write(tmp_path / "c.jsonl", b'{"text": "c"}')
    corpus = corpora.open_corpus(str(tmp_path))
    assert texts(corpus) == ["c"] and len(corpus.damage) == 2
    assert [count for kind, _, count in corpus.skipped if kind == BROKEN] == [1, 1]


def test_damaged_parquet(tmp_path: Path) -> None:
    path = Path(parquet(tmp_path / "a.parquet", {"text": [str(number) * 50 for number in range(500)]}))
    data = path.read_bytes()
    assert "not a readable Parquet" in refused(write(path, data[: len(data) // 2]), CorpusError)
    assert "Parquet" in refused(write(path, b""), CorpusError)


def test_a_damaged_row_group_costs_its_rows_alone(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    given = [hashlib.sha512(str(number).encode()).hexdigest() for number in range(10)]
    path = Path(parquet(tmp_path / "a.parquet", {"text": given}))
    column = pq.read_metadata(path).row_group(2).column(0)
    first = column.dictionary_page_offset or column.data_page_offset
    data = bytearray(path.read_bytes())
    data[first : first + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(data)
    corpus = corpora.open_corpus(str(path))
    assert texts(corpus) == [*given[:4], *given[6:]]
    assert [document.id for document in corpus.documents][4] == "a.parquet:7"
    assert counts(corpus) == {"row of a damaged row group": 2} and "row group 3" in corpus.damage[0]


def test_a_line_beyond_all_bounds_is_left_out_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("corpora.json_tables.LINE_LIMIT", 2 << 20)
    rows = [{"text": "a"}, {"text": "x" * (3 << 20)}, {"text": "b" * ((2 << 20) - 50)}, {"text": "c"}]
    corpus = corpora.open_corpus(write(tmp_path / "a.jsonl", json_lines(list(rows))))
    assert [document.id for document in corpus.documents] == ["a.jsonl:1", "a.jsonl:3", "a.jsonl:4"]
    assert counts(corpus) == {"line longer than 2 MiB": 1}


# ---- reading without holding


def test_a_reader_reads_as_often_as_asked(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl.zst", zstd(json_lines([{"text": text} for text in TEXTS])))
    reader = corpora.open_reader(path)
    with pytest.raises(CorpusError, match="has not been read to its end"):
        _ = reader.corpus
    whole = corpora.open_corpus(path)
    for _ in range(2):
        assert tuple(reader) == whole.documents
        assert replace(reader.corpus, documents=whole.documents) == whole
        assert reader.share == 1
    assert tuple(reader.corpus.documents) == whole.documents


def test_the_share_grows_with_the_bytes_read(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl.gz"):
        lines = json_lines([{"text": random.Random(n).randbytes(3000).hex()} for n in range(100)])
        write(tmp_path / name, gzip.compress(lines) if name.endswith("gz") else lines)
    reader = corpora.open_reader(str(tmp_path))
    shares = [reader.share for _ in reader]
    assert shares == sorted(shares) and shares[0] < 0.5 < shares[150] < shares[-1] == 1  # type: ignore[operator,type-var]
    held = corpora.open_reader("sample:plwiki")
    assert held.share is None and [*held] and held.share == 1


def test_reading_holds_no_corpus(tmp_path: Path) -> None:
    text = "Zażółć gęślą jaźń. " * 500

    def peak(documents: int) -> int:
        path = tmp_path / f"{documents}.jsonl"
        path.write_bytes(json_lines([{"text": text}] * documents))
        tracemalloc.start()
        assert sum(1 for _ in corpora.open_reader(str(path))) == documents
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(800) < 1.3 * peak(100)


def test_standard_input_larger_than_memory_is_read_again(
    pipe: Callable[[bytes], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("corpora.standard_input._IN_MEMORY", 1000)
    given = [f"dokument {n}" for n in range(200)]
    pipe(json_lines([{"text": text} for text in given]))
    reader = corpora.open_reader("-")
    assert [[document.text for document in reader] for _ in range(2)] == [given, given]


def test_ids_are_unique_without_holding_them(tmp_path: Path) -> None:
    names = Names()
    own = ["a", "a", "a#2", "b", "a", "x.jsonl:1", "plik.txt"]
    found = [names.of(name, "x.jsonl", "line 1") for name in own] + [names.of(None, "x.jsonl", "line 1")]
    assert len(set(found)) == len(found)
    assert found[:2] == ["a", "a#2"] and found[-1] == "x.jsonl:1"


# ---- identity and sampling


def test_content_identity() -> None:
    expected = hashlib.sha256(b"\0\0\0\0\0\0\0\2\xc5\xba\0\0\0\0\0\0\0\1a").hexdigest()
    assert corpora.content_sha256(["ź", "a"]) == expected
    assert corpora.content_sha256(["ab", "c"]) != corpora.content_sha256(["a", "bc"])
    assert corpora.content_sha256(["a", "b"]) != corpora.content_sha256(["b", "a"])


def test_ids_become_unique() -> None:
    ids = [document.id for document in with_unique_ids(Document(id, "x") for id in ["a", "a", "a#2", "a"])]
    assert len(set(ids)) == 4 and ids[0] == "a" and ids[2] == "a#2"


def test_sampling_is_the_same_everywhere() -> None:
    drawn, seen = sampling.draw(range(1000), 5, 0)
    assert (drawn, seen) == (
        [87, 392, 404, 923, 942],
        1000,
    )  # pinned: no release, platform or Python may change it
    assert sampling.draw(iter(range(1000)), 5, 1)[0] != drawn
    assert set(drawn) < set(sampling.draw(range(1000), 6, 0)[0])
    assert sampling.draw("abc", 10, 0) == (["a", "b", "c"], 3)
    assert sampling.draw("abc", None, 0) == (["a", "b", "c"], 3)
    assert sampling.draw([], 3, 0) == ([], 0)


def test_sampling_equals_its_definition() -> None:
    for size, seed in itertools.product((1, 7, 50), (0, 3, -1)):
        keys = sorted(range(50), key=lambda i, s=seed: hashlib.sha256(f"{s}:{i}".encode()).digest())  # type: ignore[misc]
        assert sampling.draw(range(50), size, seed)[0] == sorted(keys[:size])


def test_sampling_is_even() -> None:
    hits = [0] * 20
    for seed in range(2000):
        for item in sampling.draw(range(20), 5, seed)[0]:
            hits[item] += 1
    assert all(400 < count < 600 for count in hits)  # 500 expected, standard deviation 19


def test_sample_of_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", json_lines([{"text": f"dokument {number}"} for number in range(100)]))
    corpus = corpora.open_corpus(path, sample=10, seed=4)
    assert len(corpus.documents) == 10 and corpus.total == 100
    assert corpus == corpora.open_corpus(path, sample=10, seed=4)
    assert corpus.sha256 != corpora.open_corpus(path, sample=10, seed=5).sha256
    assert "10 of its 100 documents" in corpus.source and "seed 4" in corpus.source
    more = corpora.open_corpus(path, sample=200)
    assert more.notice is not None and "200 documents were asked for, 100 exist" in more.notice
    assert "at least 1" in refused(path, sample=0)


# ---- the hub


def wiki(count: int) -> list[dict[str, object]]:
    return [{"id": str(n), "url": "", "title": f"t{n}", "text": f"Hasło {n}"} for n in range(count)]


def test_hub_corpus_streams(fake_hub: Callable[..., list[tuple[object, ...]]]) -> None:
    calls = fake_hub(wiki(300))
    corpus = corpora.open_corpus("plwiki", sample=20, seed=2)
    assert calls == [("wikimedia/wikipedia", "20231101.pl", "train", True)]
    assert (corpus.name, corpus.licence, corpus.fallback, corpus.notice) == (
        "plwiki",
        "CC BY-SA 4.0",
        False,
        None,
    )
    assert len(corpus.documents) == 20 and corpus.total == 300
    assert texts(corpus) == [f"Hasło {n}" for n in sampling.draw(range(300), 20, 2)[0]]
    assert "from the hub" in corpus.source and "seed 2" in corpus.source


def test_only_the_beginning_of_a_hub_corpus_is_read(fake_hub: Callable[..., object]) -> None:
    taken = 0

    def endless() -> Iterator[dict[str, object]]:
        nonlocal taken
        for taken in itertools.count(1):
            yield {"text": f"d{taken}"}

    fake_hub(endless)
    corpus = corpora.open_corpus("plwiki", sample=30)
    assert taken == 1001 and corpus.total is None and "in its first 1,000 rows" in corpus.source
    corpus = corpora.open_corpus("plwiki")
    assert taken == 2001 and len(corpus.documents) == 2000
    assert corpus.notice is not None and "first 2,000 rows" in corpus.notice
    assert [remote.window(size) for size in (None, 1, 500, 6000, 60_000)] == [
        2000,
        1000,
        5000,
        50_000,
        60_000,
    ]


def test_hub_columns_and_flaws(fake_hub: Callable[..., object]) -> None:
    rows = [
        {"instruction": "Zrób", "input": "", "output": "to"},
        {"instruction": None, "input": None, "output": None},
    ]
    fake_hub(rows)
    corpus = corpora.open_corpus("pl_alpaca")
    assert texts(corpus) == ["Zrób\n\nto"] and counts(corpus) == {"null column value": 1}
    assert texts(corpora.open_corpus("pl_alpaca", column="output")) == ["to"]
    assert "'instruction', 'input', 'output'" in refused("pl_alpaca", column="text")
    fake_hub([])
    assert "no text was found" in refused("plwiki", CorpusError)


def test_hub_address(fake_hub: Callable[..., list[tuple[object, ...]]]) -> None:
    calls = fake_hub(wiki(3))
    assert texts(corpora.open_corpus("hf:a/b")) == ["Hasło 0", "Hasło 1", "Hasło 2"]
    assert texts(corpora.open_corpus("hf:a/b:cfg:test:title")) == ["t0", "t1", "t2"]
    assert texts(corpora.open_corpus("hf:a/b:::title", column="id")) == ["0", "1", "2"]
    assert calls == [("a/b", None, "train", True), ("a/b", "cfg", "test", True), ("a/b", None, "train", True)]
    assert "'title'" in refused("hf:a/b:::zzz")


class DatasetNotFoundError(FileNotFoundError):
    """Named as the one of `datasets`."""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ConnectionError("Couldn't reach\nmore"), CorpusError),
        (TimeoutError(), CorpusError),
        (DatasetNotFoundError("doesn't exist on the Hub"), CorpusUsageError),
        (ValueError("Bad split: dev. Available splits: ['train']"), CorpusUsageError),
    ],
)
def test_hub_errors(error: Exception, kind: type[CorpusError], fake_hub: Callable[..., object]) -> None:
    fake_hub(error)
    refused("hf:a/b", kind)
    corpus = corpora.open_corpus("plwiki", sample=5)
    assert corpus.fallback and len(corpus.documents) == 5 and corpus.notice is not None
    assert (str(error).splitlines() or ["TimeoutError"])[0] in corpus.notice


@pytest.mark.parametrize("rows_before", [0, 3])
def test_a_hub_that_stalls_is_given_up(
    rows_before: int, fake_hub: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "STALL_SECONDS", 0.2)
    release = threading.Event()

    def stalling() -> Iterator[dict[str, object]]:
        yield from wiki(rows_before)
        release.wait(20)

    fake_hub(stalling)
    start = time.monotonic()
    corpus = corpora.open_corpus("plwiki")
    release.set()
    assert time.monotonic() - start < 5 and corpus.fallback
    assert corpus.notice is not None and "no data came" in corpus.notice


def test_fallback_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = corpora.open_corpus("sample:plwiki")
    for options, reason in (({}, "no network in tests"), ({"offline": True}, "offline was asked for")):
        corpus = corpora.open_corpus("plwiki", **options)  # type: ignore[arg-type]
        assert corpus.fallback and (corpus.name, corpus.sha256) == ("plwiki-sample", sample.sha256)
        assert corpus.licence == "Apache-2.0" and corpus.spec == "plwiki"
        assert corpus.notice is not None and reason in corpus.notice and "wikimedia/wikipedia" in corpus.notice
    for variable in hub._OFFLINE_SWITCHES:
        with monkeypatch.context() as patch:
            patch.setenv(variable, "1")
            patch.setattr(hub, "_probe", lambda *_: pytest.fail("the hub was asked"))
            corpus = corpora.open_corpus("pl_alpaca")
            assert corpus.fallback and corpus.notice is not None and variable in corpus.notice
    questions = corpora.open_corpus("questions", offline=True)
    assert not questions.fallback and questions.notice is None
    assert "cannot be read without the hub" in refused("hf:a/b", CorpusError, offline=True)


def test_probe_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr("tokalign.hub.PROBE_SECONDS", 0.2)
    release = threading.Event()
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: release.wait(20))
    start = time.monotonic()
    assert "did not answer" in (hub._probe("http://probe.invalid", 1) or "")
    release.set()
    assert time.monotonic() - start < 5
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: io.BytesIO())
    assert hub._probe("http://probe.invalid", 2) is None

    def status(code: int) -> Callable[..., object]:
        import urllib.error

        def answer(*_: object, **__: object) -> None:
            raise urllib.error.HTTPError("http://probe.invalid", code, "", None, None)  # type: ignore[arg-type]

        return answer

    monkeypatch.setattr("urllib.request.urlopen", status(405))
    assert hub._probe("http://probe.invalid", 3) is None
    monkeypatch.setattr("urllib.request.urlopen", status(503))
    assert "503" in (hub._probe("http://probe.invalid", 4) or "")


# ---- the cache of `datasets`


def prepare(folder: Path, rows: list[dict[str, object]], shards: int = 1, split: str = "train") -> list[Path]:
    """Arrow files as `datasets` lays them out."""
    pa = pytest.importorskip("pyarrow")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dataset_info.json").write_text("{}")
    files = []
    for shard in range(shards):
        suffix = "" if shards == 1 else f"-{shard:05}-of-{shards:05}"
        path = folder / f"wikipedia-{split}{suffix}.arrow"
        table = pa.Table.from_pylist(rows[len(rows) * shard // shards : len(rows) * (shard + 1) // shards])
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        files.append(path)
    return files


def test_cache_is_preferred_to_the_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_hub: Callable[..., object]
) -> None:
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path))
    files = prepare(tmp_path / "wikimedia___wikipedia" / "20231101.pl" / "0.0.0" / "abc", wiki(90), shards=3)
    corpus = corpora.open_corpus("plwiki", sample=20, offline=True)
    assert not corpus.fallback and corpus.licence == "CC BY-SA 4.0" and corpus.total == 90
    assert corpus.notice is not None and "cache" in corpus.notice and "cache" in corpus.source
    fake_hub(wiki(90))
    streamed = corpora.open_corpus("plwiki", sample=20)
    assert (streamed.sha256, streamed.documents) == (corpus.sha256, corpus.documents)
    assert corpora.catalogue(offline=True)[0].available == ("hub cache", "bundled sample")
    data = files[1].read_bytes()
    for damaged in (data[: len(data) // 2], b"", b"\0" * 100):
        files[1].write_bytes(damaged)
        corpus = corpora.open_corpus("plwiki", offline=True)
        assert corpus.fallback and corpus.notice is not None and "is damaged" in corpus.notice
    files[1].unlink()  # a shard is missing: not whole
    assert "damaged" not in (corpora.open_corpus("plwiki", offline=True).notice or "damaged")


def test_cache_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path))
    data = hub.HubData("wikimedia/Wikipedia")
    assert cache.cached_files(data) == []
    prepare(tmp_path / "wikimedia___wikipedia" / "20231101.pl" / "0.0.0" / "abc", wiki(2), split="test")
    assert cache.cached_files(data) == []
    assert len(cache.cached_files(hub.HubData("wikimedia/Wikipedia", split="test"))) == 1
    assert len(texts(corpora.open_corpus("hf:wikimedia/wikipedia:20231101.pl:test", offline=True))) == 2
    prepare(tmp_path / "wikimedia___wikipedia" / "other" / "0.0.0" / "abc", wiki(2), split="test")
    assert cache.cached_files(hub.HubData("wikimedia/Wikipedia", split="test")) == []
    monkeypatch.delenv("HF_DATASETS_CACHE")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    assert cache.cache_folder() == tmp_path / "datasets"


def test_import_is_light() -> None:
    heavy = {"datasets", "pyarrow", "zstandard", "huggingface_hub", "urllib.request"}
    code = f"import sys, corpora; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
