"""The bench's figures against values by hand."""

from __future__ import annotations

import numpy as np
import pytest

from decoder.bench.rows import FIELDS, LOSSES, full_row
from decoder.bench.summary import RESAMPLES, divergences, figures, summarise_rows
from decoder.bench.table import difference_lines, interval, percent


def row(**given) -> dict:
    made = {name: kind() for name, kind in FIELDS.items()} | {
        "draft": "szkic",
        "translation": "anchored",
        "k": 4,
    }
    made |= {"tokens": 20, "rounds": 10, "proposed": 30, "accepted": 10, "identical": True, "prompt": "p"}
    made |= {"seconds": 2.0, "first_tokens": 2, "plain_tokens": 21, "plain_seconds": 4.0, "joules": 10.0}
    return made | given


def test_ratios_are_of_sums():
    found = figures([row(), row(tokens=40, rounds=10, proposed=10, accepted=10)])
    assert found["tokens_per_pass"] == 3 and found["acceptance"] == 0.5
    assert found["joules_per_token"] == pytest.approx(20 / 60)
    assert found["tokens_per_s"] == pytest.approx((18 + 38) / 4) and found["plain_tokens_per_s"] == 5


def test_speedup_is_of_seconds_a_token():
    found = figures([row(), row(seconds=3.6)])
    assert found["speedup"] == pytest.approx((0.2 + 0.2) / (2 / 18 + 3.6 / 18))


def test_intervals_by_hand():
    tokens, rounds = np.array([20.0, 40, 30]), np.array([10.0, 10, 20])
    found = figures([row(tokens=int(t), rounds=int(r)) for t, r in zip(tokens, rounds, strict=True)], seed=5)
    draw = np.random.default_rng(5).multinomial(3, [1 / 3] * 3, size=RESAMPLES)
    ratios = sorted(sum(w * tokens) / sum(w * rounds) for w in draw)
    low, high = found["tokens_per_pass_low"], found["tokens_per_pass_high"]
    assert low <= found["tokens_per_pass"] <= high
    assert (low, high) == pytest.approx(tuple(np.quantile(ratios, [0.025, 0.975])))


def test_one_prompt_has_no_interval():
    found = figures([row()])
    assert found["tokens_per_pass"] == 2 and found["tokens_per_pass_low"] is None


def test_what_is_missing_is_null():
    bare = {
        k: v for k, v in row().items() if k in ("draft", "translation", "k", "identical", "tokens", "rounds")
    }
    found = figures([full_row(bare | {"group": "g", "prompt": "p"}), row()])
    assert found["acceptance"] is None and found["lost_tokens"] is None and found["lost_cut"] is None
    assert found["joules_per_token"] is None and found["energy_reason"] == "not measured"
    assert figures([row(proposed=0, accepted=0)])["acceptance"] is None


def test_losses_sum_to_one():
    found = figures(
        [row(lost_translation=1, lost_cut=2), row(lost_disagreement=4, lost_unknown=1, lost_context=2)]
    )
    assert found["lost_tokens"] == 10 and found["lost_cut"] == 0.2
    assert sum(found[f"lost_{kind}"] for kind in LOSSES) == pytest.approx(1)
    assert figures([row()])["lost_cut"] is None


def test_places():
    found = figures([row(inside_rounds=6, inside_accepted=3, barred_rounds=2, barred_accepted=1)])
    assert found["outside_accepted_per_round"] == 7 / 4 and found["outside_share"] == 0.4
    assert found["open_accepted_per_round"] == 0.5 and found["barred_accepted_per_round"] == 0.5


def test_cells_in_order_of_appearance():
    rows = [row(k=4), row(k=2), row(k=4)]
    assert [(c["k"], c["prompts"]) for c in summarise_rows(rows)] == [(4, 2), (2, 1)]


def test_divergences_are_told():
    different = divergences(
        [
            row(),
            row(identical=False, diverges_at=3, top2_gap=0.25),
            row(identical=False, diverges_at=1, top2_gap=None),
        ]
    )
    lines = difference_lines(different, most=1)
    assert lines[0].endswith("token 3 differs, gap of the two best logits 0.25") and lines[1] == "and 1 more"


def test_words_of_the_table():
    cell = {"x": 1.234, "x_low": 1.0, "x_high": 1.5, "y": None, "z": 2.0, "z_low": None}
    assert interval(cell, "x", "{:.2f}×") == "1.23× (1.00–1.50)"
    assert interval(cell, "y", "{:.2f}") == "—" and interval(cell, "z", "{:.1f}") == "2.0"
    assert percent(None) == "—" and percent(0.123) == "12.3 %"


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"k": "4"}, "'k' is '4', not int"),
        ({"identical": 1}, "not bool"),
        ({"draft": None}, "'draft' is missing"),
    ],
)
def test_rows_are_checked(bad, said):
    with pytest.raises(ValueError, match=said):
        full_row(row(**bad))
