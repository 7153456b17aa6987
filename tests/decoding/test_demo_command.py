"""The commands with --demo."""

from __future__ import annotations

import json
from pathlib import Path

import mlx.core as mx
import pytest
from click.testing import CliRunner, Result

from decoder import demo
from decoder.bench.grid import Plan
from decoder.cli import bench as command
from decoder.cli import cli, opening

PROMPT = "Warszawa jest"
FILES = [demo.PACKAGE / role / demo.WEIGHTS for role in demo.ROLES]
needs_models = pytest.mark.skipif(
    not all(f.is_file() for f in FILES), reason="the demo models are not in this checkout"
)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The demo's draft for both models, unpacked into a folder of the tests."""
    monkeypatch.setenv("TOKALIGN_CACHE", str(tmp_path_factory.getbasetemp() / "demo-cache"))
    folder = demo._unpacked("draft")
    monkeypatch.setattr(demo, "demo_pair", lambda: (folder, folder))


@needs_models
def test_the_demo_needs_a_prompt_alone_and_says_what_it_is(small: None) -> None:
    done = run("generate", "--demo", PROMPT, "-n", "6", "-k", "2", "--json")
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith("note: the demo draft's vocabulary is the stand-in for APT4, not APT4;")
    told = json.loads(done.stdout)
    assert len(told["ids"]) == 6
    assert (told["target"], told["draft"]) == demo.NAMES
    alone = json.loads(run("generate", "--demo", PROMPT, "-n", "6", "--lookup", "--json").stdout)
    assert alone["draft"] is None and alone["ids"] == told["ids"]


@needs_models
def test_the_demo_computes_in_float32_on_a_cpu(small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "wants_float32", lambda: True)
    pair = demo.load_demo(draft=False)
    assert pair.draft is None and pair.target.name == demo.NAMES[0]
    assert pair.target.model.model.embed_tokens.weight.dtype == mx.float32


def test_float32_is_chosen_by_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    for device, chosen in ((mx.cpu, True), (mx.gpu, False)):
        monkeypatch.setattr(mx, "default_device", lambda device=device: mx.Device(device))
        assert demo.wants_float32() is chosen


@needs_models
def test_the_bench_of_the_demo_keeps_nothing_unless_asked(small: None, tmp_path: Path) -> None:
    given = ("--translation", "anchored", "--per-group", "1", "--max-tokens", "4", "--json")
    done = run("bench", "--demo", *given, "--out", str(tmp_path / "kept"))
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert [(c["draft"], c["k"], c["prompts"]) for c in told["summary"]] == [("demo-draft", 4, 1)]
    assert not told["different"] and (tmp_path / "kept" / "bench.json").is_file()


def test_what_the_demo_bench_chooses_gives_way_to_what_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Plan, Path]] = []
    monkeypatch.setattr(demo, "demo_pair", lambda: (Path("cel"), Path("szkic")))
    monkeypatch.setattr(command, "_kept", lambda plan, folder, given: seen.append((plan, folder)) or [])
    assert run("bench", "--demo").exit_code == 0
    assert run("bench", "--demo", "--k", "2,6", "--max-tokens", "64", "--out", "wyniki").exit_code == 0
    (chosen, passing), (asked, kept) = seen
    assert [str(s) for s in chosen.strategies] == command.DEMO["names"].split(",")
    assert (chosen.ks, chosen.max_tokens) == ([4], command.DEMO["max_tokens"])
    assert len(chosen.prompts) == command.DEMO["per_group"]
    assert (asked.ks, asked.max_tokens, kept) == ([2, 6], 64, Path("wyniki"))
    assert not passing.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("generate", "--demo"), "give a PROMPT"),
        (("generate", "cel"), "give a TARGET and a PROMPT"),
        (("generate", "--demo", "cel", PROMPT), "--demo brings its own models"),
        (("generate", "--demo", PROMPT, "-d", "szkic"), "--demo brings its own models"),
        (("chat",), "give a TARGET, or --demo"),
        (("chat", "--demo", "cel"), "--demo brings its own models"),
        (("bench", "--demo", "cel"), "--demo brings its own models"),
        (("bench",), "give a TARGET, or --demo"),
        (("bench", "cel", "szkic"), "--out DIR"),
    ],
)
def test_what_does_not_go_with_the_demo(arguments: tuple[str, ...], said: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1


@needs_models
def test_a_chat_with_the_demo(small: None) -> None:
    done = CliRunner().invoke(cli, ["chat", "--demo", "-n", "4", "-k", "2"], input=PROMPT + "\n")
    assert done.exit_code == 0 and done.stdout.strip() and "not APT4" in done.stderr


def test_a_profile_without_use_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    opening.note_idle_profile(False, {"profile": Path("p"), "k": "auto"})
    opening.note_idle_profile(True, {"profile": None, "k": None})
    assert capsys.readouterr().err == ""
    opening.note_idle_profile(False, {"profile": Path("p"), "k": 4})
    assert "no effect with -k 4" in capsys.readouterr().err
