"""What a bench's figures say: orders, repairs, correlations and predictions, on made rows."""

from __future__ import annotations

import numpy as np
import pytest

from decoder.bench.alignment import correlation, points, read_alignment
from decoder.bench.comparison import difference, quotient, ranks, spearman
from decoder.bench.findings import answers, ladder, longest_tokens
from decoder.bench.grouping import Bench, family
from decoder.bench.identity import Identity, ModelIdentity
from decoder.bench.prediction import predictions, study_profile
from decoder.errors import BenchError
from decoding.benches import made_bench, made_result, made_rows, row


def test_the_order_of_drafts_turns_round():
    found = answers(made_bench(), "polski")[0]
    assert found.question.startswith("Is a draft with a Polish vocabulary (polski) worse")
    assert found.sentences[0].startswith("No: with the same models and prompts it is behind")
    assert "number 2 of 2 with 1.25" in found.sentences[1] and "number 1 of 2 with 3.25" in found.sentences[2]


def test_an_order_that_stays_is_said_to_stay():
    best = ("polski", "anchored")
    worse = [r | {"tokens": 12} if (r["draft"], r["translation"]) == best else r for r in made_rows()]
    assert answers(made_bench(worse), "polski")[0].sentences[0] == "It is worse under exact translation too."


def test_longest_tokens_and_the_ladder():
    bench = made_bench()
    assert longest_tokens(bench) == "polski" and bench.length("polski") == 2
    steps = ladder(bench, "polski")
    assert [s.translation for s in steps] == ["naive", "counted:5", "context:5 no-heal", "anchored"]
    assert [s.gain and round(s.gain.value, 3) for s in steps] == [None, 0.1, 0.8, 1.2]
    assert answers(bench, "polski")[1].sentences[0].startswith("The largest step is anchored")


def test_where_intersection_wins():
    said = answers(made_bench(), "polski")[2].sentences
    assert "in 2 of 4 cells" in said[0] and "ogólny, proza, k = 4 (+0.20)" in said[1]


def test_a_draft_of_the_same_vocabulary_is_left_out():
    assert made_bench(ogólny="cel").crossing == ["polski"]
    rows = [r | {"translation": "none"} for r in made_rows() if r["translation"] == "anchored"]
    bare = Bench(
        [*made_rows(), *rows], Identity(ModelIdentity("cel", None), None, 6, None, None, None, None, 8)
    )
    assert bare.crossing == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [("counted:5", "counted"), ("context:5 no-heal", "context no-heal"), ("anchored", "anchored")],
)
def test_families(name, kind):
    assert family(name) == kind


def test_paired_differences_by_hand():
    a = [row("a", "t", t, f"p{n}") for n, t in enumerate((20, 30, 40))]
    b = [row("b", "t", t, f"p{n}") for n, t in enumerate((10, 15, 30))]
    found = difference(a, b[::-1], seed=3)
    draws = np.random.default_rng(3).multinomial(3, [1 / 3] * 3, size=1000) @ np.array([10, 15, 10]) / 30
    assert found.value == pytest.approx(35 / 30) and found.certain
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(draws, [0.025, 0.975])))
    assert difference(a, [row("b", "t", 1, "other")]) is None
    assert difference(a[:1], b).low is None


def test_rank_correlation():
    assert list(ranks([3, 1, 3])) == [2.5, 1, 2.5]
    assert spearman([1, 2, 3, 4], [1, 4, 2, 3]) == pytest.approx(0.4)
    assert spearman([1, 2, 3], [9, 5, 1]) == pytest.approx(-1)
    assert spearman([1, 2], [1, 2]) is None and spearman([1, 1, 1], [1, 2, 3]) is None


# Alignment and prediction


def test_alignment_is_read_by_fingerprint_and_group(tmp_path):
    aligned = read_alignment(made_result(tmp_path / "r.json.gz"))
    losses = [
        ("polski", "prawo", 0.3),
        ("polski", "proza", 0.2),
        ("ogólny", "prawo", 0.1),
        ("inny", "prawo", 1.0),
    ]
    found = points(aligned, losses, made_bench().identity)
    assert [(p.draft, round(p.agreement, 9), p.own) for p in found] == [
        ("polski", 0.5, True), ("polski", 0.6, False), ("ogólny", 0.9, True)
    ]  # fmt: skip
    assert correlation(found) == pytest.approx(-1)


def test_alignment_that_is_none(tmp_path):
    path = tmp_path / "r.json"
    path.write_text('{"schema": "inny/1"}')
    with pytest.raises(BenchError, match="its schema is 'inny/1'"):
        read_alignment(path)


def test_predictions_by_hand():
    profile = study_profile()
    if profile is None:
        pytest.skip("the study's machine is not among the profiles")
    cell = {
        "draft": "d",
        "translation": "counted:5",
        "k": 2,
        "candidates_per_round": 2.0,
        "tokens_per_pass": 1.892,
    }
    found = next(predictions([cell], profile))
    assert found.cost == pytest.approx(3 * 0.071 + 1.572, rel=1e-3) and not found.beyond
    assert found.speedup == pytest.approx(1.06, abs=0.005)  # what the study reports for 44.6 % accepted
    assert next(predictions([cell | {"k": 4, "candidates_per_round": 8.0}], profile)).beyond
    assert list(predictions([cell | {"candidates_per_round": None}], profile)) == []


def test_quotients_of_two_translations():
    bench = made_bench()
    cells = [bench.cell("polski", name, 4) for name in ("anchored", "counted:5")]
    gain = quotient(*cells)
    assert round(gain.value, 3) == 2.6 and 2.5 < gain.low < gain.value < gain.high < 2.75
    assert gain.certain and not quotient(cells[0], cells[0]).certain and quotient(cells[0], []) is None


def test_the_published_translation_is_by_length_where_it_was_measured():
    rows = [r | {"translation": "length:5", "tokens": r["tokens"] + 1} for r in made_rows()
            if r["translation"] == "counted:5"]  # fmt: skip
    assert made_bench().published == "counted" and made_bench([*made_rows(), *rows]).published == "length"
    said = answers(made_bench([*made_rows(), *rows]), "polski")[0].sentences
    assert said[1].startswith("length:5, k = 4: polski is number 2 of 2")
