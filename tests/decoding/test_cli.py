"""The command line as its users meet it: text, tables, JSON, and how it fails."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from decoder import load_pair, stream_generate
from decoder.cli import cli
from decoding import makers as tiny
from decoding.test_generation import made_settings
from tokalign import __version__
from tokalign import settings as settings_file


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with the models cel, szkic (another vocabulary), brat (the target's) and bez (no template)."""
    root = tmp_path_factory.mktemp("cli")
    target, draft = tiny.PAIRS["sentencepiece-from-bytes"]()
    tiny.save_model(root / "cel", target, 1)
    tiny.save_model(root / "szkic", draft, 2)
    tiny.save_model(root / "brat", target, 3)
    tiny.save_model(root / "bez", draft, 2, template=None)
    fingerprints = (target.fingerprint, draft.fingerprint)
    settings_file.write(made_settings(*fingerprints), root / "ustawienia.json")
    return root


@pytest.fixture
def here(made, monkeypatch) -> Path:
    monkeypatch.chdir(made)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return made


def run(*arguments: str, **options) -> Result:
    return CliRunner().invoke(cli, list(arguments), **options)


def failed(done: Result, code: int) -> str:
    """The one line of a command that failed, without its prefix; standard output is empty."""
    assert done.exit_code == code, done.output
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert len(lines) == 1 and lines[0].startswith("decoder: "), done.stderr
    return lines[0].removeprefix("decoder: ")


