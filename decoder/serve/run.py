"""The server's life: a socket, requests, an end that lets the running reply finish."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import threading
from collections.abc import Callable, Generator
from types import FrameType
from typing import Any

import uvicorn

from decoder.errors import ServeError
from decoder.serve.worker import Worker

STOP_S = 5.0  # how long the worker's thread may take to notice that it should end


class Server(uvicorn.Server):
    """Uvicorn's server. The first signal closes: what runs is finished, what waits is turned away. The second
    ends at once. A signal is a normal end and is not raised again."""

    def __init__(self, app: Any, worker: Worker[Any], announce: Callable[[], None] = lambda: None) -> None:
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", server_header=False, proxy_headers=False
        )
        super().__init__(config)
        self._worker, self._announce = worker, announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        self._announce()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal came."""
        if self.should_exit:
            self.force_exit = True
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # what is cut off now is no error
        self.should_exit = True
        self._worker.close()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Hear SIGINT and SIGTERM while serving, where a thread can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        signals = (signal.SIGINT, signal.SIGTERM)
        for sig in signals:
            loop.add_signal_handler(sig, self.handle_exit, sig, None)
        try:
            yield
        finally:
            for sig in signals:
                loop.remove_signal_handler(sig)


def bind(host: str, port: int) -> socket.socket:
    """A bound socket that does not listen yet, so that an address in use is known before models are loaded.

    Raises:
        ServeError: the address cannot be used.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
        except OSError:
            bound.close()
            raise
        return bound
    except OSError as error:
        why = error.strerror or error
        raise ServeError(
            f"cannot listen on {host} port {port}: {why}; choose others with --host and --port."
        ) from None


def serve(app: Any, worker: Worker[Any], bound: socket.socket, announce: Callable[[], None]) -> None:
    """Serve until a signal comes; ``announce`` is called when requests are heard."""
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    server = Server(app, worker, announce)
    try:
        asyncio.run(server.serve(sockets=[bound]))
    finally:
        worker.stop(STOP_S)
