"""Measuring much: a corpus against its definition, long lines, pickled shards, what is bounded."""

from __future__ import annotations

import io
import json
import pickle
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import zstandard
from families import family
from makers import DRAFT, TARGET
from properties.test_table import agrees, same

from tokalign import measurement
from tokalign.index import Index
from tokalign.measurement import merge
from tokalign.table import measure
from tokalign.tokenizers import load


def corpus(shared: Path, n: int) -> list[tuple[str, str]]:
    """The first documents of the measuring corpus."""
    path = shared / "corpora" / "polish_100mb.jsonl.zst"
    if not path.is_file():
        pytest.skip(f"no measuring corpus at {path}")
    with path.open("rb") as stream:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(stream), encoding="utf-8")
        return [(f"d{i}", json.loads(line)["text"]) for i, line in zip(range(n), lines, strict=False)]


@pytest.mark.parametrize("fast", [False, True])
def test_a_corpus_is_what_the_slow_definition_says(shared, fast):
    documents = corpus(shared, 150 if not fast else 5000)
    if fast:
        pytest.importorskip("gigatoken")
        documents = documents[::10]
    target, draft = (family(name) for name in ("bielik-11b", "llama3.2-1b"))
    if target is None or draft is None:
        pytest.skip("the vocabularies are not installed")
    if fast:
        target, draft = (load(name, offline=True) for name in ("bielik-11b", "llama3.2-1b"))
        assert all("gigatoken" in t.accelerate([text for _, text in documents[:20]]) for t in (target, draft))
    agrees(measure(documents, target, draft), documents, target, draft)


def test_a_measurement_is_small_when_stored():
    found = measure([(f"d{i}", "Kot ma dom i źdźbło. " * (i % 7)) for i in range(3000)], TARGET, DRAFT)
    stored = pickle.dumps(found)
    assert len(stored) < 2_000_000
    same(pickle.loads(stored), found)
    assert found.units.prefixes.size <= 1024


def test_documents_are_counted_beyond_the_bound():
    found = measure([(f"d{i}", "kot") for i in range(1100)], TARGET, DRAFT)
    assert found.units.prefixes.size <= 1024
    assert found.documents == merge([found]).documents == 1100


def test_only_the_first_documents_left_out_are_named(monkeypatch):
    monkeypatch.setattr(measurement, "EXCLUDED", 3)
    shards = [[(f"d{i}", "") for i in range(first, first + 5)] for first in (5, 0)]
    found = merge([measure(shard, TARGET, DRAFT) for shard in shards])
    assert found.excluded["document"].to_list() == ["d0", "d1", "d2"]
    assert found.quality.filter(check="empty")["documents"].item() == 10


LONG = {
    "a line of 50 MB": "kot żółw, dom. " * 2_800_000,
    "spaces": " " * 1_000_000,
    "one word": "x" * 300_000,
    "one word of wide letters": "ż" * 300_000,
    "marks": "\u0301" * 300_000,
}


@pytest.mark.parametrize("what", LONG)
def test_long_documents_take_bounded_time_and_memory(what):
    text = LONG[what]
    names = ("bielik-11b", "llama3.2-1b") if len(text) > 2_000_000 else ("sentencepiece-first", "byte-level")
    pair = [family(name) for name in names]
    if None in pair:
        pytest.skip("the vocabularies are not installed")
    told = [tokenizer.accelerate([]) for tokenizer in pair]
    if len(text) > 2_000_000 and not all("by gigatoken" in sentence for sentence in told):
        pytest.skip("the reference encoder alone takes a minute and 8 GB for this")
    before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    found = measure([("long", text)], *pair)
    assert time.process_time() - begin < 60, "not quadratic"
    assert found.documents == 1
    assert found.sums.filter(slice_kind="overall")["bytes"].item() == len(text.encode())
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * (
        1 if sys.platform == "darwin" else 1024
    )
    assert grown < 1_000_000_000 + 60 * len(text.encode())


def test_long_words_are_told_apart():
    words = ["x" * 5000, "x" * 5000, "x" * 4999 + "y", "y" + "x" * 4999]
    documents = [(f"d{i}", f"{word} kot {word}") for i, word in enumerate(words)]
    agrees(measure(documents, TARGET, DRAFT), documents)


def test_an_index_numbers_keys_in_the_order_in_which_they_come():
    draw = np.random.default_rng(1)
    keys = draw.integers(0, 50, size=(20_000, 2)).astype(np.uint64)  # many equal in one half only
    index, known = Index(), dict[tuple[int, int], int]()
    for part in np.array_split(keys, 7):
        numbers, new = index.add(part[:, 0], part[:, 1])
        for at in new.tolist():
            assert known.setdefault(tuple(part[at].tolist()), len(known)) == numbers[at]
        assert [known[tuple(key)] for key in part.tolist()] == numbers.tolist()
        assert index.size == len(known)
    missing = index.find(np.array([1 << 40], dtype=np.uint64), np.array([3], dtype=np.uint64))
    assert missing.tolist() == [-1]


def test_an_index_grows():
    keys = np.random.default_rng(2).integers(0, 1 << 64, size=(30_000, 2), dtype=np.uint64)
    index = Index()
    for part in np.array_split(keys, 30):
        index.add(part[:, 0], part[:, 1])
    assert sorted(index.find(keys[:, 0], keys[:, 1]).tolist()) == list(range(30_000))
