"""Request bodies: what is understood, what is let pass, what is refused and why."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from decoder.serve.refusals import bad

COMMON = frozenset(
    (
        "model",
        "stream",
        "stream_options",
        "stop",
        "seed",
        "temperature",
        "top_p",
        "max_tokens",
        "top_k",
        "min_p",
    )
)
CHAT = COMMON | {"messages", "max_completion_tokens"}
COMPLETION = COMMON | {"prompt"}
# Fields without influence on the text, and fields understood only at the value that asks for nothing.
LET_PASS = frozenset(
    (
        "user",
        "metadata",
        "store",
        "service_tier",
        "safety_identifier",
        "prompt_cache_key",
        "parallel_tool_calls",
    )
)
ONLY: Mapping[str, tuple[Any, ...]] = {
    "n": (1,),
    "best_of": (1,),
    "echo": (False,),
    "suffix": ("",),
    "logprobs": (False, 0),
    "top_logprobs": (0,),
    "logit_bias": ({},),
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "response_format": ({"type": "text"},),
    "modalities": (["text"],),
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "functions": ([],),
    "function_call": ("none", "auto"),
}
ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
STOPS = 4


@dataclass(frozen=True)
class Defaults:
    """What a request that does not say gets; ``max_tokens`` is also the most that one may ask for;
    ``lookup`` is not for requests to say."""

    max_tokens: int = 2048
    temperature: float = 0.0
    top_p: float = 0.0
    top_k: int = 0
    min_p: float = 0.0
    lookup: bool = False


@dataclass(frozen=True)
class Asked:
    """A request that was understood. ``prompt`` is messages, a text or the target's ids."""

    model: str
    prompt: Any
    max_tokens: int
    temperature: float
    top_p: float
    top_k: int
    min_p: float
    seed: int
    stop: tuple[str, ...]
    stream: bool
    include_usage: bool
    lookup: bool = False

    @property
    def chat(self) -> bool:
        """Whether the prompt is messages."""
        return isinstance(self.prompt, list) and isinstance(self.prompt[0], dict)


def parse(raw: bytes) -> dict[str, Any]:
    """The body as an object.

    Raises:
        Refused: it is no JSON object in UTF-8, or holds half of a surrogate pair.
    """
    try:
        body = json.loads(raw.decode(), parse_constant=_no_number)
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise bad(
            None, "the body holds half of a surrogate pair, which is no text; send whole characters."
        ) from None
    except UnicodeDecodeError as error:
        raise bad(None, f"the body is not UTF-8 (byte {error.start}); encode it so.") from None
    except (ValueError, RecursionError) as error:
        where = (
            f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        )
        raise bad(None, f"the body is no valid JSON{where}; send one JSON object.") from None
    if not isinstance(body, dict):
        raise bad(None, "the body is not a JSON object; send one.")
    return body


def chat(body: Mapping[str, Any], defaults: Defaults) -> Asked:
    """A request to ``/v1/chat/completions``.

    Raises:
        Refused: a field is unknown, missing or cannot be used.
    """
    _known(body, CHAT)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise bad("messages", "'messages' is missing or empty; give a list with at least one message.")
    name = "max_completion_tokens" if body.get("max_completion_tokens") is not None else "max_tokens"
    return _asked(body, [_message(m, n) for n, m in enumerate(messages)], name, defaults.max_tokens, defaults)


def completion(body: Mapping[str, Any], defaults: Defaults) -> Asked:
    """A request to ``/v1/completions``; without ``max_tokens`` it gets 16 tokens, as OpenAI's does.

    Raises:
        Refused: a field is unknown, missing or cannot be used.
    """
    _known(body, COMPLETION)
    prompt = body.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], (str, list)):
        prompt = prompt[0]
    ids = isinstance(prompt, list) and prompt and all(type(i) is int for i in prompt)
    if not isinstance(prompt, str) and not ids:
        raise bad("prompt", "'prompt' must be one text or one list of token ids.")
    return _asked(body, prompt, "max_tokens", min(16, defaults.max_tokens), defaults)


def _asked(body: Mapping[str, Any], prompt: Any, limit: str, usual: int, defaults: Defaults) -> Asked:
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise bad("model", "'model' is missing; name one that /v1/models lists.")
    stream = _flag(body, "stream")
    options = body.get("stream_options")
    if options is not None and not (stream and isinstance(options, dict)):
        raise bad("stream_options", "'stream_options' must be an object, and only with 'stream': true.")
    seed = body.get("seed")
    if seed is not None and type(seed) is not int:
        raise bad("seed", "'seed' must be an integer.")
    return Asked(
        model,
        prompt,
        int(_number(body, limit, usual, 1, defaults.max_tokens, whole=True)),
        _number(body, "temperature", defaults.temperature, 0, 2),
        _number(body, "top_p", defaults.top_p, 0, 1),
        int(_number(body, "top_k", defaults.top_k, 0, math.inf, whole=True)),
        _number(body, "min_p", defaults.min_p, 0, 1),
        secrets.randbits(31) if seed is None else seed,
        _stop(body.get("stop")),
        stream,
        _flag(options or {}, "include_usage"),
        defaults.lookup,
    )


def _known(body: Mapping[str, Any], understood: frozenset[str]) -> None:
    for name, value in body.items():
        if name in understood or name in LET_PASS or value is None:
            continue
        if name not in ONLY:
            raise bad(name, f"Unrecognized request argument supplied: {name}", "unknown_parameter")
        if value not in ONLY[name]:
            raise bad(name, f"{name!r} is not supported here; leave it out.", "unsupported_parameter")


def _message(message: Any, n: int) -> dict[str, str]:
    at = f"messages[{n}]"
    if not isinstance(message, dict):
        raise bad(at, f"'{at}' must be an object with 'role' and 'content'.")
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str) or role not in ROLES:
        raise bad(f"{at}.role", f"the role of '{at}' must be one of {', '.join(ROLES)}.")
    if content is None and role == "assistant":
        content = ""
    if isinstance(content, list):
        content = "".join(_part(part, at) for part in content)
    if not isinstance(content, str):
        raise bad(f"{at}.content", f"the content of '{at}' must be a text or a list of text parts.")
    return {"role": ROLES[role], "content": content}


def _part(part: Any, at: str) -> str:
    if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
        return str(part["text"])
    raise bad(f"{at}.content", f"'{at}' has a part that is no text; only parts of type 'text' are understood.")


def _stop(value: Any) -> tuple[str, ...]:
    stops = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(stops, list) or len(stops) > STOPS or not all(isinstance(s, str) and s for s in stops):
        raise bad("stop", f"'stop' must be a text or a list of at most {STOPS} texts, none of them empty.")
    return tuple(stops)


def _flag(body: Mapping[str, Any], name: str) -> bool:
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise bad(name, f"'{name}' must be true or false.")
    return bool(value)


def _number(
    body: Mapping[str, Any], name: str, usual: float, low: float, high: float, *, whole: bool = False
) -> float:
    value = body.get(name)
    if value is None:
        return usual
    kinds: tuple[type, ...] = (int,) if whole else (int, float)
    if type(value) not in kinds or not low <= value <= high:
        upper = "" if high == math.inf else f" and at most {high:g}"
        what = "an integer" if whole else "a number"
        raise bad(name, f"'{name}' must be {what} of at least {low:g}{upper}.")
    return value


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


READERS: Mapping[str, Callable[[Mapping[str, Any], Defaults], Asked]] = {
    "chat": chat,
    "completion": completion,
}
