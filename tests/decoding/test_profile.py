"""A machine's profile: its file, its curves, and what is between measured values."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from decoder.curves import Curve, Timing, fitted_line
from decoder.errors import ProfileError, ProfileUsageError
from decoder.profile import SCHEMA, Profile, dumps, loads, read, shipped, write
from decoder.study import published_profile


def timed(context: int, n: int, seconds: float) -> Timing:
    return Timing(context, n, seconds, seconds * 0.9, seconds * 1.1, 5)


def test_a_profile_comes_back_as_it_was(tmp_path):
    profile = published_profile()
    write(profile, tmp_path / "p.json")
    assert read(tmp_path / "p.json") == profile
    assert json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))["schema"] == SCHEMA
    assert [f.name for f in tmp_path.iterdir()] == ["p.json"]


def damaged(change) -> str:
    content = json.loads(dumps(published_profile()))
    change(content)
    return json.dumps(content)


BAD = {
    "no JSON": ("{", "is not JSON"),
    "a list": ("[]", "its schema is None"),
    "another schema": (damaged(lambda c: c.update(schema="decoder-profile/2")), "'decoder-profile/2'"),
    "a missing field": (damaged(lambda c: c.pop("plain")), "the field 'plain' is missing"),
    "an unknown field": (damaged(lambda c: c["machine"].update(fan=1)), "the field 'machine.fan' is unknown"),
    "another type": (
        damaged(lambda c: c["verify"][0].update(n="1")),
        "'verify[0].n' is '1', not a whole number",
    ),
    "no number": (damaged(lambda c: c["plain"][0].update(median=float("nan"))), "not a finite number"),
    "null where there must be a value": (damaged(lambda c: c.update(target=None)), "target is null"),
    "another source": (damaged(lambda c: c.update(source="guessed")), "'source' is 'guessed'"),
    "no timing": (damaged(lambda c: c.update(plain=[])), "'plain' is empty"),
    "quartiles that cross": (damaged(lambda c: c["plain"][0].update(low=9.0)), "'plain[0]' is no timing"),
    "a time of zero": (damaged(lambda c: c["plain"][0].update(low=0, median=0)), "'plain[0]' is no timing"),
}


@pytest.mark.parametrize("case", BAD)
def test_files_that_are_no_profile(case, tmp_path):
    text, said = BAD[case]
    (tmp_path / "p.json").write_text(text, encoding="utf-8")
    with pytest.raises(ProfileError) as caught:
        read(tmp_path / "p.json")
    assert said in str(caught.value) and "p.json" in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ProfileError, match="cannot be read: No such file"):
        read(tmp_path / "none.json")
    (tmp_path / "p.json").write_bytes(b"\xff")
    with pytest.raises(ProfileError, match="not UTF-8"):
        read(tmp_path / "p.json")


def test_whole_numbers_are_numbers():
    text = damaged(lambda c: c["plain"][0].update(low=1, median=1, high=1))
    assert loads(text, "p").plain_s() == 1.0


def test_unknown_names():
    with pytest.raises(ProfileUsageError, match="there is: study-m2-pro"):
        shipped("m9")
    with pytest.raises(ProfileUsageError, match=r"it has: bielik-1\.5b"):
        shipped("study-m2-pro").draft("inny")


# Between and beyond measured values


def test_times_between_tokens_and_contexts():
    curve = Curve([timed(100, 1, 1.0), timed(100, 3, 2.0), timed(300, 1, 2.0), timed(300, 3, 4.0)])
    assert curve.at(2, 100) == 1.5
    assert curve.at(2, 200) == pytest.approx((1.5 + 3.0) / 2)
    assert curve.at(1, 0) == 1.0 and curve.at(1, 9999) == 2.0  # the nearest context
    assert curve.at(5, 100) == 3.0  # the last slope goes on
    assert curve.at(0, 100) == 1.0
    assert curve.at(1) == 1.0  # the middle context, the lower of two
    assert curve.ns == (1, 3) and curve.contexts == [100, 300]


def test_beyond_a_fall_nothing_gets_cheaper():
    curve = Curve([timed(1, 8, 4.0), timed(1, 9, 2.0)])
    assert curve.at(12, 1) == 2.0


def test_a_single_point_and_none():
    assert Curve([timed(1, 4, 2.0)]).at(9) == 2.0
    assert not Curve([])


def test_fixed_and_each():
    assert fitted_line([1, 2, 4], [3.0, 5.0, 9.0]) == pytest.approx((1.0, 2.0))
    assert fitted_line([2], [3.0]) == (0.0, 1.5)
    curve = Curve([timed(1, k, 0.5 + 2 * k) for k in (1, 2, 4, 8)])
    assert curve.line() == pytest.approx((0.5, 2.0))


def with_draft(**fields) -> Profile:
    profile = published_profile()
    return replace(profile, drafts=(replace(profile.drafts[0], **fields),))


def test_drafting_with_tokens_to_catch_up():
    profile = with_draft(feed=(timed(512, 1, 0.01), timed(512, 4, 0.016)))
    plain = profile.plain_s()
    assert profile.draft_s(0) == 0.0
    assert profile.draft_s(2) == pytest.approx(3 * 0.071 * plain, rel=1e-3)
    assert profile.draft_s(2, feed=4) == pytest.approx(profile.draft_s(2) + 0.006)
    assert published_profile().draft_s(2, feed=4) == published_profile().draft_s(2)  # catching up is unknown


def test_what_was_not_measured_is_none():
    profile = published_profile()
    assert profile.translate_s() is None and profile.host_s() is None
