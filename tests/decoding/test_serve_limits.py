"""What the server does when too much comes, when clients leave, and when it ends."""

from __future__ import annotations

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("starlette", reason="the extra 'serve' is not installed")
pytest.importorskip("uvicorn", reason="the extra 'serve' is not installed")
pytest.importorskip("prometheus_client", reason="the extra 'serve' is not installed")
httpx = pytest.importorskip("httpx", reason="httpx is not installed")

from decoder.errors import ServeError  # noqa: E402
from decoder.serve.run import bind  # noqa: E402
from decoder.serve.schema import Defaults  # noqa: E402
from decoding import serving  # noqa: E402
from decoding.serving import HELLO, until  # noqa: E402

BODY = {"model": "tiny", "messages": HELLO, "max_tokens": 6}
CHAT = "/v1/chat/completions"


@pytest.fixture
def server():
    with serving.running(lambda: serving.Stepwise(serving.pair()), queue=2, defaults=Defaults(64)) as running:
        yield running
        running.session.let()


@pytest.fixture
def pool():
    with ThreadPoolExecutor(8) as made:
        yield made


def post(server, **changes):
    with server.client() as client:
        return client.post(CHAT, json=BODY | changes)


def test_the_queue_is_fair_and_full_at_its_limit(server, pool):
    first = pool.submit(post, server)
    assert until(lambda: server.worker.running)
    later = []
    for n in range(2):
        later.append(pool.submit(post, server, messages=[{"role": "user", "content": f"pytanie {n}"}]))
        assert until(lambda n=n: server.worker.waiting == n + 1)
    refused = post(server)
    assert refused.status_code == 429 and int(refused.headers["retry-after"]) >= 1
    assert refused.json()["error"]["type"] == "rate_limit_error"
    server.session.let()
    assert [f.result().status_code for f in (first, *later)] == [200] * 3
    assert [p[-1]["content"] for p in server.session.prompts] == [HELLO[0]["content"], "pytanie 0", "pytanie 1"]


@pytest.mark.parametrize("stream", (True, False))
def test_when_the_client_leaves_the_work_stops(server, stream):
    raw = send(server, BODY | {"stream": stream, "max_tokens": 64})
    assert until(lambda: server.session.begun)
    server.session.let(3)
    raw.close()
    assert until(lambda: server.worker.running is None or server.session.let(1))
    assert server.session.closed == 1
    server.session.let()
    assert post(server).status_code == 200
    with server.client() as client:
        assert "decoder_cancelled_replies_total 1.0" in client.get("/metrics").text


def test_a_client_that_leaves_while_waiting_leaves_the_queue(server, pool):
    first = pool.submit(post, server)
    assert until(lambda: server.worker.running)
    raw = send(server, BODY)
    assert until(lambda: server.worker.waiting == 1)
    raw.close()
    assert until(lambda: server.worker.waiting == 0)
    server.session.let()
    assert first.result().status_code == 200 and len(server.session.begun) == 1


def send(server, body) -> socket.socket:
    """A request whose socket is ours to close."""
    host, port = server.url.removeprefix("http://").split(":")
    data = json.dumps(body).encode()
    raw = socket.create_connection((host, int(port)))
    head = f"POST {CHAT} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    raw.sendall(head.encode() + f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
    return raw


def test_shutting_down_finishes_what_runs_and_turns_the_rest_away(server, pool):
    running = pool.submit(post, server, stream=True)
    assert until(lambda: server.worker.running)
    waiting = pool.submit(post, server)
    assert until(lambda: server.worker.waiting == 1)
    server.session.let(2)
    server.server.handle_exit(15, None)
    assert waiting.result().status_code == 503
    server.session.let()
    done = running.result()
    assert done.status_code == 200 and done.content.endswith(b"data: [DONE]\n\n")
    server.thread.join(10)
    assert not server.thread.is_alive()
    with pytest.raises(httpx.ConnectError):
        post(server)


def test_while_shutting_down_new_requests_get_503(server):
    server.worker.close()
    refused = post(server)
    assert refused.status_code == 503 and refused.headers["retry-after"]
    with server.client() as client:
        assert client.get("/health").status_code == 503


def test_a_second_signal_ends_at_once(server, pool):
    running = pool.submit(post, server)
    assert until(lambda: server.worker.running)
    server.server.handle_exit(2, None)
    server.server.handle_exit(2, None)
    server.thread.join(10)
    assert not server.thread.is_alive()
    server.session.let()
    assert isinstance(running.exception(), httpx.HTTPError) or running.result().status_code in (500, 503)


def test_a_failure_in_the_middle_is_the_last_event(server):
    inner = serving.Session.stream

    def failing(self, prompt, **options):
        for n, response in enumerate(inner(self, prompt, **options)):
            if n == 2:
                raise RuntimeError("no memory")
            yield response

    server.session.stream = failing.__get__(server.session)
    streamed = post(server, stream=True)
    assert streamed.status_code == 200
    last = json.loads(streamed.content.split(b"\n\n")[-2][6:])
    assert last["error"]["type"] == "server_error" and "no memory" not in str(last)
    assert post(server).status_code == 500


def test_requests_are_limited_in_size(server):
    with server.client() as client:
        for size in (1 << 20, 1 << 22):
            reply = client.post(CHAT, json=BODY | {"user": "x" * size})
            assert reply.status_code == 413 and "1,048,576 bytes" in reply.json()["error"]["message"]

        def parts():
            for _ in range(40):
                yield b" " * 65536

        headers = {"Content-Type": "application/json"}
        assert client.post(CHAT, content=parts(), headers=headers).status_code == 413


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


def test_an_address_in_use_is_one_sentence():
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ServeError, match=f"port {port}: Address already in use"):
            bind("127.0.0.1", port)
    with pytest.raises(ServeError, match=r"cannot listen on no\.such\.host\.invalid"):
        bind("no.such.host.invalid", 0)


def test_a_worker_that_cannot_begin_says_why():
    from decoder.serve.worker import Worker

    def make():
        raise ServeError("no model.")

    with pytest.raises(ServeError, match="no model"):
        Worker(make, 1).start()
    assert threading.active_count() < 50
