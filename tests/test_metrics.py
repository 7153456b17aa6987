"""The table of metrics: values by hand, intervals, empty cases."""

from __future__ import annotations

import math

import polars as pl
import pytest
from makers import DRAFT, TARGET, byte_level, measured, value
from polars.testing import assert_frame_equal

from tokalign.measurement import COUNTS, SLICES
from tokalign.metrics import DERIVED, METRICS, METRICS_SCHEMA, evaluate
from tokalign.table import measure

TEXTS = ["Kot i dom kotami", "W źdźble żółw, kot 12", "domów kotami kot", "źdźbło kotami"]


@pytest.fixture(scope="module")
def tiny() -> pl.DataFrame:
    return evaluate(measured(*TEXTS))


def test_values_by_hand():
    # Ends of the target 0 1 2 3 4 5 6 8 9, of the draft 2 3 5 6 7 8 9: 7 and 6 boundaries, 5 of them shared.
    found = evaluate(measured("źdźbło"))
    assert value(found, "fertility", "target") == 9
    assert value(found, "characters_per_token", "draft") == pytest.approx(6 / 7)
    assert value(found, "bytes_per_token", "draft") == pytest.approx(9 / 7)
    assert value(found, "parity") == pytest.approx(7 / 9)
    assert value(found, "boundary_precision") == value(found, "containment", "draft") == pytest.approx(5 / 6)
    assert value(found, "boundary_recall") == value(found, "containment", "target") == pytest.approx(5 / 7)
    assert value(found, "boundary_f1") == pytest.approx(10 / 13)
    assert value(found, "boundary_jaccard") == pytest.approx(5 / 8)
    assert value(found, "boundary_similarity") == pytest.approx(5 / 8)
    assert value(found, "boundary_jaccard", kind="inside_words") == pytest.approx(5 / 8)
    assert value(found, "one_to_one") == pytest.approx(3 / 6)
    assert value(found, "letters_cut", "target") == pytest.approx(2 / 3)
    assert value(found, "letters_cut", "target", "diacritic", "ź") == 1
    assert value(found, "letters_cut", "target", "diacritic", "ł") == 0
    assert value(found, "continued_words", "target") == 1
    assert value(found, "strr", "target") == 0


def test_boundary_similarity_gives_near_misses_half_weight():
    first, second = byte_level(["ab", "cd", "ef"]), byte_level(["abc", "ef"])
    found = evaluate(measure([("d", "abcdef")], first, second))  # 2 4 | 3 4
    assert value(found, "boundary_similarity") == pytest.approx(1.5 / 2)
    assert value(found, "boundary_jaccard") == pytest.approx(1 / 3)


def test_renyi_efficiency_and_its_two_denominators():
    tokenizer = byte_level(["ab"])  # 257 entries; "ab ab c": ab, space x2, ab, c
    found = evaluate(measure([("d", "ab ab c")], tokenizer, tokenizer))
    entropy = math.log(2 * 0.4**2.5 + 0.2**2.5) / (1 - 2.5)
    assert value(found, "renyi_efficiency", "target") == pytest.approx(entropy / math.log(257))
    assert value(found, "renyi_efficiency_used", "target") == pytest.approx(entropy / math.log(3))
    assert value(found, "vocabulary_overlap") == 1


def test_vocabularies_are_compared_by_bytes():
    found = evaluate(measured("kot"))
    entries = [set(filter(None, t.vocabulary.table)) for t in (TARGET, DRAFT)]
    assert value(found, "vocabulary_overlap") == len(entries[0] & entries[1]) / len(entries[0] | entries[1])


def test_inflection_on_words_that_every_grammar_divides_alike():
    found = evaluate(measured("kotami domów kotami"))  # target: kot|ami dom|ów kot|ami  draft: kot|ami do|m|ów
    assert value(found, "inflection_recall", "target", "inflection", "ending") == 1
    assert value(found, "morphscore", "draft", "inflection", "ending") == 1
    assert value(found, "inflection_agreement", kind="inflection", name="ending") == 1


def test_ratios_of_sums_not_means_of_ratios():
    found = evaluate(measured("kot", "kot dom kot dom kot dom kot dom"))
    assert value(found, "fertility", "draft") == pytest.approx((1 + 4 + 8) / 9)


GOLDEN = {
    # 47 and 42 tokens, 14 words between white space, 13 of letters, 66 characters, 75 bytes, 9 diacritics
    ("fertility", "target", "overall"): 47 / 14,
    ("fertility", "draft", "overall"): 42 / 14,
    ("word_fertility", "target", "inside_words"): 37 / 13,
    ("word_fertility", "draft", "inside_words"): 35 / 13,
    ("characters_per_token", "target", "overall"): 66 / 47,
    ("bytes_per_token", "draft", "overall"): 75 / 42,
    ("parity", "pair", "overall"): 42 / 47,
    ("continued_words", "draft", "overall"): 8 / 13,
    ("strr", "draft", "overall"): 5 / 13,
    ("same_words", "pair", "overall"): 8 / 13,
    ("boundary_precision", "pair", "overall"): 32 / 38,
    ("boundary_recall", "pair", "overall"): 32 / 40,
    ("boundary_jaccard", "pair", "overall"): 32 / 46,
    ("boundary_jaccard", "pair", "inside_words"): 16 / 30,
    ("one_to_one", "pair", "overall"): 25 / 36,
    ("inflection_recall", "draft", "overall"): 5 / 5,
    ("letters_cut", "target", "overall"): 5 / 9,
    ("letters_cut", "draft", "overall"): 2 / 9,
}


