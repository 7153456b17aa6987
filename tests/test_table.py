"""Measuring: counts on texts small enough to check by hand, and against their definition."""

from __future__ import annotations

import polars as pl
import pytest
from makers import DRAFT, TARGET, byte_level, measured
from polars.testing import assert_frame_equal

from tokalign.errors import ResultError
from tokalign.measurement import COUNTS, SCHEMAS, SLICES, Measurement, merge
from tokalign.table import measure

TEXTS = [
    "źdźbło",
    "kot i dom",
    "  Kotami, domów 12 345 zł.",
    "żółw",
    "x",
    "W źdźble\r\nżółw 🙂…",
    "nie\u00adpod",
]


def row(found: Measurement, kind: str, name: str = "all") -> dict[str, int | None]:
    """The counts of one slice over all documents, those that are null left out."""
    rows = found.sums.filter(slice_kind=kind, slice=name)
    assert rows.height, (kind, name)
    return {c: rows[c].sum() for c in COUNTS if rows[c].null_count() < rows.height}


def some(counts: dict[str, int | None], *names: str) -> list[int | None]:
    return [counts[n] for n in names]


def test_a_word_by_hand():
    found = measured("źdźbło")  # target: ▁|C5|BA|d|C5|BA|b|ł|o   draft: ź|d|ź|b|C5|82|o
    overall = row(found, "overall")
    assert some(overall, "bytes", "chars", "words", "space_words") == [9, 6, 1, 1]
    assert some(overall, "tokens_target", "tokens_draft") == [9, 7]
    # Ends: target 0 1 2 3 4 5 6 8 9, draft 2 3 5 6 7 8 9.
    assert some(overall, "boundaries_target", "boundaries_draft", "boundaries_shared") == [7, 6, 5]
    assert overall["boundaries_near"] == 0  # 1 and 4 against 7
    assert some(overall, "letters", "letters_cut_target", "letters_cut_draft", "letters_cut_both") == [
        3,
        2,
        1,
        0,
    ]
    assert some(overall, "chunks", "chunks_one_to_one") == [6, 3]
    assert row(found, "diacritic", "ź")["letters"] == 2
    assert some(row(found, "diacritic", "ł"), "letters_cut_target", "letters_cut_draft") == [0, 1]
    assert some(row(found, "inside_letters"), "boundaries_target", "boundaries_draft") == [2, 1]
    chunks = found.chunks.select("n", "m", "count", "bytes").rows()
    assert chunks == [(1, 1, 3, 3), (1, 2, 1, 2), (2, 1, 1, 2), (3, 1, 1, 2)]


def test_single_tokens_and_continued_words():
    found = measured("kot kot dom")  # target: " kot"| kot| dom   draft: kot| kot| do|m
    words = row(found, "inside_words")
    assert some(words, "words", "tokens_target", "tokens_draft") == [3, 3, 4]
    assert some(words, "continued_target", "continued_draft", "single_target", "single_draft") == [0, 1, 3, 2]
    assert words["same"] == 2
    assert row(found, "word_length", "3")["words"] == 3


def test_single_means_nothing_else_in_the_token():
    joined = byte_level(["(kot"])  # one token for the bracket and the word
    found = measure([("d", "(kot")], joined, DRAFT)
    assert some(row(found, "overall"), "continued_target", "single_target") == [0, 0]
    assert some(row(found, "overall"), "continued_draft", "single_draft") == [0, 1]


def test_inflection():
    found = measured("kotami dom")  # kot|ami, dom has no ending
    ending = row(found, "inflection", "ending")
    assert some(ending, "words", "endings", "endings_cut_target", "endings_cut_draft") == [1, 1, 1, 1]
    assert some(ending, "endings_cut_both", "endings_cut_shared", "endings_split_target") == [1, 1, 1]
    zero = row(found, "inflection", "zero")
    assert zero["words"] == 1 and "endings" not in zero
    assert row(found, "pos", "noun")["endings"] == row(found, "overall")["endings"] == 1


def test_classes_of_characters():
    found = measured("12 345, ab")
    assert some(row(found, "characters", "digits"), "runs", "bytes", "tokens_target", "tokens_draft") == [
        2,
        5,
        5,
        5,
    ]
    assert row(found, "characters", "whitespace")["boundaries_draft"] == 2
    classes = found.sums.filter(slice_kind="characters").select(pl.col("^boundaries_[tds].*$").sum()).row(0)
    assert list(classes) == some(
        row(found, "overall"), "boundaries_target", "boundaries_draft", "boundaries_shared"
    )


def test_slices_and_schemas_are_those_declared():
    found = measured(*TEXTS)
    for name, schema in SCHEMAS.items():
        assert getattr(found, name).schema == schema, name
    assert set(found.sums["slice_kind"]) == set(SLICES)
    assert found.sums.select("unit", "slice_kind", "slice").is_duplicated().sum() == 0
    assert found.documents == len(TEXTS)


@pytest.mark.parametrize("kind", ["inflection", "pos", "word_length"])
def test_word_slices_add_up_to_all_words(kind):
    found = measured(*TEXTS)
    columns = [
        "bytes",
        "words",
        "tokens_target",
        "boundaries_draft",
        "boundaries_shared",
        "same",
        "single_draft",
    ]
    whole = found.sums.filter(slice_kind="inside_words").select(pl.col(columns).sum())
    assert_frame_equal(found.sums.filter(slice_kind=kind).select(pl.col(columns).sum()), whole)