def process(*arguments: str, **options) -> subprocess.Popen:
    root = str(Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": root, "HF_HUB_OFFLINE": "1"} | options.pop("env", {})
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.Popen([sys.executable, "-m", "decoder", *arguments], env=environment, **options)


def text_of(prompt, n: int = 12, **options) -> str:
    return "".join(r.text for r in stream_generate(load_pair("cel"), prompt, max_tokens=n, **options))


CHAT = [{"role": "user", "content": "Ala ma"}]


def test_version():
    done = run("--version")
    assert (done.exit_code, done.stdout) == (0, f"decoder {__version__}\n")


def test_help_is_quick():
    process("--help").communicate()
    begun = time.perf_counter()
    out, _ = process("--help").communicate()
    assert b"generate" in out and time.perf_counter() - begun < 3  # 0.1 s on an idle machine


def test_the_draft_changes_nothing_that_is_written(here):
    wanted = text_of(CHAT) + "\n"
    for more in ((), ("-d", "szkic"), ("-d", "brat", "-k", "2"), ("--lookup",), ("-d", "szkic", "-k", "auto")):
        done = run("generate", "cel", "Ala ma", "-n", "12", *more)
        assert (done.exit_code, done.stdout, done.stderr) == (0, wanted, ""), more
    for name in ("none", "naive", "counted:5", "context:2"):
        done = run("generate", "cel", "Ala ma", "-n", "12", "-d", "szkic", "--translation", name)
        assert done.stdout == wanted
    done = run("generate", "cel", "Ala ma", "-n", "12", "-d", "szkic", "--hold-back", "--no-heal", "--float32")
    assert done.stdout == wanted


def test_raw_text_and_a_system_message(here):
    assert run("generate", "cel", "Ala ma", "-n", "8", "--raw").stdout == text_of("Ala ma", 8) + "\n"
    system = [{"role": "system", "content": "Krótko."}, *CHAT]
    done = run("generate", "cel", "Ala ma", "-n", "8", "--system", "Krótko.", "-d", "szkic")
    assert done.stdout == text_of(system, 8) + "\n"
    assert run("generate", "bez", "Ala", "-n", "3").exit_code == 0  # without a template the text goes as it is


def test_the_prompt_from_standard_input(here):
    done = run("generate", "cel", "-", "-n", "8", "--raw", input=b"Ala ma")
    assert done.stdout == text_of("Ala ma", 8) + "\n"
    assert "byte 1" in failed(run("generate", "cel", "-", input=b"a\xff"), 2)


def test_sampling_is_the_same_under_a_seed(here):
    options = ("--temperature", "0.8", "--top-p", "0.9", "--top-k", "40", "--min-p", "0.01", "--seed", "5")
    sampled = {"temperature": 0.8, "top_p": 0.9, "top_k": 40, "min_p": 0.01, "seed": 5}
    plain = run("generate", "cel", "Ala ma", "-n", "12", *options)
    drafted = run("generate", "cel", "Ala ma", "-n", "12", "-d", "szkic", "-k", "3", *options)
    assert plain.stdout == drafted.stdout == text_of(CHAT, **sampled) + "\n"
    assert plain.stdout != run("generate", "cel", "Ala ma", "-n", "12").stdout


def test_a_repetition_penalty_and_a_stop_text(here):
    penalized = run(
        "generate", "cel", "Ala ma", "-n", "12", "--repetition-penalty", "2.5", "-d", "szkic", "-k", "2"
    )
    alone = run("generate", "cel", "Ala ma", "-n", "12", "--repetition-penalty", "2.5", "-k", "0")
    assert penalized.stdout == alone.stdout
    whole = text_of(CHAT)
    stop = next(c for c in whole[2:] if c.isalnum())
    done = run("generate", "cel", "Ala ma", "-n", "12", "--stop", stop, "--stop", "zzz")
    assert done.stdout == whole.partition(stop)[0] + "\n"


def test_json_is_pure_and_complete(here):
    done = run("generate", "cel", "Ala ma", "-n", "12", "-d", "szkic", "-k", "3", "--json")
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert found["text"] == text_of(CHAT) and len(found["ids"]) == 12
    assert (found["target"], found["draft"], found["translation"], found["k"]) == (
        "cel",
        "szkic",
        "anchored",
        3,
    )
    assert found["finish_reason"] == "length" and found["prompt_tokens"] > 2
    stats = found["stats"]
    assert stats["tokens"] == 12 and stats["proposed"] >= stats["accepted"] and "tokens_per_pass" in stats
    alone = json.loads(run("generate", "cel", "Ala ma", "-n", "3", "-k", "0", "--json").stdout)
    assert alone["draft"] is None and alone["translation"] is None and alone["stats"]["acceptance"] is None


def test_settings_are_used(here):
    found = json.loads(
        run("generate", "cel", "A", "-n", "2", "-d", "szkic", "--settings", "ustawienia.json", "--json").stdout
    )
    assert found["translation"] == "context:2"
    line = failed(run("generate", "cel", "A", "-d", "brat", "--settings", "ustawienia.json"), 1)
    assert "made for the draft vocabulary" in line


def test_stats_go_to_standard_error(here):
    done = run("generate", "cel", "Ala ma", "-n", "12", "-d", "szkic", "-k", "3", "--stats")
    assert done.stdout == text_of(CHAT) + "\n"
    names = (
        "rounds,proposed,accepted,acceptance,tokens per target pass,lost to translation,"
        "lost to model disagreement,without a candidate,merges,inside a letter,"
        "in draft,in translation,in verification,in host"
    )
    for name in names.split(","):
        assert name in done.stderr
    bare = run("generate", "cel", "Ala ma", "-n", "2", "-k", "0", "--stats").stderr
    assert "—" in next(line for line in bare.splitlines() if line.startswith("acceptance"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    (
        (("./", "A"), "the target './' cannot be loaded"),
        (("cel", "A", "-d", "./"), "the draft './' cannot be loaded"),
        (("cel", "A", "-d", "szkic", "--settings", "nie-ma.json"), "cannot be read"),
    ),
)
def test_failures_are_one_line_and_exit_1(here, arguments, words):
    assert words in failed(run("generate", *arguments), 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    (
        (("--lookup", "-d", "szkic"), "leave out either it or --draft"),
        (("--settings", "ustawienia.json"), "--settings is about a draft"),
        (("--translation", "naive"), "--translation is about a draft"),
        (("--no-heal",), "--no-heal is about a draft"),
        (("-k", "3"), "-k is about drafts"),
        (("-d", "szkic", "--translation", "context"), "there is no translation 'context'"),
        (("--raw", "--system", "x"), "leave out --raw"),
        (("--temperature", "-1"), "temperature is -1"),
        (("--temperature", "1", "--top-p", "2"), "top_p is 2"),
        (("--repetition-penalty", "0"), "above 0"),
    ),
)
def test_what_cannot_be_met_is_one_line_and_exit_2(here, arguments, words):
    assert words in failed(run("generate", "cel", "A", *arguments), 2)


def test_wrong_values_of_options_exit_2(here):
    assert run("generate", "cel", "A", "-k", "ala").exit_code == 2
    assert run("generate", "cel", "A", "-k", "65").exit_code == 2
    assert run("generate", "cel", "A", "-n", "0").exit_code == 2
    assert "no chat template" in failed(run("generate", "bez", "A", "--chat"), 2)
    assert "no chat template" in failed(run("generate", "bez", "A", "--system", "x"), 2)


def test_what_has_no_effect_is_said(here):
    done = run("generate", "cel", "A", "-n", "2", "--top-p", "0.9")
    assert done.exit_code == 0 and "--top-p has no effect at temperature 0" in done.stderr


def test_text_is_whole_letters_at_every_write(here):
    written = []
    from decoder.cli import generate as command

    original = command.echo_text
    command.echo_text = written.append
    try:
        run("generate", "cel", "Ala ma", "-n", "30", "-d", "szkic", "-k", "4")
    finally:
        command.echo_text = original
    assert len(written) > 5 and "".join(written) == text_of(CHAT, 30) + "\n"


def test_an_interrupt_keeps_what_was_written(here):
    running = process("generate", "cel", "Ala ma", "-n", "1000000", "--raw", cwd=here)
    first = running.stdout.read(1)
    running.send_signal(signal.SIGINT)
    out, errors = running.communicate(timeout=60)
    assert running.returncode == 130 and first
    assert out.endswith(b"\n")
    line = errors.decode().splitlines()[-1]
    assert line.startswith("decoder: interrupted; ") and line.endswith(" tokens were written")


def test_an_interrupt_of_json_writes_nothing(here):
    running = process("generate", "cel", "Ala ma", "-n", "1000000", "--raw", "--json", cwd=here)
    time.sleep(6)
    running.send_signal(signal.SIGINT)
    out, errors = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, b"")
    assert errors.decode().splitlines()[-1] == "decoder: interrupted; nothing was written"


def test_a_closed_pipe_is_quiet(here):
    running = process("generate", "cel", "Ala ma", "-n", "1000000", "--raw", cwd=here)
    running.stdout.read(1)
    running.stdout.close()
    assert running.wait(timeout=60) == 1
    assert running.stderr.read() == b""
    running.stderr.close()


def test_check_says_how_a_pair_works(here):
    done = run("check", "cel", "szkic")
    assert done.exit_code == 0 and done.stderr == ""
    assert done.stdout.startswith("Works: drafts are translated through bytes")
    for words in (
        "fingerprint",
        "padding",
        "dummy prefix",
        "<|im_end|>",
        "chat template",
        "KVCache × 2",
        "first id",
    ):
        assert words in done.stdout
    assert run("check", "cel", "brat").stdout.startswith("Works: both have one vocabulary")
    assert "the draft has no chat template" in run("check", "cel", "bez").stdout
    found = json.loads(run("check", "cel", "szkic", "--json").stdout)
    assert found["works"] and found["target"]["name"] == "cel" and not found["same_vocabulary"]


def test_check_refuses_what_cannot_work(here, monkeypatch):
    from mlx_lm.models.cache import RotatingKVCache

    monkeypatch.setattr(
        "mlx_lm.models.llama.Model.make_cache",
        lambda self: [RotatingKVCache(8) for _ in self.layers],
        raising=False,
    )
    done = run("check", "cel", "szkic")
    assert done.exit_code == 1 and done.stdout.startswith(
        "Cannot work: the target keeps RotatingKVCache in 2 layers"
    )
    assert "Also: the draft keeps" in done.stdout
    found = run("check", "cel", "szkic", "--json")
    assert found.exit_code == 1 and json.loads(found.stdout)["works"] is False
    assert "cannot take tokens back" in failed(run("generate", "cel", "A", "-d", "szkic"), 2)


def test_check_of_what_is_no_model(here):
    assert "there is no draft 'nie-ma'" in failed(run("check", "cel", "nie-ma"), 2)
    assert "there is no target 'nie-ma'" in failed(run("generate", "nie-ma", "A"), 2)
