"""The counts of a document against their definition with Python sets."""

from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st
from makers import DRAFT, TARGET, measured

from tokalign.words import DIACRITICS, word_spans

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
        got = found.filter(document=f"d{i}").row(0, named=True)
        assert {name: got[name] for name in expected} == expected
