"""A model with its cache: tokens go in, logits come out, tokens are taken back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import mlx.core as mx
from mlx_lm.models.cache import make_prompt_cache

from decoder.errors import CacheError, UntrimmableCache

PREFILL = 2048  # tokens per prefill step, mlx-lm's own default


def read_ids(ids: mx.array) -> tuple[int, ...]:
    """Ids of shape (n,) on the host; waits until they are computed."""
    return tuple(cast(list[int], ids.tolist()))


class Lane:
    """One model's key-value cache, with its length counted by us and checked after every change."""

    def __init__(self, model: Any, cache: list[Any] | None = None, length: int = 0) -> None:
        self.model = model
        self.cache = make_prompt_cache(model) if cache is None else cache
        self.length = length

    def prefill(self, ids: Sequence[int]) -> None:
        """Feed tokens whose logits nobody asks for, in steps of bounded memory."""
        for begin in range(0, len(ids), PREFILL):
            part = ids[begin : begin + PREFILL]
            self.model(mx.array([list(part)]), cache=self.cache)
            mx.eval([c.state for c in self.cache])
            self.length += len(part)
            mx.clear_cache()

    def feed(self, ids: mx.array) -> mx.array:
        """Feed tokens of shape (n,); lazy logits of shape (n, vocabulary)."""
        self.length += ids.shape[0]
        return self.model(ids[None], cache=self.cache)[0]

    @property
    def trimmable(self) -> bool:
        """Whether tokens can always be taken back."""
        return all(_kind(c)[1] for c in self.cache)

    def trim(self, n: int) -> None:
        """Take the last ``n`` tokens back.

        Raises:
            CacheError: the cache gave back another number than was asked, so it no longer holds the text.
        """
        if n == 0:
            return
        trimmed = [c.trim(n) if c.is_trimmable() else 0 for c in self.cache]
        if any(t != n for t in trimmed):
            raise CacheError(
                f"a cache of {self.length} tokens gave back {min(trimmed)} instead of {n}; decoding stops here "
                "because its output could no longer be trusted."
            )
        self.length -= n


def require_trimmable(model: Any, role: str, name: str) -> None:
    """Refuse a model whose cache cannot be trimmed, naming the kinds of layer that cannot.

    Raises:
        UntrimmableCache: some layer's cache is rotating, recurrent or otherwise without a way back.
    """
    kinds = [kind for kind, trimmable in cache_kinds(model) if not trimmable]
    if kinds:
        names = ", ".join(sorted(set(kinds)))
        layers = "1 layer" if len(kinds) == 1 else f"{len(kinds)} layers"
        raise UntrimmableCache(
            f"the {role} {name!r} keeps {names} in {layers}, which cannot take tokens back; "
            "use a model with plain attention caches, or decode without a draft."
        )


def cache_kinds(model: Any) -> list[tuple[str, bool]]:
    """For each layer the kind of its cache, and whether it can always take tokens back.

    A rotating or chunked cache can, but only until it is full, which generation may bring about.
    """
    return [_kind(cache) for cache in make_prompt_cache(model)]


def _kind(cache: Any) -> tuple[str, bool]:
    parts = [type(c).__name__ for c in (cache, *getattr(cache, "caches", ()))]
    bounded = next((p for p in parts if "Rotating" in p or "Chunked" in p), None)
    return bounded or parts[0], bounded is None and cache.is_trimmable()
