"""`decoder bench` from end to end on tiny models: what it prints, keeps, refuses and goes on from."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from decoder import loop
from decoder.bench import record
from decoder.bench.identity import Identity, ModelIdentity, to_json
from decoder.bench.ingest import TIMES, ingest, ingest_recording, ingest_recordings
from decoder.bench.ingest import main as ingest_main
from decoder.bench.rows import FIELDS, LOSSES
from decoder.bench.store import Store
from decoder.cli import cli
from decoder.errors import BenchError, BenchUsageError
from decoder.recordings import generations, recording
from decoding import makers as tiny
from decoding.benches import row as made_row
from tokalign.translate import ExactTranslator, Translation

TIMINGS = ("seconds", "_s", "speedup", "joules")
PROMPTS = (("Za górą żółty kot", "proza"), ("Nad rzeką stał młyn", "proza"), ("Wójt gminy", "prawo"))


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    target, draft = tiny.PAIRS["sentencepiece-from-bytes"]()
    tiny.save_model(folder / "cel", target, 1)
    tiny.save_model(folder / "bliźniak", target, 1)
    tiny.save_model(folder / "szkic", draft, 2)
    lines = [json.dumps({"prompt": text, "group": group}) for text, group in PROMPTS]
    (folder / "teksty.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def bench(root: Path, out: Path, *more: str, drafts: tuple[str, ...] = ("szkic", "bliźniak")) -> Result:
    models = [str(root / name) for name in ("cel", *drafts)]
    fixed = ["--prompts", str(root / "teksty.jsonl"), "--k", "2", "--max-tokens", "8", "--float32"]
    return CliRunner().invoke(cli, ["bench", *models, *fixed, "--out", str(out), *more])


def untimed(value: object) -> object:
    if isinstance(value, dict):
        return {k: untimed(v) for k, v in value.items() if not any(t in k for t in TIMINGS)}
    return [untimed(v) for v in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def whole(root) -> tuple[Path, dict]:
    done = bench(root, root / "whole", "--translation", "naive,anchored", "--identity", "--json")
    assert done.exit_code == 0, done.output
    return root / "whole", json.loads(done.stdout)


def test_figures_of_every_cell(whole):
    _, found = whole
    cells = {(c["draft"], c["translation"]): c for c in found["summary"]}
    assert list(cells) == [(d, t) for d in ("szkic", "bliźniak") for t in ("naive", "anchored")]
    assert found["runs"] == 12 and found["different"] == []
    twin = cells["bliźniak", "anchored"]  # the same model: 3 + 3 + 2 tokens in three passes
    assert twin["tokens_per_pass"] == pytest.approx(8 / 3)
    assert twin["acceptance"] == 1 and twin["lost_tokens"] == 0 and twin["lost_cut"] is None
    assert twin["speedup"] > 0 and twin["identical"] == twin["prompts"] == 3
    assert twin["joules_per_token"] is not None or twin["energy_reason"]


def test_parts_and_rounds_are_kept(whole):
    store = Store.read(whole[0])
    rows, traces = store.rows(), list(store.traces())
    assert len(rows) == 12 and all(list(row) == list(FIELDS) for row in rows)
    assert len(traces) == sum(row["rounds"] for row in rows)
    for row in rows:
        kept = [t for t in traces if all(t[c] == row[c] for c in ("draft", "translation", "k", "prompt"))]
        assert sum(len(t["tokens"]) for t in kept) == row["tokens"]
        lost = [kind for t in kept for kind in t["lost"]]
        assert {kind: lost.count(kind) for kind in LOSSES} == {k: row[f"lost_{k}"] for k in LOSSES}
        played = [recording(list(g)) for g in generations(kept)]
        assert [len(r.right) for r in played] == [row["tokens"]]
    assert store.identity.drafts["szkic"].vocabulary and store.identity.target.files


def test_the_same_command_gives_the_same_figures_without_running(root, whole, monkeypatch):
    folder, before = whole
    monkeypatch.setattr("decoder.bench.grid.load_model", None)
    again = bench(root, folder, "--translation", "naive,anchored", "--json")
    assert again.exit_code == 0 and json.loads(again.stdout) == before


def test_an_interrupted_run_goes_on(root, whole, tmp_path, monkeypatch):
    add, count = Store.add, iter(range(100))

    def until(self, *unit):
        if next(count) == 2:
            raise KeyboardInterrupt
        add(self, *unit)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "add", until)
        stopped = bench(root, tmp_path, "--translation", "naive,anchored")
    assert stopped.exit_code == 130 and "goes on from what is in" in stopped.stderr
    assert len(list(tmp_path.glob("part-*"))) == 2 and not list(tmp_path.glob(".*part"))
    done = bench(root, tmp_path, "--translation", "naive,anchored", "--json")
    assert untimed(json.loads(done.stdout)) == untimed(whole[1])


def test_another_bench_is_refused(root, whole):
    folder, _ = whole
    longer = bench(root, folder, "--translation", "anchored", "--max-tokens", "9")
    assert longer.exit_code == 2
    assert longer.stderr.count("\n") == 1 and "another length (--max-tokens) (8, now 9)" in longer.stderr
    fewer = bench(root, folder, "--translation", "anchored", "--groups", "prawo")
    assert fewer.exit_code == 2 and "another prompts" in fewer.stderr
    assert len(Store.read(folder).rows()) == 12


def test_other_weights_under_the_same_name_are_refused(root, whole, tmp_path):
    copy = tmp_path / "szkic"
    tiny.save_model(copy, tiny.PAIRS["sentencepiece-from-bytes"]()[1], 3)
    refused = bench(root, whole[0], "--translation", "anchored", drafts=(str(copy),))
    assert refused.exit_code == 2 and "another draft 'szkic'" in refused.stderr


def test_a_grid_may_grow_and_begin_anew(root, tmp_path):
    assert bench(root, tmp_path, "--translation", "none", drafts=("szkic",)).exit_code == 0
    grown = bench(root, tmp_path, "--translation", "none", "--lookup", drafts=("szkic",))
    assert grown.exit_code == 0 and "lookup" in grown.stdout and "6 of 6 runs" in grown.stdout
    anew = bench(root, tmp_path, "--translation", "none", "--fresh", "--max-tokens", "4", drafts=("szkic",))
    assert anew.exit_code == 0 and len(Store.read(tmp_path).rows()) == 3


def test_variants_of_the_exact_translations(root, tmp_path):
    flags = ("--translation", "none,anchored", "--no-heal", "--hold-back", "--json")
    done = json.loads(bench(root, tmp_path, *flags, drafts=("szkic",)).stdout)
    names = [c["translation"] for c in done["summary"]]
    assert names == ["none", "anchored", "anchored no-heal", "anchored hold-back"]


def test_a_broken_translator_changes_no_output(root, tmp_path, monkeypatch):
    monkeypatch.setattr(ExactTranslator, "translate", lambda self, tail, draft: Translation((5, 5, 5)))
    done = bench(root, tmp_path, "--translation", "anchored", "--identity", "--json", drafts=("szkic",))
    assert done.exit_code == 0 and json.loads(done.stdout)["summary"][0]["identical"] == 3


def test_a_broken_loop_fails_the_identity(root, tmp_path, monkeypatch):
    monkeypatch.setattr(ExactTranslator, "translate", lambda self, tail, draft: Translation((5, 6)))
    monkeypatch.setattr(loop, "agreement", lambda candidates, choices: min(1, len(candidates)))
    plain = ("--translation", "anchored")
    done = bench(root, tmp_path, *plain, "--identity", drafts=("szkic",))
    assert done.exit_code == 1 and "0 of 3 runs gave the output of plain decoding" in done.stdout
    assert "token 0 differs, gap of the two best logits" in done.stdout
    different = json.loads(bench(root, tmp_path, *plain, "--json", drafts=("szkic",)).stdout)["different"]
    assert [d["diverges_at"] for d in different] == [0, 0, 0] and all(d["top2_gap"] > 0 for d in different)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--k", "2,zwei"), "--k has 'zwei'"),
        (("--k", "0"), "--k has '0'"),
        (("--corpus", "samples"), "one of them"),
        (("--translation", "wunder"), "there is no translation 'wunder'"),
        (("--groups", "poezja"), "no group 'poezja'"),
    ],
)
def test_requests_that_cannot_be_met(root, tmp_path, more, said):
    done = bench(root, tmp_path / "out", *more)
    assert done.exit_code == 2 and said in done.stderr and not (tmp_path / "out").exists()


def test_two_drafts_of_one_name(root, tmp_path):
    done = bench(root, tmp_path, drafts=("szkic", "szkic"))
    assert done.exit_code == 2 and "two drafts are called 'szkic'" in done.stderr


# Other engines and other machines


def rival(folder: Path, body: str) -> str:
    """A program that stands in for a Python with transformers."""
    program = folder / "python"
    program.write_text(f"#!{sys.executable}\nimport json, sys\nrequest = json.load(sys.stdin)\n{body}\n")
    program.chmod(0o755)
    return str(program)


def test_transformers_beside_ours(root, tmp_path):
    body = "for p in request['prompts']: print(json.dumps({'tokens': [1, 2], 'passes': 2, 'seconds': 1}))"
    flags = ("--translation", "anchored", "--transformers", rival(tmp_path, body), "--json", "--identity")
    done = bench(root, tmp_path / "out", *flags, drafts=("szkic",))
    assert done.exit_code == 0, done.output
    ours, theirs = json.loads(done.stdout)["summary"]
    assert theirs["translation"] == "transformers" and theirs["tokens_per_pass"] == 1
    assert theirs["identical"] == 0 and theirs["acceptance"] is None and theirs["speedup"] is None
    assert ours["identical"] == 3


def test_transformers_that_fail(root, tmp_path):
    python = rival(tmp_path, "sys.exit('no torch here')")
    done = bench(root, tmp_path / "out", "--translation", "none", "--transformers", python, drafts=("szkic",))
    assert done.exit_code == 1 and "no torch here" in done.stderr and done.stderr.count("\n") == 1


def test_a_recording_of_another_machine(root, whole, tmp_path):
    models = [str(root / name) for name in ("cel", "szkic", "bliźniak")]
    rest = ["--prompts", str(root / "teksty.jsonl"), "--k", "2", "--max-tokens", "8", "--float32"]
    command = [*models, *rest, "--translation", "naive,anchored", "--out", str(tmp_path / "rec")]
    assert record.main(command) == 0
    store = ingest_recording(tmp_path / "rec", tmp_path / "bench")
    assert [untimed(r) for r in store.rows()] == [untimed(r) for r in Store.read(whole[0]).rows()]
    assert len(list(store.traces())) == len(list(Store.read(whole[0]).traces()))
    again = bench(root, tmp_path / "bench", "--translation", "naive,anchored", "--json")
    assert untimed(json.loads(again.stdout)) == untimed(whole[1])


def test_recordings_make_one_bench(tmp_path):
    def recorded(name: str, draft: str, prompts: str, length: int = 8) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        drafts = {draft: ModelIdentity(draft, draft * 2)}
        known = Identity(ModelIdentity("cel", "c"), prompts, 1, length, True, "cpu", "0", 8, drafts)
        (folder / "bench.json").write_text(to_json(known))
        made = made_row(draft, "naive", 12, prompts, seconds=1.0)
        (folder / "rows.jsonl.gz").write_bytes(gzip.compress(json.dumps(made).encode()))
        trace = {"draft": draft, "translation": "naive", "k": 4, "prompt": prompts}
        (folder / "traces.jsonl.gz").write_bytes(gzip.compress(json.dumps(trace).encode()))
        return folder

    parts = [recorded("a", "x", "p"), recorded("b", "x", "q"), recorded("c", "y", "p")]
    store = ingest_recordings(parts, tmp_path / "all", target="goal", drafts={"x": "small"})
    assert [(r["draft"], r["prompt"]) for r in store.rows()] == [("x", "p"), ("x", "q"), ("y", "p")]
    assert len(list(store.traces())) == 3 and store.rows()[0]["seconds"] == 1
    known = Store.read(tmp_path / "all").identity
    assert known.count == 2 and known.target.name == "goal" and known.drafts["x"].name == "small"
    command = [*map(str, parts), "--untimed", "shared", "--single", "--out", str(tmp_path / "one")]
    assert ingest_main(command) == 0
    (part,) = (tmp_path / "one").glob("part-*")
    rows = Store.read(tmp_path / "one").rows()
    assert part.name == "part-all.parquet" and len(rows) == 3
    assert all(r[name] is None for r in rows for name in TIMES) and rows[0]["energy_reason"] == "shared"
    with pytest.raises(BenchError, match=r"another length \(--max-tokens\)"):
        ingest_recordings([*parts, recorded("d", "y", "q", length=9)], tmp_path / "no")


def test_rows_alone_lack_columns(tmp_path):
    row = {"draft": "/tmp/x/szkic", "translation": "naive", "k": 4, "group": "a", "identical": True}
    rows = [row | {"prompt": f"p{n}", "tokens": 8, "rounds": 4, "proposed": 12, "accepted": 4} for n in (1, 2)]
    path = tmp_path / "all.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(r) + "\n" for r in rows).encode()))
    found = ingest(path, tmp_path / "bench", target="cel").rows()
    assert [r["draft"] for r in found] == ["szkic", "szkic"] and found[0]["lost_cut"] is None
    path.write_text(json.dumps(row))
    with pytest.raises(BenchError, match="the column 'prompt' is missing"):
        ingest(path, tmp_path / "other")


def test_a_folder_without_a_bench(tmp_path):
    with pytest.raises(BenchUsageError, match="holds no bench"):
        Store.read(tmp_path)
