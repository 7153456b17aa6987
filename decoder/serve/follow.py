"""Following a job from its request: pieces as they come, an end as soon as the client leaves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect, Request

from decoder.serve.metrics import Metrics
from decoder.serve.refusals import Refused
from decoder.serve.reply import Piece
from decoder.serve.worker import Closing, Ticket
from decoder.session import Session
from tokalign.errors import TokalignError, UsageError

log = logging.getLogger("decoder.serve")


async def follow(ticket: Ticket[Session], request: Request, metrics: Metrics) -> AsyncIterator[Piece]:
    """The pieces of a reply. When the client leaves, the work stops, whatever is being waited for.

    Raises:
        ClientDisconnect: the client left.
        Refused: the server closed before the reply could be written.
    """
    leaving = asyncio.ensure_future(_left(ticket, request, metrics))
    metered = Meter(ticket, metrics)
    try:
        while (piece := await _next(ticket, leaving)) is not None:
            if piece.finish is not None:
                await ticket.next()  # its end: the worker is free before the client hears the last of it
                leaving.cancel()
            metered.note(piece)
            yield piece
            if piece.finish is not None:
                return
    except Closing:
        raise closing() from None
    finally:
        leaving.cancel()
        ticket.cancel()


async def _next(ticket: Ticket[Session], leaving: asyncio.Future[None]) -> Piece | None:
    step = asyncio.ensure_future(ticket.next())
    try:
        await asyncio.wait({step, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not step.done():
            raise ClientDisconnect
        piece: Piece | None = step.result()
        return piece
    finally:
        step.cancel()


async def _left(ticket: Ticket[Session], request: Request, metrics: Metrics) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    ticket.cancel()
    metrics.cancelled()


class Meter:
    """Takes a reply's times and, with its last piece, its figures."""

    def __init__(self, ticket: Ticket[Session], metrics: Metrics) -> None:
        self._ticket, self._metrics = ticket, metrics
        self._begun = False

    def note(self, piece: Piece) -> None:
        """Take note of a piece."""
        begun = self._ticket.begun
        if begun is None:
            return
        if not self._begun:
            self._begun = True
            self._metrics.took("queue_seconds", begun - self._ticket.submitted)
            self._metrics.took("first_token_seconds", piece.at - begun)
        if piece.stats is not None:
            self._metrics.took("reply_seconds", piece.at - begun)
            self._metrics.replied(piece.prompt_tokens, piece.cached, piece.stats)


def closing() -> Refused:
    """The answer while the server shuts down."""
    return Refused(503, "the server is shutting down; try again later.", code="shutting_down", retry_after=5)


def refusal(error: Exception) -> Refused:
    """The answer to anything that went wrong; what nobody foresaw goes into the log with its traceback."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, TokalignError):
        return Refused(400 if isinstance(error, UsageError) else 500, str(error))
    log.error("a reply failed", exc_info=error)
    return Refused(500, "the server failed at this request; its log says more.")
