"""A server on a real loopback socket, with a tiny model or one that waits to be let on."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx

from decoder.serve.app import make_app
from decoder.serve.run import Server, bind
from decoder.serve.worker import Worker
from decoder.session import Session
from decoding import makers as tiny

KEY = "klucz-do-prob"
HELLO = [{"role": "user", "content": tiny.PROMPT}]

BODY = {"model": "tiny", "messages": HELLO, "max_tokens": 6}
CHAT = "/v1/chat/completions"


class Stepwise(Session):
    """A session that writes a token only when it is let; ``begun`` and ``closed`` say how it went."""

    def __init__(self, pair):
        super().__init__(pair)
        self.steps = threading.Semaphore(0)
        self.begun: list[float] = []
        self.closed = 0
        self.prompts: list[Any] = []

    def stream(self, prompt, **options):
        self.begun.append(time.monotonic())
        self.prompts.append(prompt)
        try:
            for response in super().stream(prompt, **options):
                self.steps.acquire()
                yield response
        finally:
            self.closed += 1

    def let(self, n: int = 1000) -> None:
        self.steps.release(n)


@dataclass
class Running:
    url: str
    server: Server
    worker: Worker
    session: Any
    thread: threading.Thread = field(repr=False)

    def client(self, key: str | None = None, **options: Any) -> httpx.Client:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False, **options)

    def openai(self, key: str = "unused", **options: Any):
        import openai

        client = httpx.Client(trust_env=False, timeout=30)
        return openai.OpenAI(
            base_url=self.url + "/v1", api_key=key, http_client=client, max_retries=0, **options
        )


def pair():
    return tiny.random_pair("sentencepiece-from-bytes")


@contextlib.contextmanager
def running(make: Callable[[], Session], queue: int = 4, **options: Any) -> Iterator[Running]:
    """A server in a thread of this process; ``make`` makes its models on its worker's thread."""
    worker: Worker[Session] = Worker(make, queue)
    session = worker.start()
    bound = bind("127.0.0.1", 0)
    heard = threading.Event()
    server = Server(make_app(worker, "tiny", **options), worker, heard.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    assert heard.wait(20)
    try:
        yield Running(f"http://127.0.0.1:{bound_port(bound, server)}", server, worker, session, thread)
    finally:
        server.should_exit = server.force_exit = True
        worker.stop(5)
        thread.join(10)
        bound.close()


def bound_port(bound: socket.socket, server: Server) -> int:
    return bound.getsockname()[1]


def until(true: Callable[[], object], seconds: float = 10) -> bool:
    """Whether something came true in time."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def post(server, **changes):
    with server.client() as client:
        return client.post(CHAT, json=BODY | changes)
