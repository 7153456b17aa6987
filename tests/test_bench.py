"""The bench of the comparison: what it times, and what it says of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import makers
import pytest
from click.testing import CliRunner

from tokalign.bench import COMPARE, READ, REFERENCE, TWICE, Spread, bench
from tokalign.cli import cli
from tokalign.errors import TokalignError, UsageError
from tokalign.processes import cost_of


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    texts = makers.polish_texts(6)
    makers.saved(makers.trained(texts, 700), tmp_path / "cel.json")
    makers.saved(makers.trained(texts, 600, "byte-level"), tmp_path / "szkic.json")
    rows = [json.dumps({"text": text}, ensure_ascii=False) for text in texts]
    (tmp_path / "t.jsonl").write_text("\n".join(rows), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_everything_is_timed_beside_everything_else(here: Path):
    done = CliRunner().invoke(
        cli, ["bench", "cel.json", "szkic.json", "-c", "t.jsonl", "--repeats", "2", "--json", "--offline"]
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    stages = {stage["name"]: stage for stage in found["stages"]}
    assert {READ, REFERENCE, COMPARE, TWICE} <= set(stages)
    assert ("gigatoken" in stages) == (not found["skipped"])
    assert found["documents"] == 6 and found["repeats"] == 2
    for stage in stages.values():
        assert 0 < stage["wall"]["low"] <= stage["wall"]["median"] <= stage["wall"]["high"]
    assert stages[COMPARE]["peak"]["median"] > 50e6 and stages[READ]["peak"] is None
    ratios = {(r["above"], r["below"]): r for r in found["ratios"]}
    assert ratios[COMPARE, REFERENCE]["wall"]["median"] > 1
    assert 0.5 < ratios[TWICE, COMPARE]["wall"]["median"] < 3
    assert sorted(p.name for p in here.iterdir()) == ["cel.json", "szkic.json", "t.jsonl"]


def test_the_table_is_for_people(here: Path):
    arguments = ["bench", "cel.json", "szkic.json", "-c", "t.jsonl", "--repeats", "1", "--offline"]
    done = CliRunner().invoke(cli, arguments, terminal_width=120)
    assert done.exit_code == 0 and "compare ÷ tokenizers" in done.stdout and " MB (" in done.stdout


def test_only_a_file_can_be_given_twice(here: Path):
    with pytest.raises(UsageError, match="is no file"):
        bench("cel.json", "szkic.json", here)


def test_a_command_that_fails_is_named_with_its_last_line():
    with pytest.raises(TokalignError, match="ended with status 3: koniec"):
        cost_of([sys.executable, "-c", "import sys; print('koniec', file=sys.stderr); sys.exit(3)"])


def test_memory_of_the_whole_tree_is_seen():
    code = (
        "import subprocess, sys, time; x = bytearray(60_000_000); "
        "subprocess.run([sys.executable, '-c', 'import time; x = bytearray(60_000_000); time.sleep(0.5)'])"
    )
    found = cost_of([sys.executable, "-c", code])
    assert found.peak is not None and found.peak > (100e6 if Path("/proc").is_dir() else 50e6)
    assert found.wall > 0.5 and found.cpu > 0


def test_spread():
    assert Spread.of([3.0, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0)
