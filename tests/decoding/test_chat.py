"""A conversation on a terminal and in a pipe."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from decoder.cli import cli
from decoder.cli.conversation import Conversation
from decoder.cli.prompting import talk_over
from decoder.generation import stream_generate
from decoder.stats import total
from decoding import makers as tiny

N = 12


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> tuple[str, str]:
    base = tmp_path_factory.mktemp("models")
    pair = tiny.PAIRS["sentencepiece-from-bytes"]()
    return tuple(
        str(tiny.save_model(base / n, t, s)) for s, (n, t) in enumerate(zip("ab", pair, strict=True), 1)
    )


def conversation(system: str | None = None, **options) -> Conversation:
    return Conversation(tiny.random_pair("sentencepiece-from-bytes"), system, 0, {"max_tokens": N, **options})


def replies(questions, system=None, seed=0, **options):
    """What fresh generations answer, and the messages they leave."""
    pair = tiny.random_pair("sentencepiece-from-bytes")
    messages = [] if system is None else [{"role": "system", "content": system}]
    found = []
    for n, question in enumerate(questions):
        messages.append({"role": "user", "content": question})
        done = stream_generate(pair, messages, max_tokens=N, seed=seed + n, **options)
        found.append("".join(r.text for r in done))
        messages.append({"role": "assistant", "content": found[-1]})
    return found, messages


def run(folders, given: str | bytes, *options: str, draft: bool = True):
    command = ["chat", folders[0], *(folders[1:] if draft else ()), "-n", str(N), *options]
    return CliRunner().invoke(cli, command, input=given)


@pytest.mark.parametrize("draft", (True, False))
def test_in_a_pipe_replies_are_all_of_the_output(folders, draft):
    done = run(folders, "Ala ma kota\n\nA pies?\r\n", "--system", "Krótko", draft=draft)
    assert done.exit_code == 0
    assert done.stdout == "".join(r + "\n" for r in replies(("Ala ma kota", "A pies?"), "Krótko")[0])
    assert done.stderr == ""


def test_sampling_and_lookup(folders):
    done = run(folders, "Ala\nkot", "--temperature", "0.8", "--seed", "3", "--lookup", draft=False)
    wanted = replies(("Ala", "kot"), temperature=0.8, seed=3)[0]
    assert done.stdout == "".join(r + "\n" for r in wanted)


def test_commands(folders):
    lines = (
        "/stats",
        "Ala",
        "/stats",
        "/system Krótko",
        "/nie",
        "/reset",
        "kot",
        "/system",
        "//reset",
        "/help",
    )
    done = run(folders, "\n".join((*lines, "/quit", "nigdy")))
    alone = [replies(("Ala",))[0][0], replies(("kot",), "Krótko")[0][0]]
    last = replies(("kot",), "Krótko")[1][1:]
    pair = tiny.random_pair("sentencepiece-from-bytes")
    slash = "".join(
        r.text for r in stream_generate(pair, [*last, {"role": "user", "content": "/reset"}], max_tokens=N)
    )
    assert done.stdout == "".join(r + "\n" for r in (*alone, slash))
    for words in ("no reply was finished", "tokens per target pass", "conversation: 12 tokens in 1 replies",
                  "no command /nie", "begins anew", "there is no system message now", "Ctrl-C"):  # fmt: skip
        assert words in done.stderr, words


@pytest.mark.parametrize(
    ("options", "words"),
    (
        (("--lookup",), "leave out either it or DRAFT"),
        (("--temperature", "-1"), "temperature is -1"),
        (("--repetition-penalty", "0"), "must be above 0"),
        (("--translation", "magic"), "no translation 'magic'"),
    ),
)
def test_options_that_cannot_be_met(folders, options, words):
    done = run(folders, "Ala\n", *options)
    assert done.exit_code == 2 and words in done.stderr and "Traceback" not in done.output


def test_options_about_a_draft_without_one(folders):
    assert "name one after TARGET" in run(folders, "", "--hold-back", draft=False).stderr
    assert "name a draft model" in run(folders, "", "-k", "3", draft=False).stderr


def test_a_line_that_is_no_text(folders):
    done = run(folders, b"Ala\n\xff\n")
    assert done.exit_code == 2 and "line 2 of standard input is no UTF-8" in done.stderr


def test_a_reply_that_is_stopped_stays_as_far_as_it_was_written():
    talk = conversation()
    found = talk.ask("Ala ma kota")
    parts = [next(found).text for _ in range(5)]
    found.close()
    assert [m["role"] for m in talk.messages] == ["user", "assistant"]
    assert talk.messages[1]["content"] == "".join(parts) != ""
    pair = tiny.random_pair("sentencepiece-from-bytes")
    asked = [*talk.messages, {"role": "user", "content": "A pies?"}]
    wanted = [r.token for r in stream_generate(pair, asked, max_tokens=N, seed=1)]
    assert [r.token for r in talk.ask("A pies?")] == wanted
    assert talk.session.reused > 10


def test_a_question_whose_reply_fails_is_taken_back(capsys):
    talk = conversation()
    list(talk.ask("Ala"))
    before = list(talk.messages)
    talk.session.pair.target.wrapper.chat_template = "{{ raise_exception('nie tak') }}"
    talk_over(talk, iter(["kot", "/quit"]), live=True)
    assert talk.messages == before and "nie tak" in capsys.readouterr().err


def test_figures_add_up():
    talk = conversation(k=3)
    for question in ("Ala", "kot"):
        list(talk.ask(question))
    assert talk.total == total(talk.stats) and talk.total.tokens == sum(s.tokens for s in talk.stats)
    talk.reset()
    assert talk.messages == []


def read_until(fd: int, pattern: str, seconds: float = 60) -> str:
    """What a terminal shows, up to a pattern."""
    shown, end = "", time.monotonic() + seconds
    while not re.search(pattern, shown):
        left = end - time.monotonic()
        assert left > 0 and select.select([fd], [], [], left)[0], f"no {pattern!r} in {shown!r}"
        shown += os.read(fd, 65536).decode(errors="replace")
    return shown


def test_on_a_terminal(folders):
    """Ctrl-C ends a reply and not the conversation; Ctrl-D leaves."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "decoder", "chat", *folders, "-n", "100000", "-k", "2"]
    root = str(Path(__file__).parents[2])
    env = os.environ | {"PYTHONPATH": root, "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True
    )
    os.close(theirs)
    try:
        assert "/help" in read_until(ours, "> ")
        os.write(ours, b"/system x\n")
        read_until(ours, "message is set(.|\n)*> ")
        os.write(ours, b"Ala ma kota\n")
        read_until(ours, "kota\r\n(.|\n){40}")
        process.send_signal(signal.SIGINT)
        read_until(ours, "stopped(.|\n)*> ")
        while not select.select([ours], [], [], 0.5)[0]:  # one that comes before input() waits is not heard
            process.send_signal(signal.SIGINT)
        read_until(ours, "leaves")
        os.write(ours, b"/stats\n")
        read_until(ours, "no reply was finished")
        os.write(ours, b"\x04")
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
