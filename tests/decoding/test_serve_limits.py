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
from decoding.serving import BODY, CHAT, HELLO, post, until  # noqa: E402


@pytest.fixture
def server():
    with serving.running(lambda: serving.Stepwise(serving.pair()), queue=2, defaults=Defaults(64)) as running:
        yield running
        running.session.let()


@pytest.fixture
def pool():
    with ThreadPoolExecutor(8) as made:
        yield made


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
