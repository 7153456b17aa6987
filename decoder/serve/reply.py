"""From a request to pieces of a reply, and from pieces to OpenAI's objects."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from decoder.generation import encode_prompts
from decoder.serve.refusals import bad
from decoder.serve.schema import Asked
from decoder.session import Session
from decoder.stats import Stats
from tokalign.errors import TokalignError


@dataclass(frozen=True, slots=True)
class Piece:
    """One token's text, without tensors. ``stats`` come with the last; ``at`` is by ``perf_counter``."""

    text: str
    prompt_tokens: int
    cached: int
    tokens: int
    finish: str | None
    stats: Stats | None
    at: float = field(default_factory=time.perf_counter)


def write(asked: Asked, session: Session) -> Generator[Piece, None, None]:
    """Carry a request out; on the worker's thread.

    Raises:
        Refused: the prompt does not fit the model.
    """
    check(asked, session)
    found = session.stream(
        asked.prompt,
        max_tokens=asked.max_tokens,
        temperature=asked.temperature,
        top_p=asked.top_p,
        top_k=asked.top_k,
        min_p=asked.min_p,
        seed=asked.seed,
        stop=asked.stop,
        lookup=asked.lookup,
    )
    for r in found:
        yield Piece(r.text, r.prompt_tokens, session.reused, r.generation_tokens, r.finish_reason, r.stats)


def check(asked: Asked, session: Session) -> None:
    """Refuse a prompt that the model has no ids or no room for.

    Raises:
        Refused: see above.
    """
    target = session.pair.target
    field = "messages" if asked.chat else "prompt"
    if isinstance(asked.prompt, list) and isinstance(asked.prompt[0], int):
        wrong = next((i for i in asked.prompt if not 0 <= i < len(target.tokenizer.vocabulary.table)), None)
        if wrong is not None:
            raise bad("prompt", f"the token id {wrong} is not in the model's vocabulary.")
    try:
        length = len(encode_prompts(session.pair, asked.prompt)[0])
    except TokalignError as error:  # a chat template that refuses the conversation
        raise bad(field, str(error)) from error
    longest = getattr(getattr(target.model, "args", None), "max_position_embeddings", None)
    if isinstance(longest, int) and length + asked.max_tokens > longest:
        raise bad(
            field,
            f"the prompt's {length} tokens and {asked.max_tokens} new ones exceed the model's context of "
            f"{longest}; shorten the prompt or lower max_tokens.",
            "context_length_exceeded",
        )


@dataclass(frozen=True)
class Form:
    """The objects of one reply; ``kind`` is 'chat' or 'completion'."""

    kind: str
    model: str
    include_usage: bool = False
    created: int = field(default_factory=lambda: int(time.time()))
    id: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "id", ("chatcmpl-" if self.kind == "chat" else "cmpl-") + secrets.token_hex(12)
        )

    def whole(self, pieces: Sequence[Piece]) -> dict[str, Any]:
        """The answer to a request without ``stream``."""
        text = "".join(p.text for p in pieces)
        choice: dict[str, Any] = {"index": 0, "logprobs": None, "finish_reason": pieces[-1].finish}
        if self.kind == "chat":
            choice["message"] = {"role": "assistant", "content": text, "refusal": None}
        else:
            choice["text"] = text
        return self._object("chat.completion", [choice]) | {"usage": usage(pieces[-1])}

    def first(self) -> bytes:
        """The event before all text: the role, in a chat."""
        return self._event(self._choice({"role": "assistant", "content": ""})) if self.kind == "chat" else b""

    def events(self, piece: Piece) -> bytes:
        """The events of one piece; none where it has no text, all the closing ones with the last."""
        parts = []
        if self.kind == "completion" and (piece.text or piece.finish):
            parts.append(self._event(self._choice(piece.text, piece.finish)))
        elif self.kind == "chat":
            if piece.text:
                parts.append(self._event(self._choice({"content": piece.text})))
            if piece.finish:
                parts.append(self._event(self._choice({}, piece.finish)))
        if piece.finish and self.include_usage:
            parts.append(event(self._object("chat.completion.chunk", []) | {"usage": usage(piece)}))
        return b"".join(parts) + (DONE if piece.finish else b"")

    def _choice(self, content: Any, finish: str | None = None) -> dict[str, Any]:
        key = "delta" if self.kind == "chat" else "text"
        return {"index": 0, key: content, "logprobs": None, "finish_reason": finish}

    def _event(self, choice: dict[str, Any]) -> bytes:
        extra = {"usage": None} if self.include_usage else {}
        return event(self._object("chat.completion.chunk", [choice]) | extra)

    def _object(self, name: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        name = name if self.kind == "chat" else "text_completion"
        return {
            "id": self.id,
            "object": name,
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }


DONE = b"data: [DONE]\n\n"


def event(value: Any) -> bytes:
    """One server-sent event; whole characters, since text comes in whole characters."""
    return b"data: " + json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"


def usage(last: Piece) -> dict[str, Any]:
    """OpenAI's usage, and how the draft did: an object ``speculation`` with all of the run's figures."""
    return {
        "prompt_tokens": last.prompt_tokens,
        "completion_tokens": last.tokens,
        "total_tokens": last.prompt_tokens + last.tokens,
        "prompt_tokens_details": {"cached_tokens": last.cached},
        "speculation": last.stats.as_dict() if last.stats else None,
    }