def test_chunks_and_token_counts_add_up():
    found = measured(*TEXTS)
    overall = row(found, "overall")
    sums = found.chunks.select(pl.col("n", "m") * pl.col("count")).sum().row(0)
    assert list(sums) == some(overall, "tokens_target", "tokens_draft")
    assert found.chunks["bytes"].sum() == overall["bytes"]
    assert found.chunks["count"].sum() == overall["chunks"]
    for side in ("target", "draft"):
        assert found.token_counts.filter(side=side)["count"].sum() == overall[f"tokens_{side}"]


def test_parts_merge_to_the_whole_in_any_grouping():
    documents = [(f"d{i}", text) for i, text in enumerate([*TEXTS, "", "Kot ma dom."])]
    whole = measure(documents, TARGET, DRAFT)
    a, b, c = (measure(part, TARGET, DRAFT) for part in (documents[:2], documents[2:3], documents[3:]))
    for merged in (merge([a, b, c]), a.merge(b).merge(c), c.merge(a.merge(b))):
        for name in SCHEMAS:
            assert_frame_equal(getattr(merged, name), getattr(whole, name))


def test_documents_of_one_id_are_one():
    found = measure([("a", "kot"), ("a", "dom")], TARGET, DRAFT)
    assert found.documents == 1
    assert row(found, "overall")["words"] == 2


def test_merging_needs_one_pair():
    other = measure([("a", "kot")], TARGET, TARGET)
    with pytest.raises(ResultError, match="same pair"):
        merge([measured("kot"), other])
    with pytest.raises(ResultError, match="at least one"):
        merge([])


def test_no_documents_give_empty_frames():
    found = measured()
    assert found.documents == 0
    for name, schema in SCHEMAS.items():
        assert getattr(found, name).schema == schema
    assert found.sums.height == found.chunks.height == found.token_counts.height == found.samples.height == 0
    assert found.quality["documents"].sum() == 0


def test_a_document_of_one_token():
    found = measure([("d", "kot")], DRAFT, DRAFT)
    overall = row(found, "overall")
    assert some(overall, "tokens_target", "boundaries_target", "boundaries_shared", "chunks") == [1, 0, 0, 1]


def quality(found: Measurement, check: str, side: str | None = None) -> tuple[int, int | None]:
    rows = found.quality.filter(pl.col("check") == check, pl.col("side").eq_missing(pl.lit(side)))
    return rows.select("documents", "occurrences").row(0)


def test_text_quality():
    found = measured("nie\u00adpod\u00adle", "zaz\u0307", "a▁b", "a\u200bb\ufeff", "b\ufffd", "", "a\ud800")
    assert quality(found, "documents") == (7, None)
    assert quality(found, "soft_hyphen") == (1, 2)
    assert quality(found, "zero_width") == (1, 2)
    assert quality(found, "literal_marker") == (1, 1)
    assert quality(found, "replacement") == (1, 1)
    assert quality(found, "non_nfc") == (1, None)
    assert quality(found, "empty") == quality(found, "not_text") == (1, None)
    assert quality(found, "offsets_path", "target") == (1, None)  # the literal ▁
    assert quality(found, "offsets_path", "draft") == (0, None)
    assert found.excluded["document"].to_list() == ["d5", "d6"]
    assert found.documents == 5


def test_a_document_that_cannot_be_aligned_is_named_and_left_out():
    dropping = byte_level(
        name="dropping", normalizer={"type": "Strip", "strip_left": True, "strip_right": True}
    )
    found = measure([("spaces", "kot  "), ("plain", "kot")], dropping, DRAFT)
    assert found.excluded.select("document", "side").rows() == [("spaces", "target")]
    assert "covers" in found.excluded["reason"][0]
    assert quality(found, "unaligned", "target") == (1, None)
    assert found.documents == 1 and row(found, "overall")["bytes"] == 3


def test_samples_show_both_sides_and_do_not_depend_on_order():
    texts = [
        f"W tym domu numer {i} mieszkał kiedyś stary żółw z kotami. I już go nie ma tam więcej, niestety."
        for i in range(9)
    ]
    documents = [(f"d{i}", text) for i, text in enumerate(texts)]
    found = measure(documents, TARGET, DRAFT).samples
    assert_frame_equal(found, measure(documents[::-1], TARGET, DRAFT).samples)
    assert 0 < found.height <= 6
    for sample in found.iter_rows(named=True):
        data = sample["text"].encode()
        text = dict(documents)[sample["document"]].encode()
        assert text[sample["start"] : sample["start"] + len(data)] == data
        for side, tokenizer in (("target", TARGET), ("draft", DRAFT)):
            assert sample[f"ends_{side}"][-1] == len(data)
            shown = tokenizer.decode(sample[f"ids_{side}"])
            assert shown in (data, b" " + data)


def test_progress_counts_documents_and_bytes():
    seen = []
    measure([("a", "ł"), ("b", "kot")], TARGET, DRAFT, progress=lambda *done: seen.append(done))
    assert seen == [(2, 5)]
