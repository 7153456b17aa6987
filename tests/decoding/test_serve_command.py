"""``decoder serve`` as a process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra 'serve' is not installed")
pytest.importorskip("uvicorn", reason="the extra 'serve' is not installed")
pytest.importorskip("prometheus_client", reason="the extra 'serve' is not installed")
httpx = pytest.importorskip("httpx", reason="httpx is not installed")

from click.testing import CliRunner  # noqa: E402

from decoder.cli import cli  # noqa: E402
from decoding import makers as tiny  # noqa: E402


@pytest.mark.parametrize("sig", (signal.SIGTERM, signal.SIGINT))
def test_it_serves_until_a_signal(tmp_path, sig):
    pair = tiny.PAIRS["sentencepiece-from-bytes"]()
    folders = [
        str(tiny.save_model(tmp_path / n, t, s)) for s, (n, t) in enumerate(zip("ab", pair, strict=True), 1)
    ]
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "DECODER_API_KEY": "tajny"}
    command = [sys.executable, "-m", "decoder", "serve", *folders, "--port", "0", "--max-tokens", "32"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True
    ) as process:
        try:
            said = process.stderr.readline()
            url = re.search(r"^a is served at (http://127\.0\.0\.1:\d+/v1); Ctrl-C ends\.$", said)
            assert url, said
            body = {"model": "a", "messages": [{"role": "user", "content": "Ala"}]}
            headers = {"Authorization": "Bearer tajny"}
            with httpx.Client(trust_env=False, timeout=30) as client:
                assert client.get(url[1] + "/models").status_code == 401
                reply = client.post(url[1] + "/chat/completions", json=body, headers=headers).json()
            assert 1 <= reply["usage"]["completion_tokens"] <= 32
            process.send_signal(sig)
            out, err = process.communicate(timeout=30)
            assert (process.returncode, out, err) == (0, "", "")
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("options", "words"),
    (
        (("--host", "0.0.0.0"), "lets other machines in"),
        (("--host", "example.org"), "lets other machines in"),
        (("--api-key", " "), "API key is empty"),
        (("--api-key", "żółć"), "other than printable ASCII"),
        (("--temperature", "-1"), "temperature is -1"),
        (("--hold-back",), "name one after TARGET"),
        (("--port", "0"), "there is no target 'nothing'"),
    ),
)
def test_what_cannot_be_served_is_one_sentence(options, words, monkeypatch):
    monkeypatch.delenv("DECODER_API_KEY", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    done = CliRunner().invoke(cli, ["serve", "nothing", *options])
    assert done.exit_code in (1, 2) and words in done.stderr
    assert done.stderr.startswith("decoder: ") and done.stderr.count("\n") == 1


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    done = CliRunner().invoke(cli, ["serve", "nothing"])
    assert done.exit_code == 2 and "pip install 'tokalign-decoder[serve]'" in done.stderr
