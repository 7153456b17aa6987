"""Answers that say no: OpenAI's error object with one clear sentence."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import JSONResponse

TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class Refused(Exception):
    """A request that is not carried out. ``param`` is the field at fault, ``code`` a word for programs."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.param, self.code = status, message, param, code
        self.retry_after = retry_after

    def body(self) -> dict[str, Mapping[str, str | None]]:
        """The error object."""
        kind = TYPES.get(self.status, "server_error" if self.status >= 500 else "invalid_request_error")
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}

    def response(self) -> JSONResponse:
        """The whole answer."""
        headers = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return JSONResponse(self.body(), self.status, headers)


def bad(param: str | None, message: str, code: str | None = None) -> Refused:
    """A field that cannot be used."""
    return Refused(400, message, param=param, code=code)
