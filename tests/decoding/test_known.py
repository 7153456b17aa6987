"""A profile's costs as the start of -k auto."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from decoder import load_pair
from decoder.cli import cli
from decoder.cost import Setup
from decoder.errors import PairError, ProfileUsageError
from decoder.known import known_costs
from decoder.policy import KnownCosts
from decoder.profile import Profile, write
from decoder.strategy import NAMES, Strategy
from decoder.study import published_profile
from decoding import makers as tiny


def with_drafts(*names: str) -> Profile:
    """A profile with drafts of these names."""
    base = published_profile()
    one = base.drafts[0]
    return replace(base, drafts=tuple(replace(one, model=replace(one.model, name=n)) for n in names))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the models cel and szkic, and a profile with one draft of another name."""
    root = tmp_path_factory.mktemp("known")
    target, draft = tiny.PAIRS["sentencepiece-from-bytes"]()
    tiny.save_model(root / "cel", target, 1)
    tiny.save_model(root / "szkic", draft, 2)
    write(with_drafts("inny"), root / "profil.json")
    write(with_drafts("inny", "drugi"), root / "dwa.json")
    return root


def test_a_draft_is_found_by_its_name_and_an_only_one_by_any() -> None:
    profile = with_drafts("a", "b")
    expected = KnownCosts(**Setup(profile, "b").known())
    assert known_costs(profile, "b") == expected and expected.draft and expected.verify
    assert known_costs(with_drafts("a"), "szkic") == KnownCosts(**Setup(with_drafts("a")).known())


def test_without_a_draft_the_target_s_costs_remain() -> None:
    found, profile = known_costs(with_drafts(), None), with_drafts()
    assert found.plain == profile.plain_s() and not found.draft
    assert set(found.verify) == set(profile.verify_curve.ns)


@pytest.mark.parametrize(("names", "has"), [(("a", "b"), "it has: a, b"), ((), "it has none")])
def test_a_draft_that_cannot_be_told_is_refused(names: tuple[str, ...], has: str) -> None:
    with pytest.raises(ProfileUsageError, match=rf"no costs of the draft 'szkic' \({has}\); .*calibrate"):
        known_costs(with_drafts(*names), "szkic")


def test_a_pair_starts_from_its_profile(made: Path) -> None:
    names = str(made / "cel"), str(made / "szkic")
    pair = load_pair(*names, profile=made / "profil.json")
    assert pair.known == known_costs(with_drafts("inny"), "inny")
    assert load_pair(*names, profile=with_drafts(names[1], "inny")).known.plain == pair.known.plain
    with pytest.raises(PairError, match="leave out either"):
        load_pair(*names, profile=made / "profil.json", known=KnownCosts())


def test_the_profile_on_the_command_line(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made)
    common = ["generate", "cel", "Ala ma", "-d", "szkic", "-n", "8", "--json"]
    plain = json.loads(CliRunner().invoke(cli, common).stdout)
    done = CliRunner().invoke(cli, [*common, "--profile", "profil.json"])
    assert done.exit_code == 0 and json.loads(done.stdout)["ids"] == plain["ids"]
    told = CliRunner().invoke(cli, ["chat", "cel", "szkic", "--profile", "dwa.json"], input="Ala\n")
    assert told.exit_code == 2 and "no costs of the draft 'szkic'" in told.stderr
    gone = CliRunner().invoke(cli, [*common, "--profile", "brak.json"])
    assert gone.exit_code == 1 and "cannot be read" in gone.stderr


def test_every_translation_is_named_and_told_in_the_help() -> None:
    help_text = " ".join(CliRunner().invoke(cli, ["generate", "--help"]).stdout.split())
    for name in NAMES.split(", "):
        Strategy.parse(name.replace(":P", ":5"))
        assert name in help_text
