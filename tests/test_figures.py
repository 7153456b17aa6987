"""Numbers in words: what is missing is a dash, and nothing rounds to a bound that it does not reach."""

from __future__ import annotations

import pytest

from tokalign.figures import MISSING, Cell, count, interval, number, share, short, valued, words


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "—"), (0.0, "0 %"), (1.0, "100 %"), (0.5, "50.0 %"), (0.0123, "1.23 %"), (0.9955, "99.55 %"),
        (0.999999, "> 99.99 %"), (0.000001, "< 0.01 %"), (-0.000001, "> −0.01 %"), (-0.02, "−2.00 %"),
    ],
)  # fmt: skip
def test_shares(value: float | None, shown: str) -> None:
    assert share(value).replace("\u00a0", " ") == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (None, "tokens/word", "—"), (3.07, "tokens/word", "3.070"), (0.9, "", "0.9000"),
        (12345.6, "", "12,346"), (0.0, "", "0"), (7.0, "", "7"), (-1.5, "", "−1.500"),
        (0.25, "share", "25.0 %"),
    ],
)  # fmt: skip
def test_numbers_in_their_unit(value: float | None, unit: str, shown: str) -> None:
    assert number(value, unit).replace("\u00a0", " ") == shown


def test_missing_counts_and_words() -> None:
    assert count(None) == MISSING
    assert count(1234567) == "1,234,567"
    assert words(None).text == MISSING
    assert words("").text == MISSING


def test_an_interval_has_one_precision() -> None:
    assert interval(0.985, 0.9907, "share").replace("\u00a0", " ") == "98.50 – 99.07 %"
    assert interval(None, 0.5, "share") == MISSING
    assert interval(1.5, 2.5, "tokens/word") == "1.500 – 2.500"


def test_a_value_stands_over_its_interval() -> None:
    assert valued(0.5, 0.4, 0.6, "share").small == "40.0 – 60.0\u00a0%"
    assert valued(0.5, None, None, "share") == Cell("50.0\u00a0%", small=MISSING)
    assert valued(None, None, None, "share") == Cell(MISSING)


def test_a_long_name_keeps_its_end() -> None:
    assert short("llama3.2-1b") == "llama3.2-1b"
    assert short("/very/long/path/to/a/tokenizer/called/tokenizer.json", 16) == "…/tokenizer.json"
