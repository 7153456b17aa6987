"""Boundaries, chunks and cut letters on examples small enough to check by hand."""

from __future__ import annotations

import numpy as np
import pytest
from reference import boundaries
from reference.words import CLASSES, DIACRITICS, characters, forms, word_spans

KOT = np.array([1, 3, 7])  # a | ko | t...
DOM = np.array([1, 2, 3, 6, 7])


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize(
    ("ends", "expected"),
    [((), ()), ((3,), ()), ((0, 3), ()), ((1, 3, 7), (1, 3)), ((0, 2, 2, 5), (2,))],
)
def test_interior_leaves_out_edges_and_tokens_of_no_bytes(ends, expected):
    assert boundaries.interior(ints(*ends)).tolist() == list(expected)


def test_shared_boundaries():
    assert boundaries.shared(boundaries.interior(KOT), boundaries.interior(DOM)).tolist() == [1, 3]


def test_chunks_have_their_types():
    found = boundaries.chunks(KOT, DOM)
    assert found.ends.tolist() == [1, 3, 7]
    assert list(zip(found.n.tolist(), found.m.tolist(), strict=True)) == [(1, 1), (1, 2), (1, 2)]


def test_a_token_of_no_bytes_belongs_to_the_first_chunk():
    found = boundaries.chunks(ints(0, 2, 5), ints(0, 2, 4, 5))
    assert (found.ends.tolist(), found.n.tolist(), found.m.tolist()) == ([2, 5], [2, 1], [2, 2])


def test_chunks_of_texts_laid_one_behind_another():
    # Texts of 2 and 3 bytes begin at 0 and 3; the second starts with a token of no bytes on the first side.
    found = boundaries.chunks(ints(1, 2, 3, 6), ints(2, 4, 6), starts=ints(0, 3))
    assert (found.ends.tolist(), found.n.tolist(), found.m.tolist()) == ([2, 6], [2, 2], [1, 2])


def test_no_text_has_no_chunks():
    found = boundaries.chunks(ints(), ints())
    assert found.ends.size == found.n.size == found.m.size == 0


@pytest.mark.parametrize(
    ("first", "second", "pairs"),
    [
        ((3,), (4,), [3]),
        ((3, 4), (4,), []),  # 4 is shared, 3 is missed
        ((3, 5), (4,), [3]),  # one boundary takes part once
        ((3, 5), (4, 6), [3, 5]),
        ((3,), (5,), []),
        ((), (4,), []),
    ],
)
def test_near_misses(first, second, pairs):
    assert boundaries.near_misses(ints(*first), ints(*second)).tolist() == pairs


def test_letters_cut_inside():
    data = "źdźbło".encode()  # ź 0-2, d, ź 3-5, b, ł 6-8, o
    assert boundaries.cut_characters(data, ints(1, 2, 3, 5, 6, 7, 8, 9)).tolist() == [0, 6]
    assert boundaries.cut_characters(data, ints(2, 3, 5, 6, 8, 9)).tolist() == []
    assert boundaries.cut_characters("🙂".encode(), ints(1, 2, 3, 4)).tolist() == [0]
    assert boundaries.cut_characters(b"", ints()).tolist() == []


def test_count_inside_leaves_out_both_ends():
    before = boundaries.running(boundaries.mask(ints(2, 3, 5), 8))
    assert boundaries.count_inside(before, ints(2, 0, 3, 4), ints(5, 8, 4, 6)).tolist() == [1, 3, 0, 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("źdźbło i", ["źdźbło", "i"]),
        ("biało-czerwony d'Artagnan B2B", ["biało", "czerwony", "d", "Artagnan", "B", "B"]),
        ("zaz\u0307o\u0301łc\u0301", ["zaz\u0307o\u0301łc\u0301"]),  # marks stay with their letters
        ("\u0301 10 000\u00a0zł…", ["zł"]),
        ("❤\ufe0f 👩\u200d👩\u200d👧", []),
        ("", []),
    ],
)
def test_words(text, words):
    data = text.encode()
    assert [data[a:b].decode() for a, b in word_spans(text)] == words


def test_runs_stay_inside_their_text():
    texts = ["ab", "", "\u0301c 1", "ł"]
    found = characters(texts)
    runs = found.runs()
    shown = [
        (int(t), found.data[a:b].tobytes().decode(), CLASSES[k])
        for t, a, b, k in zip(runs.text, runs.start, runs.end, runs.kind, strict=True)
    ]
    assert shown == [
        (0, "ab", "letters"),
        (2, "\u0301", "punctuation"),
        (2, "c", "letters"),
        (2, " ", "whitespace"),
        (2, "1", "digits"),
        (3, "ł", "letters"),
    ]
    assert found.lengths.tolist() == [len(t.encode()) for t in texts]
    assert forms(found, runs.of(0)) == ["ab", "c", "ł"]


def test_every_diacritic_letter_is_found_in_place():
    found = characters(["x" + DIACRITICS])
    letters, at = found.diacritics()
    assert "".join(DIACRITICS[i] for i in letters) == DIACRITICS
    assert at.tolist() == list(range(1, len(DIACRITICS) + 1))
