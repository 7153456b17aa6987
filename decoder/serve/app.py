"""The routes."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from math import ceil

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from decoder.serve.follow import closing, follow, refusal
from decoder.serve.guard import Guard
from decoder.serve.metrics import Metrics
from decoder.serve.refusals import Refused
from decoder.serve.reply import Form, Piece, event, write
from decoder.serve.schema import READERS, Asked, Defaults, parse
from decoder.serve.worker import Closing, Full, Ticket, Worker
from decoder.session import Session

LEFT = 499  # nginx's number for a client that left; nobody is there to read it


@dataclass(frozen=True)
class Service:
    """What the routes need. ``model`` is the name that requests must give, ``max_body`` in bytes."""

    model: str
    worker: Worker[Session]
    metrics: Metrics
    defaults: Defaults
    max_body: int
    created: int


def make_app(
    worker: Worker[Session],
    model: str,
    *,
    key: str | None = None,
    local: bool = True,
    defaults: Defaults | None = None,
    max_body: int = 1 << 20,
) -> Starlette:
    """The application. ``local`` refuses requests to other hosts than this machine where there is no key."""
    metrics = Metrics(lambda: int(worker.running is not None), lambda: worker.waiting)
    app = Starlette(
        routes=[
            Route("/v1/models", _models),
            Route("/v1/models/{name:path}", _one_model),
            Route("/v1/chat/completions", partial(_answer, kind="chat"), methods=["POST"]),
            Route("/v1/completions", partial(_answer, kind="completion"), methods=["POST"]),
            Route("/health", _health),
            Route("/metrics", _metrics),
        ],
        middleware=[Middleware(Guard, key=key, local=local, count=metrics.answered)],
        exception_handlers={Refused: _refused, HTTPException: _no_route, Exception: _refused},
    )
    app.state.service = Service(model, worker, metrics, defaults or Defaults(), max_body, int(time.time()))
    return app


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def _models(request: Request) -> Response:
    return JSONResponse({"object": "list", "data": [_model(_service(request))]})


async def _one_model(request: Request) -> Response:
    service = _service(request)
    _check_model(request.path_params["name"], service)
    return JSONResponse(_model(service))


def _model(service: Service) -> dict[str, str | int]:
    return {"id": service.model, "object": "model", "created": service.created, "owned_by": "decoder"}


async def _health(request: Request) -> Response:
    ends = _service(request).worker.closing
    return JSONResponse({"status": "closing" if ends else "ok"}, 503 if ends else 200)


async def _metrics(request: Request) -> Response:
    return Response(_service(request).metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def _answer(request: Request, kind: str) -> Response:
    service = _service(request)
    try:
        asked = READERS[kind](parse(await _body(request, service.max_body)), service.defaults)
        _check_model(asked.model, service)
        pieces = follow(_submit(asked, service), request, service.metrics)
        first = await anext(pieces)  # what goes wrong before it can still be answered with a status
        form = Form(kind, service.model, asked.include_usage)
        if asked.stream:
            headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
            return StreamingResponse(_events(form, first, pieces), 200, headers, "text/event-stream")
        return JSONResponse(form.whole([first] + [p async for p in pieces]))
    except ClientDisconnect:
        return Response(status_code=LEFT)
    except Exception as error:
        return refusal(error).response()


async def _body(request: Request, limit: int) -> bytes:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refused(415, "the body must be JSON; send the header 'Content-Type: application/json'.")
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size <= limit:
            parts.append(part)
        elif size > 16 * limit:  # up to here it is read and thrown away, so that the client gets to the answer
            break
    if size > limit:
        raise Refused(413, f"the body is larger than {limit:,} bytes; send a shorter conversation.")
    return b"".join(parts)


def _check_model(name: str, service: Service) -> None:
    if name != service.model:
        message = f"the model {name!r} is not served here; use {service.model!r}."
        raise Refused(404, message, param="model", code="model_not_found")


def _submit(asked: Asked, service: Service) -> Ticket[Session]:
    try:
        return service.worker.submit(partial(write, asked))
    except Full as full:
        after = min(60, max(1, ceil(full.wait_s)))
        message = f"{service.worker.limit} requests wait already; try again in {after} s."
        raise Refused(429, message, code="queue_full", retry_after=after) from None
    except Closing:
        raise closing() from None


async def _events(form: Form, first: Piece, rest: AsyncIterator[Piece]) -> AsyncIterator[bytes]:
    """The body of a streamed reply; what goes wrong in the middle of it is its last event."""
    yield form.first() + form.events(first)
    try:
        async for piece in rest:
            if data := form.events(piece):
                yield data
    except ClientDisconnect:
        return
    except Exception as error:
        yield event(refusal(error).body())


async def _refused(request: Request, error: Exception) -> Response:
    return refusal(error).response()


async def _no_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    what = {404: "there is no such address here", 405: "this address takes another method"}
    message = f"{what.get(error.status_code, error.detail)}: {request.method} {request.url.path}."
    return JSONResponse(Refused(error.status_code, message).body(), error.status_code, error.headers)
