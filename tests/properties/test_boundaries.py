"""The fast boundary functions against their definitions with Python sets."""

from __future__ import annotations

import unicodedata

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from reference import boundaries
from reference.words import CLASSES, characters, forms, word_spans

TEXT = st.text(alphabet="aąłźÓ \n.,-1\u0301\u00ad🙂…\u200b", max_size=40)


@st.composite
def segmented(draw: st.DrawFn, sides: int = 2) -> tuple[int, list[list[int]]]:
    """The length of a text and, per side, byte ends that may repeat and may begin with 0."""
    length = draw(st.integers(1, 25))
    place = st.integers(0, length)
    return length, [sorted([*draw(st.lists(place, max_size=12)), length]) for _ in range(sides)]


def array(ends: list[int]) -> np.ndarray:
    return np.array(ends, dtype=np.int64)


@given(segmented())
def test_interior_and_shared(case):
    length, (first, second) = case
    slow = [{e for e in ends if 0 < e < length} for ends in (first, second)]
    fast = [boundaries.interior(array(ends)) for ends in (first, second)]
    assert [f.tolist() for f in fast] == [sorted(s) for s in slow]
    assert boundaries.shared(*fast).tolist() == sorted(slow[0] & slow[1])


@given(segmented())
def test_chunks(case):
    _, (first, second) = case
    slow, start = [], 0
    for end in sorted((set(first) & set(second)) - {0}):
        low = -1 if start == 0 else start
        slow.append((end, *(sum(low < e <= end for e in ends) for ends in (first, second))))
        start = end
    found = boundaries.chunks(array(first), array(second))
    assert list(zip(found.ends.tolist(), found.n.tolist(), found.m.tolist(), strict=True)) == slow
    assert (found.n.sum(), found.m.sum()) == (len(first), len(second))


@given(st.lists(segmented(), min_size=1, max_size=4))
def test_chunks_of_texts_laid_together_are_those_of_each(cases):
    starts = np.concatenate(([0], np.cumsum([length + 1 for length, _ in cases])))[:-1]
    sides = [
        np.concatenate([array(s[i]) + at for (_, s), at in zip(cases, starts, strict=True)]) for i in (0, 1)
    ]
    together = boundaries.chunks(*sides, starts)
    alone = [boundaries.chunks(array(a), array(b)) for _, (a, b) in cases]
    assert together.ends.tolist() == [e for c, at in zip(alone, starts, strict=True) for e in (c.ends + at)]
    assert together.n.tolist() == [n for c in alone for n in c.n]
    assert together.m.tolist() == [m for c in alone for m in c.m]


@given(segmented())
def test_near_misses(case):
    length, sides = case
    first, second = ({e for e in ends if 0 < e < length} for ends in sides)
    only = dict.fromkeys(first - second, "first") | dict.fromkeys(second - first, "second")
    slow, used = [], set()
    for place in sorted(only):
        partner = only.get(place + 1)
        if place not in used and partner is not None and partner != only[place]:
            slow.append(place)
            used |= {place, place + 1}
    found = boundaries.near_misses(*(boundaries.interior(array(ends)) for ends in sides))
    assert found.tolist() == slow


@given(TEXT, st.data())
def test_cut_characters(text, data):
    raw = text.encode()
    ends = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=20))) + ([len(raw)] if raw else [])
    slow, at = [], 0
    for character in text:
        size = len(character.encode())
        if any(at < e < at + size for e in ends):
            slow.append(at)
        at += size
    assert boundaries.cut_characters(raw, array(ends)).tolist() == slow


@given(segmented(1), st.lists(st.tuples(st.integers(0, 24), st.integers(1, 25)), max_size=6))
def test_count_inside(case, spans):
    length, (ends,) = case
    spans = [(a, b) for a, b in spans if a < b <= length]
    before = boundaries.running(boundaries.mask(boundaries.interior(array(ends)), length + 1))
    starts, stops = (array([s[i] for s in spans]) for i in (0, 1))
    slow = [len({e for e in ends if a < e < b and e < length}) for a, b in spans]
    assert boundaries.count_inside(before, starts, stops).tolist() == slow


def class_of(text: str, i: int) -> str:
    """The definition: a mark is like what it follows, if that is no white space, else punctuation."""
    category = unicodedata.category(text[i])
    if category[0] == "M":
        before = class_of(text, i - 1) if i else "whitespace"
        return "punctuation" if before == "whitespace" else before
    if text[i].isspace() or category[0] == "Z":
        return "whitespace"
    return {"L": "letters", "N": "digits"}.get(category[0], "punctuation")


@given(st.lists(TEXT, max_size=4))
def test_runs_and_forms(texts):
    found = characters(texts)
    runs = found.runs()
    slow, words = [], []
    for t, text in enumerate(texts):
        i = 0
        while i < len(text):
            j = i + 1
            while j < len(text) and class_of(text, j) == class_of(text, i):
                j += 1
            at = int(found.base[t]) + len(text[:i].encode())
            slow.append((t, at, at + len(text[i:j].encode()), j - i, class_of(text, i)))
            words += [text[i:j]] if class_of(text, i) == "letters" else []
            i = j
    columns = (runs.text.tolist(), runs.start.tolist(), runs.end.tolist(), runs.chars.tolist())
    assert list(zip(*columns, [CLASSES[k] for k in runs.kind], strict=True)) == slow
    assert forms(found, runs.of(0)) == words


@given(TEXT)
def test_word_spans_are_of_letters(text):
    for start, end in word_spans(text):
        word = text.encode()[start:end].decode()
        assert unicodedata.category(word[0])[0] == "L"
        assert all(unicodedata.category(c)[0] in "LM" for c in word)
