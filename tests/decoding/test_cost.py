"""Speed from acceptance and a profile, against values worked out by hand; the study's formula and machine."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import replace

import pytest

from decoder import study
from decoder.cost import (
    Setup,
    accepted_share,
    best_k,
    expected_at,
    expected_tokens,
    solve,
    unmeasured,
)
from decoder.cost_page import chart, page
from decoder.cost_table import cost_table
from decoder.curves import Spread, Timing
from decoder.errors import ProfileUsageError
from decoder.profile import Profile, dumps, shipped
from decoder.study import fit_study, published_profile

SPREAD = Spread(0.1, 0.1, 0.1, 5)


def made(
    verify: dict[int, float], draft: dict[int, float], plain: float = 1.0, extra: float | None = None
) -> Profile:
    """A profile with these seconds and nothing else; ``extra`` is both the translation's and the host's."""
    base = published_profile()

    def table(rows: dict[int, float]) -> tuple[Timing, ...]:
        return tuple(Timing(64, n, s, s, s, 5) for n, s in rows.items())

    spread = None if extra is None else replace(SPREAD, median=extra)
    cost = replace(base.drafts[0], steps=table(draft), translate=spread)
    return replace(base, plain=table({1: plain}), verify=table(verify), drafts=(cost,), trim=spread)


def test_expected_tokens_by_hand():
    assert expected_tokens(0.5, 2) == 1.75
    assert expected_tokens(0.0, 4) == 1.0
    assert expected_tokens(1.0, 4) == 5.0
    assert expected_tokens(0.9, 0) == 1.0
    assert expected_tokens(0.8, 3) == pytest.approx((1 - 0.8**4) / (1 - 0.8))
    assert expected_tokens(0.5, 2.5) == pytest.approx((expected_tokens(0.5, 2) + expected_tokens(0.5, 3)) / 2)


def test_expected_tokens_by_position():
    assert expected_at((0.9, 0.5, 0.1), 3) == pytest.approx(1 + 0.9 + 0.45 + 0.045)
    assert expected_at((0.9, 0.5), 3) == pytest.approx(1 + 0.9 + 0.45 + 0.225)  # the last one repeats
    assert expected_at((0.9, 0.5), 1) == pytest.approx(1.9)


def test_expected_tokens_by_drawing():
    draw = random.Random(7)
    total = 0
    for _ in range(20_000):
        n = 0
        while n < 4 and draw.random() < 0.7:
            n += 1
        total += n + 1
    assert total / 20_000 == pytest.approx(expected_tokens(0.7, 4), rel=0.02)


@pytest.mark.parametrize("chances", ((), (1.1,), (-0.1,)))
def test_no_chances(chances):
    with pytest.raises(ProfileUsageError):
        expected_at(chances, 2)


def test_share_and_nothing_proposed():
    assert accepted_share(1.75, 2) == 0.375
    assert accepted_share(1.0, 0) is None


def test_speed_by_hand():
    setup = Setup(made({1: 1.0, 3: 1.2}, {2: 0.4}, extra=0.1))
    assert setup.round_s(2) == pytest.approx(0.4 + 0.2 + 1.2)
    assert setup.speedup(2, 0.5) == pytest.approx(1.75 / 1.8)
    assert setup.speedup(2, (1.0, 0.5)) == pytest.approx(2.5 / 1.8)
    assert setup.round_s(0) == 1.0
    assert setup.break_even_share(2) == pytest.approx(0.4)
    a = setup.break_even(2)
    assert 1 + a + a * a == pytest.approx(1.8)


def test_candidates_between_whole_numbers():
    setup = Setup(made({1: 1.0, 3: 2.0, 4: 4.0}, {2: 0.5}), ratio=1.25)
    assert setup.round_s(2) == pytest.approx(0.5 + 3.0)  # 2.5 candidates: half the rounds verify 3, half 4
    assert setup.speedup(2, 0.5) == pytest.approx(1.8125 / 3.5)


def test_padding_to_a_faster_size():
    profile = made({1: 1.0, 2: 1.5, 8: 4.0, 9: 1.4, 16: 2.0}, {1: 0.1, 4: 0.4})
    assert Setup(profile).verify_s(2) == 1.5
    assert Setup(profile, pad=True).verify_s(2) == 1.4
    assert Setup(profile, pad=True).verify_s(5) == 1.4
    assert Setup(profile, pad=True).verify_s(1) == 1.0


def test_break_even_at_the_ends():
    free = Setup(made({1: 1.0, 3: 1.0}, {2: 1e-9}))
    assert free.break_even(2) == pytest.approx(0, abs=1e-6)
    dear = Setup(made({1: 1.0, 3: 3.5}, {2: 0.1}))
    assert dear.break_even(2) is None and dear.break_even_share(2) is None


def test_solve():
    assert solve(lambda x: x - 0.25) == pytest.approx(0.25)
    assert solve(lambda x: x + 1) == 0.0
    assert solve(lambda x: x - 2) is None


def test_best_k_takes_the_measured_curve_not_a_smooth_one():
    """Nine tokens verify as fast as three, as on one GPU: k = 8 beats all between."""
    verify = {1: 10.9, 2: 16.2, 3: 22.7, 4: 28.0, 5: 32.6, 7: 41.3, 9: 23.9}
    profile = made(verify, {k: 0.5 * k for k in (1, 2, 4, 8)}, plain=10.9)
    assert best_k(Setup(profile), 0.8, range(9))[0] == 8
    assert best_k(Setup(profile), 0.8, range(7)) == (1, pytest.approx(1.8 * 10.9 / 16.7))
    assert best_k(Setup(profile), 0.0, range(9)) == (0, 1.0)


def test_what_a_profile_lacks_is_named():
    assert unmeasured(published_profile()) == ["translation", "host"]
    assert unmeasured(made({1: 1.0}, {1: 1.0}, extra=0.1)) == []


def test_costs_for_the_policy():
    known = Setup(made({1: 1.0, 3: 2.0}, {1: 0.2, 4: 0.8}, plain=0.9, extra=0.1)).known()
    assert known["verify"] == {1: 1.0, 3: 2.0} and known["draft"] == {1: 0.2, 4: 0.8}
    assert known["plain"] == 0.9 and known["overhead"] == pytest.approx(0.2)
    assert Setup(published_profile()).known()["overhead"] is None


def test_costs_need_no_mlx():
    used = "decoder.cost_table, decoder.recordings, decoder.energy"
    code = f"import sys, {used}; assert 'mlx.core' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# The study


def test_the_formula_by_hand():
    model = fit_study({2: 1 + 3 * 0.1 + 4 * 0.2, 4: 1 + 5 * 0.1 + 16 * 0.2, 6: 1 + 7 * 0.1 + 36 * 0.2})
    assert (model.r, model.beta) == pytest.approx((0.1, 0.2))
    assert model.rmse == pytest.approx(0, abs=1e-9)
    assert model.speedup(2, 0.5) == pytest.approx(2 / 2.1)
    assert model.break_even_share(2) == pytest.approx(1.1 / 2)
    assert model.break_even_share(6) is None


def test_fits_stay_at_or_above_zero():
    assert fit_study({2: 1.785, 4: 4.507}).r == 0.0
    assert fit_study({2: 1.3, 4: 1.2, 8: 1.1}).beta == 0.0
    alone = fit_study({2: 1.785})
    assert alone.r >= 0 and alone.beta >= 0


def test_one_beta_does_not_fit_the_published_cells():
    costs = {k: 1 + (k + 1) * study.R + study.BETA[k] * k * k for k in study.BETA}
    model = fit_study(costs, study.R)
    assert model.betas == pytest.approx({2: 0.143, 4: 0.197})
    assert abs(model.worst) > 0.1


def test_the_shipped_profile_is_the_built_one():
    assert dumps(shipped("study-m2-pro")) == dumps(published_profile())
    assert shipped("study-m2-pro").source == "published"
    assert 14.6 < 1 / shipped("study-m2-pro").plain_s() < 15.1


def test_the_published_break_even():
    setup = Setup(shipped("study-m2-pro"))
    assert setup.break_even_share(2) == pytest.approx(0.40, abs=0.02)
    assert setup.break_even_share(6) is None and setup.break_even(6) is None


@pytest.mark.parametrize(
    ("k", "share", "speed"),
    (
        (2, 0.311, 0.87),
        (2, 0.420, 1.06),
        (2, 0.446, 1.06),
        (4, 0.415, 0.59),
        (4, 0.539, 0.70),
        (6, 0.406, 0.40),
    ),
)
def test_the_published_speeds(k, share, speed):
    setup = Setup(shipped("study-m2-pro"))
    assert (1 + share * k) / setup.relative_cost(k) == pytest.approx(speed, abs=0.045)


# Tables and the page


def test_the_table_has_both_models_and_the_best():
    table = cost_table(Setup(shipped("study-m2-pro")), acceptances=(0.3, 0.9))
    assert [row.k for row in table.rows] == [2, 4, 6]
    assert [b.k for b in table.best] == [0, 2]
    cell = table.rows[0].speeds[1]
    assert cell.measured == pytest.approx(2.71 / 1.785, rel=1e-4)
    assert cell.share == pytest.approx(0.855)
    assert cell.study == pytest.approx(table.study.speedup(2, 0.855))


def test_the_page_keeps_names_out_of_its_code():
    profile = shipped("study-m2-pro")
    name = "</script><script>alert(1)</script>"
    profile = replace(profile, target=replace(profile.target, name=name))
    text = page([cost_table(Setup(profile))])
    assert "alert(1)</script>" not in text and text.count("<script") == text.count("</script>")
    assert "http-equiv" not in text and 'src="' not in text.split("<script>")[0]
    assert len(chart(cost_table(Setup(profile)))["layer"]) == 2
