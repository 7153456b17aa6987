"""The counts of a document against their definition with Python sets."""

from __future__ import annotations

import unicodedata

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from makers import DRAFT, TARGET, measured, polish_texts
from polars.testing import assert_frame_equal
from reference.table import defined
from reference.words import word_spans

from tokalign import table, units
from tokalign.measurement import SCHEMAS, Measurement, merge
from tokalign.units import digests
from tokalign.words import DIACRITICS

ALPHABET = "kotami dmóźżŁw1,.\n-🙂\u0301"


def cuts(text: str) -> dict[str, set[int]]:
    """The boundaries inside a text, per side."""
    size = len(text.encode())
    ends = {"target": TARGET.segment(text).ends.tolist(), "draft": DRAFT.segment(text).ends.tolist()}
    return {side: {e for e in found if 0 < e < size} for side, found in ends.items()}


def middles(text: str) -> list[int]:
    """The position inside each diacritic letter, which has two bytes."""
    starts = [len(text[:i].encode()) for i, c in enumerate(text) if c in DIACRITICS]
    return [start + 1 for start in starts]


def of_pair(text: str) -> dict[str, int]:
    target, draft = cuts(text).values()
    size = len(text.encode())
    spans = word_spans(text).tolist()
    return {
        "bytes": size,
        "chars": len(text),
        "words": len(spans),
        "space_words": len(text.split()),
        "boundaries_shared": len(target & draft),
        "letters": len(middles(text)),
        "letters_cut_both": sum(p in target and p in draft for p in middles(text)),
        "chunks": len((target & draft) | {size}),
        "same": sum({p for p in target if a < p < b} == {p for p in draft if a < p < b} for a, b in spans),
    }


def of_side(text: str, side: str, found: set[int]) -> dict[str, int]:
    data, spans = text.encode(), word_spans(text).tolist()
    edges = found | {0, len(data)}
    inside = [any(a < p < b for p in found) for a, b in spans]
    alone = [b in edges and (a in edges or (data[a - 1 : a] == b" " and a - 1 in edges)) for a, b in spans]
    return {
        f"boundaries_{side}": len(found),
        f"letters_cut_{side}": sum(p in found for p in middles(text)),
        f"continued_{side}": sum(inside),
        f"single_{side}": sum(one and not cut for one, cut in zip(alone, inside, strict=True)),
    }


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(ALPHABET, min_size=1, max_size=30), min_size=1, max_size=4))
def test_counts_are_those_of_the_definition(texts):
    texts = [t for t in texts if unicodedata.is_normalized("NFC", t)]
    found = measured(*texts).sums.filter(slice_kind="overall")
    for i, text in enumerate(texts):
        expected = of_pair(text)
        for side, places in cuts(text).items():
            expected |= of_side(text, side, places)
        got = found.filter(pl.col("unit") == digests([f"d{i}"])[0]).row(0, named=True)
        assert {name: got[name] for name in expected} == expected


def agrees(found: Measurement, documents: list[tuple[str, str]], target=TARGET, draft=DRAFT) -> None:
    """A measurement is what its slow definition says, to the last count."""
    sums, chunks, tokens = defined(documents, target, draft)
    assert_frame_equal(found.sums, sums)
    assert_frame_equal(found.chunks, chunks)
    assert_frame_equal(found.token_counts, tokens)


NASTY = "kotami dómów źdźbło żółw, 12 345\n\r\t.-'\u00a0\u0301\u0308\u00ad\u200b\u200d🙂👨ẽ漢字﷽Łß\ufffd"


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(NASTY, min_size=1, max_size=60), min_size=1, max_size=6))
def test_a_measurement_is_what_the_slow_definition_says(texts):
    documents = [(f"d{i}", text) for i, text in enumerate(texts)]
    agrees(table.measure(documents, TARGET, DRAFT), documents)


def test_bundled_texts_are_what_the_slow_definition_says():
    documents = [(f"d{i}", text) for i, text in enumerate(polish_texts())]
    agrees(table.measure(documents, TARGET, DRAFT), documents)


def same(first: Measurement, second: Measurement) -> None:
    for name in SCHEMAS:
        assert_frame_equal(getattr(first, name), getattr(second, name))
    assert first.units.depth == second.units.depth
    assert np.array_equal(first.units.counts, second.units.counts)
    assert first.documents == second.documents


@pytest.fixture
def few_units(monkeypatch) -> None:
    """Grouping begins beyond 8 documents, blocks are of 3 of them, and few words are remembered."""
    monkeypatch.setattr(units, "BOUND", 8)
    monkeypatch.setattr(table, "_BLOCK", (40, 3))
    monkeypatch.setattr(table, "_TYPES", 20)


SENTENCE = "W tym domu numer {} mieszkał kiedyś stary żółw z kotami i nikt o tym nie wiedział. "


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), st.integers(0, 30))
def test_shards_merge_to_the_whole_in_any_split_and_order(few_units, data, size):
    texts = [SENTENCE.format(i) * (i % 3) + "kot dom"[: i % 8] for i in range(size)]
    documents = [(f"d{i}", text) for i, text in enumerate(texts)]
    whole = table.measure(documents, TARGET, DRAFT)
    order = data.draw(st.permutations(documents))
    cuts = sorted(data.draw(st.lists(st.integers(0, size), max_size=4)))
    shards = [order[a:b] for a, b in zip([0, *cuts], [*cuts, size], strict=True)]
    parts = data.draw(st.permutations([table.measure(shard, TARGET, DRAFT) for shard in shards]))
    same(merge(parts), whole)
    left = right = parts[0]
    for part in parts[1:]:
        left, right = left.merge(part), part.merge(right)
    same(left, whole)
    same(right, whole)


@settings(deadline=None)
@given(st.sets(st.integers(0, 2**64 - 1), max_size=60), st.integers(1, 12))
def test_units_are_as_many_as_the_bound_allows(numbers, bound):
    found = np.array(sorted(numbers), dtype=np.uint64)
    kept, units.BOUND = units.BOUND, bound
    try:
        depth, prefixes, which = units.grouped(found)
    finally:
        units.BOUND = kept
    assert len({n >> (64 - depth) for n in numbers}) == prefixes.size <= bound
    assert depth == 64 or len({n >> (63 - depth) for n in numbers}) > bound
    assert [int(prefixes[w]) >> (64 - depth) for w in which] == [n >> (64 - depth) for n in sorted(numbers)]
