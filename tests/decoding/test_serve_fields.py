"""Requests that cannot be met are refused by the field at fault, in one sentence."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("starlette", reason="the extra 'serve' is not installed")
pytest.importorskip("uvicorn", reason="the extra 'serve' is not installed")
pytest.importorskip("prometheus_client", reason="the extra 'serve' is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")

from decoder.serve.schema import Defaults
from decoding import serving
from decoding.serving import BODY, CHAT, post


@pytest.fixture(scope="module")
def server():
    with serving.running(lambda: serving.Stepwise(serving.pair()), queue=2, defaults=Defaults(64)) as running:
        yield running
        running.session.let()


USER = {"role": "user", "content": "a"}
WRONG = {
    "no messages": ({"messages": []}, "messages"),
    "messages no list": ({"messages": "a"}, "messages"),
    "a role": ({"messages": [USER | {"role": "tool"}]}, "messages[0].role"),
    "a picture": (
        {"messages": [USER | {"content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
        "messages[0].content",
    ),
    "no content": ({"messages": [{"role": "user"}]}, "messages[0].content"),
    "unknown": ({"temprature": 1}, "temprature"),
    "tools": ({"tools": [{"type": "function"}]}, "tools"),
    "json": ({"response_format": {"type": "json_object"}}, "response_format"),
    "penalty": ({"frequency_penalty": 0.5}, "frequency_penalty"),
    "temperature": ({"temperature": "hot"}, "temperature"),
    "boolean temperature": ({"temperature": True}, "temperature"),
    "top_p": ({"top_p": 1.5}, "top_p"),
    "max_tokens": ({"max_tokens": 0}, "max_tokens"),
    "too many tokens": ({"max_tokens": 65}, "max_tokens"),
    "seed": ({"seed": 1.5}, "seed"),
    "stop": ({"stop": ["a"] * 5}, "stop"),
    "empty stop": ({"stop": ""}, "stop"),
    "stream": ({"stream": "yes"}, "stream"),
    "stream options": ({"stream_options": {}}, "stream_options"),
    "no model": ({"model": None}, "model"),
    "surrogate": ({"user": "\ud800"}, None),
}


@pytest.mark.parametrize("which", WRONG)
def test_fields_that_cannot_be_used_are_named(server, which):
    changes, param = WRONG[which]
    with server.client() as client:
        headers = {"Content-Type": "application/json"}
        reply = client.post(CHAT, content=json.dumps(BODY | changes), headers=headers)
    assert reply.status_code == 400
    error = reply.json()["error"]
    assert error["param"] == param and error["type"] == "invalid_request_error"
    assert "\n" not in error["message"]


@pytest.mark.parametrize(
    "raw", (b"", b"{", b"[]", b"\xff", b'{"a": NaN}', b"[" * 100_000, b"1" * 5000), ids=repr
)
def test_a_body_that_is_no_json_object(server, raw):
    with server.client() as client:
        reply = client.post(CHAT, content=raw, headers={"Content-Type": "application/json"})
        assert reply.status_code == 400 and reply.json()["error"]["message"].startswith("the body")
        assert client.post(CHAT, content=raw, headers={"Content-Type": "text/plain"}).status_code == 415


def test_what_openai_knows_and_what_changes_nothing_is_let_pass(server):
    server.session.let()
    ignored = {"user": "u", "n": 1, "presence_penalty": 0, "logit_bias": {}, "tools": None, "store": True}
    parts = [
        {"role": "developer", "content": "b"},
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
    ]
    assert post(server, messages=parts, **ignored).status_code == 200
    assert server.session.prompts[-1] == [{"role": "system", "content": "b"}, {"role": "user", "content": "a"}]


@pytest.mark.parametrize(
    ("prompt", "words"),
    (([10**6], "token id 1000000"), ([], "'prompt'"), (["a", "b"], "'prompt'"), (None, "'prompt'")),
)
def test_prompts_that_cannot_be_used(server, prompt, words):
    with server.client() as client:
        reply = client.post("/v1/completions", json={"model": "tiny", "prompt": prompt})
    assert reply.status_code == 400 and words in reply.json()["error"]["message"]


def test_other_addresses_and_methods(server):
    with server.client() as client:
        assert client.get("/v1/nothing").json()["error"]["type"] == "invalid_request_error"
        assert client.get(CHAT).status_code == 405


def test_a_prompt_beyond_the_context():
    def make():
        session = serving.Session(serving.pair())
        session.pair.target.model.args.max_position_embeddings = 20
        return session

    with serving.running(make) as running:
        try:
            reply = post(running)
        finally:
            running.session.pair.target.model.args.max_position_embeddings = None
    assert reply.status_code == 400 and reply.json()["error"]["code"] == "context_length_exceeded"
