"""What stands before every route: the key, the host, the count of answers."""

from __future__ import annotations

import hmac
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from decoder.serve.refusals import Refused

OPEN = ("/health",)
LOCAL = ("localhost", "127.0.0.1", "::1")


class Guard:
    """Refuses requests without the key, or, where there is none, those that name another host than this one:
    a page in a browser that lets a name of its own point here must not get at the models."""

    def __init__(self, app: ASGIApp, key: str | None, local: bool, count: Callable[[str, int], None]) -> None:
        self._app = app
        self._key = key.encode() if key is not None else None
        self._local = local
        self._count = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._count(scope["path"], message["status"])
            await send(message)

        refused = None if scope["path"] in OPEN else self._refusal(Headers(scope=scope))
        await (self._app if refused is None else refused.response())(scope, receive, counted)

    def _refusal(self, headers: Headers) -> Refused | None:
        if self._key is not None:
            scheme, _, given = headers.get("authorization", "").partition(" ")
            same = hmac.compare_digest(given.strip().encode("latin-1"), self._key)
            if scheme.lower() == "bearer" and same:
                return None
            message = "the API key is missing or wrong; send it as the header 'Authorization: Bearer KEY'."
            return Refused(401, message, code="invalid_api_key")
        host = headers.get("host", "").rpartition("@")[2]
        if self._local and _name(host) not in LOCAL:
            return Refused(
                403, f"the host {host!r} is not this machine; use 127.0.0.1, or start with an API key."
            )
        return None


def _name(host: str) -> str:
    """The host without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()
