"""The command line as its users meet it: output, files, and how it fails."""

from __future__ import annotations

import functools
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import makers
import pytest
from click.testing import CliRunner, Result

from tokalign import __version__, settings
from tokalign.cli import cli
from tokalign.cli.compare import settings_path
from tokalign.cli.report import file_part

CUTS = ("--cuts", "20")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with cel.json, szkic.json, teksty.jsonl, krotki.txt."""
    folder = tmp_path_factory.mktemp("cli")
    texts = makers.polish_texts(8)
    makers.saved(makers.trained(texts, 900), folder / "cel.json")
    makers.saved(makers.trained(texts, 700, "byte-level"), folder / "szkic.json")
    rows = [json.dumps({"text": t, "tytuł": "x"}, ensure_ascii=False) for t in texts]
    (folder / "teksty.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (folder / "krotki.txt").write_text("a", encoding="utf-8")
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch) -> Path:
    """An empty working folder from which the made files can be reached by name."""
    for file in made.iterdir():
        (tmp_path / file.name).symlink_to(file)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path


def run(*arguments: str, **options) -> Result:
    return CliRunner().invoke(cli, list(arguments), **options)


def failed(done: Result, code: int) -> str:
    """The one line of a command that failed, without its prefix; standard output is empty."""
    assert done.exit_code == code, done.output
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert len(lines) == 1 and lines[0].startswith("tokalign: "), done.stderr
    assert "Traceback" not in done.stderr
    return lines[0].removeprefix("tokalign: ")


def process(*arguments: str, **options) -> subprocess.Popen:
    root = str(Path(__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": root, "HF_HUB_OFFLINE": "1"} | options.pop("env", {})
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    # Test runners that work in parallel ignore SIGINT, and what they start would inherit that.
    heed = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    command = [sys.executable, "-m", "tokalign", *arguments]
    return subprocess.Popen(command, env=environment, preexec_fn=heed, **options)


def compare(*arguments: str) -> tuple[str, ...]:
    return ("compare", "cel.json", "szkic.json", "-c", "teksty.jsonl", *CUTS, *arguments)


def test_version():
    done = run("--version")
    assert (done.exit_code, done.stdout) == (0, f"tokalign {__version__}\n")


def test_help_is_quick():
    process("--help").communicate()
    begun = time.perf_counter()
    out, _ = process("--help").communicate()
    spent = time.perf_counter() - begun
    assert b"compare" in out and spent < 3  # 0.1 s on an idle machine; this one may be busy
    code = "import tokalign.cli, sys; print({'polars', 'numpy', 'tokenizers', 'altair'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_compare_prints_the_verdict_first_and_writes_what_was_asked(here):
    done = run(*compare("--out", "w.json.gz", "--settings", "u.json", "--report", "r/raport.html", "--samples"))
    assert done.exit_code == 0, done.output
    out = done.stdout
    assert out.index("Set p=0") < out.index("tokens per word") < out.index("strip by length") < out.index("k=6")
    assert "8 documents" in out
    assert done.stderr.splitlines() == ["result: w.json.gz", "settings: u.json", "report: r/raport.html"]
    assert settings.read(Path("u.json")).k == 4
    assert Path("r/raport.html").read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
    again = run("report", "w.json.gz", "--out", "drugi.html")
    assert again.exit_code == 0 and again.stderr == "report: drugi.html\n"


def test_the_report_has_a_place_of_its_own_and_can_be_left_out(here):
    done = run(*compare())
    assert done.stderr == "report: reports/cel--szkic.html\n"
    assert Path("reports/cel--szkic.html").exists()
    done = run(*compare("--no-report"))
    assert done.stderr == ""


def test_json_is_pure(here):
    done = run(*compare("--json", "--out", "w.json"))
    assert json.loads(done.stdout)["schema"] == "tokalign-result/1"
    assert done.stdout == Path("w.json").read_text(encoding="utf-8")
    for command in (
        ("tune", "cel.json", "szkic.json", "-c", "teksty.jsonl", *CUTS),
        ("models",),
        ("corpora",),
    ):
        json.loads(run(*command, "--json", "--offline").stdout)


def test_tune_writes_the_settings_of_compare(here):
    done = run(
        "tune", "cel.json", "szkic.json", "-c", "teksty.jsonl", *CUTS, "--settings", "u.json", "--k", "3"
    )
    assert done.exit_code == 0, done.output
    assert "Set p=0" in done.stdout and "strip by count" in done.stdout
    found = settings.read(Path("u.json"))
    assert (found.k, [each.k for each in found.lengths]) == (3, [3])


def test_inspect_aligns_and_shows_bytes(here):
    letters = makers.sentencepiece([" w"], letters="wdblei", name="l")
    makers.saved(letters, here / "litery.json")
    done = run("inspect", "litery.json", "szkic.json", "w źdźble", "--ids")
    assert done.exit_code == 0, done.output
    assert "C5·" in done.stdout and "BA" in done.stdout and "␣" in done.stdout
    content = json.loads(run("inspect", "litery.json", "szkic.json", "w źdźble", "--json").stdout)
    data = "w źdźble".encode()
    assert content["text"] == "w źdźble"
    assert b"".join(bytes.fromhex(h) for h in content["target"]["hex"]) == data
    assert content["draft"]["ends"][-1] == content["shared"][-1] == len(data)


def test_inspect_reads_standard_input_and_survives_markup(here):
    done = run("inspect", "cel.json", "szkic.json", "-", input="[bold]tak[/bold] :smile: </script> <|im_end|>")
    assert done.exit_code == 0, done.output
    shown = "".join(done.stdout.split()).replace("│", "").replace("␣", "")
    assert "[bold]tak[/bold]:smile:" in shown
    assert "no UTF-8 text" in failed(run("inspect", "cel.json", "szkic.json", "-", input=b"\xff\xfe"), 2)
    assert "empty" in failed(run("inspect", "cel.json", "szkic.json", ""), 2)


def test_one_vocabulary_is_said(here):
    (here / "kopia.json").write_bytes((here / "cel.json").read_bytes())
    done = run("compare", "cel.json", "kopia.json", "-c", "teksty.jsonl", "--no-report")
    assert "same vocabulary" in done.stdout and "Fidelity" not in done.stdout
    assert "same vocabulary" in run("inspect", "cel.json", "kopia.json", "tak").stdout


def test_the_stand_in_is_named_everywhere(here, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(here / "empty"))
    words = "stand-in for APT4, not APT4"
    pair = ("cel.json", "bielik-1.5b")
    for command in (
        (
            "compare",
            *pair,
            "-c",
            "teksty.jsonl",
            *CUTS,
            "--out",
            "w.json",
            "--settings",
            "u.json",
            "--no-report",
        ),
        ("tune", *pair, "-c", "teksty.jsonl", *CUTS),
        ("inspect", *pair, "tak"),
    ):
        done = run(*command, "--offline")
        if done.exit_code == 0 and "stand-in" not in done.stderr:
            pytest.skip("the real vocabulary is in the cache here")
        assert words in " ".join(done.stdout.split()), command
        assert words in done.stderr, command
        if command[0] != "inspect":
            assert "--allow-provisional" in done.stdout
    assert words in run("models", "--json", "--offline").stdout
    assert words in Path("w.json").read_text(encoding="utf-8")
    assert settings.read(Path("u.json")).provisional


def test_a_bundled_sample_is_said(here):
    done = run("tune", "cel.json", "szkic.json", *CUTS, "--sample", "5", "--offline", "--json")
    assert done.exit_code == 0, done.output
    assert "bundled sample" in done.stderr or not json.loads(done.stdout)["corpora"][0]["fallback"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("inspect", "bielik-11", "szkic.json", "tak"), 2, "did you mean 'bielik-11b'?"),
        (("inspect", "brak.json", "szkic.json", "tak"), 2, "no file or folder 'brak.json'"),
        (("inspect", "teksty.jsonl", "szkic.json", "tak"), 1, "cannot be read"),
        (("inspect", "binarny", "szkic.json", "tak"), 1, "not UTF-8"),
        (("inspect", "folder", "szkic.json", "tak"), 1, "neither tokenizer.json nor tokenizer.model"),
        (("tune", "cel.json", "szkic.json", "-c", "plwikii"), 2, "perhaps plwiki is meant"),
        (("tune", "cel.json", "szkic.json", "-c", "brak.txt"), 2, "no file or folder 'brak.txt'"),
        (("tune", "cel.json", "szkic.json", "-c", "pusty.txt"), 1, "no text was found"),
        (("tune", "cel.json", "szkic.json", "-c", "krotki.txt"), 1, "nothing can be chosen"),
        (
            ("tune", "cel.json", "szkic.json", "-c", "teksty.jsonl", "--column", "treść"),
            2,
            "has no column 'treść'",
        ),
        (("compare", "cel.json", "szkic.json", "szkic.json", "-c", "teksty.jsonl"), 2, "given twice"),
        (("compare", "cel.json", "szkic.json", "--out", "folder"), 2, "is a folder"),
        (("compare", "cel.json", "szkic.json", "--report", "krotki.txt/r.html"), 2, "is no folder"),
        (("report", "brak.json"), 1, "cannot be read: No such file"),
        (("report", "binarny"), 1, "is no result file"),
        (("report", "cel.json"), 1, "is no result file: its schema is None"),
    ],
)
def test_failures_are_one_sentence(here, arguments, code, words):
    (here / "binarny").write_bytes(b"\x00\xff\xfe" * 50)
    (here / "pusty.txt").write_text("", encoding="utf-8")
    (here / "folder").mkdir()
    before = sorted(p.name for p in here.rglob("*"))
    assert words in failed(run(*arguments), code)
    assert sorted(p.name for p in here.rglob("*")) == before


def test_a_corpus_that_is_binary(here):
    (here / "b.txt").write_bytes(bytes(range(256)) * 20)
    message = failed(run("tune", "cel.json", "szkic.json", "-c", "b.txt"), 2)
    assert "b.txt is not text" in message


def test_options_that_do_not_exist_and_missing_arguments(here):
    done = run("compare", "cel.json")
    assert done.exit_code == 2 and "Missing argument 'DRAFT...'" in done.stderr
    done = run("compare", "cel.json", "szkic.json", "--colum", "x")
    assert done.exit_code == 2 and "--column" in done.stderr


def test_short_texts_still_give_figures(here):
    done = run("compare", "cel.json", "szkic.json", "-c", "krotki.txt", "--no-report")
    assert done.exit_code == 0, done.output
    assert "too short to choose p" in done.stdout and "characters per token" in done.stdout
    done = run("compare", "cel.json", "szkic.json", "-c", "krotki.txt", "--no-report", "--settings", "u.json")
    assert done.exit_code == 1 and "no settings were written" in done.stderr and not Path("u.json").exists()


def test_a_full_disk_names_the_file_and_leaves_the_old_one(here, monkeypatch):
    Path("u.json").write_text("stare", encoding="utf-8")

    def full(self, *args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    done = run("tune", "cel.json", "szkic.json", "-c", "teksty.jsonl", *CUTS, "--settings", "u.json")
    assert done.exit_code == 1
    assert done.stderr == "tokalign: u.json cannot be written: No space left on device; give another place.\n"
    assert Path("u.json").read_bytes() == b"stare"
    assert not list(here.glob(".*"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_standard_output_on_a_full_disk(here):
    with Path("/dev/full").open("wb") as full:
        running = process("inspect", "cel.json", "szkic.json", "tak", stdout=full, cwd=here)
        _, err = running.communicate()
    assert running.returncode == 1
    assert err.decode() == "tokalign: standard output cannot be written: No space left on device\n"


def test_a_reader_that_leaves_is_no_error(here):
    running = process("inspect", "cel.json", "szkic.json", "-", cwd=here)
    running.stdin.write(b"tak " * 20_000)
    running.stdin.close()
    running.stdout.readline()
    running.stdout.close()
    with running.stderr as stream:
        assert stream.read() == b""
    assert running.wait() == 1


def test_interrupted_while_it_works(here):
    running = process("compare", "cel.json", "szkic.json", "-c", "-", "--out", "w.json", cwd=here)
    # More than a pipe holds: once this is through, the command is reading and not starting up any more.
    running.stdin.write(b"zdanie\n" * 30_000)
    running.stdin.flush()
    time.sleep(1)  # and now it waits for more
    running.send_signal(signal.SIGINT)
    try:
        running.wait(60)
        with running.stdin, running.stdout, running.stderr as stream:
            assert stream.read().decode() == "tokalign: interrupted; nothing was written\n"
    finally:
        running.kill()
        running.wait()
    assert running.returncode == 130
    assert sorted(p.name for p in here.iterdir()) == ["cel.json", "krotki.txt", "szkic.json", "teksty.jsonl"]


def test_interrupted_between_two_files(here, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tokalign.cli.compare.save_report", stop)
    done = run(*compare("--out", "w.json"))
    assert done.exit_code == 130
    assert done.stderr.splitlines()[-1] == "tokalign: interrupted; before that, w.json was written"


def test_a_corpus_that_is_cut_off_is_used_and_told(here):
    whole = gzip.compress((here / "teksty.jsonl").read_bytes())
    (here / "t.jsonl.gz").write_bytes(whole[: len(whole) * 2 // 3])
    done = run("compare", "cel.json", "szkic.json", "-c", "t.jsonl.gz", *CUTS, "--json", "--report", "r.html")
    assert done.exit_code == 0, done.output
    assert "ATTENTION: t.jsonl.gz is damaged or incomplete (it ends inside the gzip data)" in done.stderr
    corpus = json.loads(done.stdout)["corpora"][0]
    assert corpus["skipped"][0]["kind"] == "rest of a damaged or incomplete file"
    assert corpus["documents"] > 0 and "is damaged or incomplete" in Path("r.html").read_text(encoding="utf-8")


def test_an_interrupt_says_how_to_go_on(here, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tokalign.scale.survey.SMALL", 1)
    monkeypatch.setenv("TOKALIGN_CACHE", str(here / "cache"))
    with monkeypatch.context() as patch:
        patch.setattr("tokalign.cli.compare.announce", stop)
        done = run(*compare("--workers", "1", "--shard", "0.002"))
    assert done.exit_code == 130
    assert done.stderr.splitlines()[-1] == (
        "tokalign: interrupted; nothing was written; 2 finished parts are kept: give the same command with "
        "--resume to go on from there"
    )
    done = run(*compare("--workers", "1", "--shard", "0.002", "--resume", "--no-report"))
    assert done.exit_code == 0 and "2 parts were finished by the run before" in done.stderr


def test_terminals_of_another_encoding(here):
    for arguments in (("inspect", "cel.json", "szkic.json", "Źródło 🙂"), ("models", "--offline")):
        running = process(*arguments, cwd=here, env={"PYTHONIOENCODING": "ascii"})
        _, err = running.communicate()
        assert running.returncode == 0, err
    running = process(
        "inspect", "cel.json", "szkic.json", "Źródło", "--json", cwd=here, env={"PYTHONIOENCODING": "ascii"}
    )
    assert json.loads(running.communicate()[0].decode())["text"] == "Źródło"


def test_models_and_corpora_lists(here):
    done = run("models", "--offline")
    assert done.exit_code == 0 and "bielik-11b" in done.stdout
    done = run("corpora", "--offline")
    assert done.exit_code == 0 and "plwiki" in done.stdout and "bundled sample" in done.stdout


def test_names_of_files():
    assert settings_path(Path("a/u.json"), "x/y", 1) == Path("a/u.json")
    assert settings_path(Path("a/u.json"), "x/y", 2) == Path("a/u--y.json")
    assert file_part("speakleash/Bielik-11B-v2.3-Instruct") == "Bielik-11B-v2.3-Instruct"
    assert file_part("/tmp/a b/tokenizer.json") == "tokenizer"
    assert file_part("qwen2.5-1.5b") == "qwen2.5-1.5b"


def test_a_long_text_is_aligned_as_a_whole_one():
    from tokalign.cli.inspect import _stretches
    from tokalign.passages import aligned

    texts = makers.polish_texts(3)
    pair = makers.trained(texts, 700), makers.byte_level([" Ż", "źd"])
    for text in [*texts, "x", "ż" * 500, "  dom", "źdźbło 🙂" * 100]:
        ends = [t.segment(text).ends.tolist() for t in pair]
        assert list(_stretches(text.encode(), ends)) == aligned(text, *ends)