@pytest.mark.parametrize(("metric", "side", "kind"), GOLDEN)
def test_golden_numbers_of_a_tiny_corpus(tiny, metric, side, kind):
    assert value(tiny, metric, side, kind) == pytest.approx(GOLDEN[metric, side, kind], rel=1e-12)


def test_every_value_lies_in_its_interval(tiny):
    known = tiny.drop_nulls("low")
    assert known.height > 100
    assert (
        known.filter(
            (pl.col("low") > pl.col("value") + 1e-9) | (pl.col("value") > pl.col("high") + 1e-9)
        ).height
        == 0
    )
    assert tiny.filter(pl.col("value").is_null(), pl.col("low").is_not_null()).height == 0


def test_shares_are_shares(tiny):
    shares = tiny.filter(unit="share").drop_nulls("value")
    assert shares["value"].min() >= 0
    assert shares["value"].max() <= 1


def test_equal_seeds_give_equal_intervals_and_other_seeds_others():
    found = measured(*TEXTS)
    assert_frame_equal(evaluate(found, seed=3), evaluate(found, seed=3))
    assert not evaluate(found, seed=3)["low"].equals(evaluate(found, seed=4)["low"])


def test_one_document_has_no_interval():
    found = evaluate(measured(TEXTS[0]))
    assert found["value"].drop_nulls().len() > 0
    assert found["low"].null_count() == found["high"].null_count() == found.height


def test_equal_documents_have_an_interval_of_no_width():
    found = evaluate(measured(*[TEXTS[0]] * 5)).drop_nulls("low")
    assert found.height
    assert (found["high"] - found["low"]).max() == pytest.approx(0)


def test_intervals_cover_what_theory_says():
    # Words of one letter or of two tokens, half the documents each: the mean of n coin flips.
    found = evaluate(measured(*["kot"] * 200, *["x x"] * 200), samples=4000)
    row = found.filter(metric="strr", side="draft", slice_kind="overall").row(0, named=True)
    assert row["value"] == 1
    row = found.filter(metric="fertility", side="draft", slice_kind="overall").row(0, named=True)
    share = 200 / 400  # tokens: 1 and 3, words: 1 and 2
    error = abs(3 * 1 - 1 * 2) / (1 + share) ** 2 * math.sqrt(share * (1 - share) / 400)
    assert row["high"] - row["low"] == pytest.approx(2 * 1.96 * error, rel=0.08)


def test_an_empty_corpus_gives_no_rows_and_the_schema():
    found = evaluate(measured())
    assert found.schema == METRICS_SCHEMA
    assert found.height == 0


def test_empty_denominators_give_null_not_zero():
    found = evaluate(measure([("a", "kot"), ("b", "...")], DRAFT, DRAFT))
    for metric, side in (
        ("boundary_recall", "pair"),
        ("boundary_jaccard", "pair"),
        ("containment", "target"),
    ):
        assert value(found, metric, side, "inside_words") is None
    assert value(found, "letters_cut", "target") is None
    assert value(evaluate(measure([("a", "...")], DRAFT, DRAFT)), "continued_words", "draft") is None


def test_a_document_of_one_token_has_no_boundaries_to_agree_on():
    found = evaluate(measure([("d", "kot")], DRAFT, DRAFT))
    assert value(found, "fertility", "target") == 1
    assert value(found, "boundary_f1") is None
    assert value(found, "boundary_similarity") is None
    assert value(found, "renyi_efficiency_used", "target") is None


def test_a_pair_of_one_tokenizer_agrees_in_all():
    found = evaluate(measure([(str(i), t) for i, t in enumerate(TEXTS)], DRAFT, DRAFT))
    for metric in (
        "parity",
        "boundary_f1",
        "boundary_jaccard",
        "boundary_similarity",
        "one_to_one",
        "same_words",
    ):
        assert value(found, metric) == 1, metric


def test_every_metric_is_described():
    assert len({(m.name, m.side) for m in METRICS}) == len(METRICS)
    for metric in METRICS:
        assert metric.definition.endswith(".") and metric.definition.count(". ") == 0, metric.name
        assert metric.better in ("higher", "lower", "one", "none")
        assert set(metric.kinds) <= set(SLICES)
        roots = set(metric.value.meta.root_names()) | set(metric.n.meta.root_names())
        assert roots <= {*COUNTS, *DERIVED}, metric.name


def test_every_metric_and_slice_kind_is_evaluated(tiny):
    assert tiny.schema == METRICS_SCHEMA
    assert set(tiny.select("metric", "side").unique().rows()) == {(m.name, m.side) for m in METRICS}
    assert set(tiny["slice_kind"]) == set(SLICES)
    assert tiny.select("metric", "side", "slice_kind", "slice").is_duplicated().sum() == 0
