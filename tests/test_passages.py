"""Tests of tokalign.passages."""

from __future__ import annotations

import pytest

from tokalign.passages import Stretch, aligned


def spelled(stretches: list[Stretch], side: str) -> list[list[str]]:
    return [["".join(p.text for p in token) for token in getattr(s, side)] for s in stretches]


def test_stretches_end_where_both_have_a_boundary() -> None:
    found = aligned("Ala ma kota", [3, 6, 11], [1, 3, 6, 9, 11])
    assert spelled(found, "target") == [["Ala"], ["␣ma"], ["␣kota"]]
    assert spelled(found, "draft") == [["A", "la"], ["␣ma"], ["␣ko", "ta"]]
    assert [s.kind for s in found] == ["1:2", "1:1", "1:2"]
    assert [s.same for s in found] == [False, True, False]


def test_a_split_letter_is_shown_as_its_bytes() -> None:
    found = aligned("ź", [1, 2], [2])
    assert spelled(found, "target") == [["C5·", "BA"]]
    assert spelled(found, "draft") == [["ź"]]
    assert [p.kind for t in found[0].target for p in t] == ["bytes", "bytes"]


def test_a_boundary_shared_inside_a_letter_still_cuts() -> None:
    found = aligned("aźb", [2, 4], [1, 2, 3, 4])
    assert spelled(found, "target") == [["aC5·"], ["BAb"]]
    assert spelled(found, "draft") == [["a", "C5·"], ["BA", "b"]]


def test_four_byte_characters_are_shared_out_byte_by_byte() -> None:
    found = aligned("🙂", [3, 4], [1, 2, 3, 4])
    assert spelled(found, "target") == [["F0·9F·99·"], ["82"]]
    assert spelled(found, "draft") == [["F0·", "9F·", "99·"], ["82"]]


def test_a_token_of_no_bytes_belongs_to_what_follows() -> None:
    found = aligned("dom", [0, 3], [3])
    assert spelled(found, "target") == [["∅", "dom"]]
    assert found[0].kind == "2:1"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", "a↵b"),
        ("a\tb", "a⇥b"),
        ("a\u00a0b", "a⍽b"),
        ("a\u00adb", "aU+00ADb"),
        ("a\u200bb", "aU+200Bb"),
    ],
)
def test_what_cannot_be_seen_is_named(text: str, shown: str) -> None:
    size = len(text.encode())
    assert spelled(aligned(text, [size], [size]), "target") == [[shown]]


def test_a_mark_at_the_start_of_a_token_gets_a_carrier() -> None:
    assert spelled(aligned("z\u0301", [1, 3], [3]), "target") == [["z", "\u25cc\u0301"]]


def test_every_byte_is_shown_once_on_both_sides() -> None:
    text = "Zażółć gęślą jaźń"
    size = len(text.encode())
    stretches = aligned(text, list(range(1, size + 1)), [5, 9, size])
    letters = "".join("".join(row) for row in spelled(stretches, "draft"))
    assert len(stretches) == 3
    assert sum(len(s.target) for s in stretches) == size
    assert letters.startswith("Za")


def test_no_text_gives_no_stretch() -> None:
    assert aligned("", [], []) == []


def test_an_end_past_the_text_counts_as_its_end() -> None:
    assert spelled(aligned("ab", [3], [1, 2]), "target") == [["ab"]]
