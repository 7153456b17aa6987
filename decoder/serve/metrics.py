"""Figures of the running server, in Prometheus's format: one table of counters, read by the docs too."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from decoder.stats import Stats

SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
COUNTERS = {
    "prompt_tokens": "Prompt tokens of the target.",
    "cached_prompt_tokens": "Prompt tokens of the target that its cache held already.",
    "tokens": "Tokens written.",
    "rounds": "Passes of the target after the prompt.",
    "drafted_tokens": "Tokens that the draft model wrote.",
    "proposed_tokens": "Candidates that the target verified.",
    "accepted_tokens": "Candidates that the target chose too.",
    "refused_in_translation_tokens": "Candidates with the right text in other tokens than the target's.",
}
TIMES = {
    "queue_seconds": "From a request to the beginning of its work.",
    "first_token_seconds": "From the beginning of the work to the first token.",
    "reply_seconds": "From the beginning of the work to its end.",
}
ROUTES = ("/v1/models", "/v1/chat/completions", "/v1/completions", "/health", "/metrics")


class Metrics:
    """The server's registry; ``running`` and ``waiting`` are asked whenever it is read."""

    def __init__(self, running: Callable[[], int], waiting: Callable[[], int]) -> None:
        self.registry = r = CollectorRegistry()
        self._requests = Counter(
            "decoder_requests", "Answers by route and status.", ["route", "status"], registry=r
        )
        self._cancelled = Counter("decoder_cancelled_replies", "Replies whose client left.", registry=r)
        self._counters = {n: Counter(f"decoder_{n}", text, registry=r) for n, text in COUNTERS.items()}
        self._times = {
            n: Histogram(f"decoder_{n}", text, buckets=SECONDS, registry=r) for n, text in TIMES.items()
        }
        Gauge("decoder_running_replies", "Replies being written.", registry=r).set_function(running)
        Gauge("decoder_waiting_requests", "Requests in the queue.", registry=r).set_function(waiting)

    def answered(self, path: str, status: int) -> None:
        """Count an answer."""
        self._requests.labels(path if path in ROUTES else "other", str(status)).inc()

    def cancelled(self) -> None:
        """Count a reply that nobody waited for any more."""
        self._cancelled.inc()

    def replied(self, prompt: int, cached: int, stats: Stats) -> None:
        """Add up a finished reply."""
        values = {
            "prompt_tokens": prompt,
            "cached_prompt_tokens": cached,
            "tokens": stats.tokens,
            "rounds": stats.rounds,
            "drafted_tokens": stats.drafted,
            "proposed_tokens": stats.proposed,
            "accepted_tokens": stats.accepted,
            "refused_in_translation_tokens": stats.refused_in_translation,
        }
        for name, value in values.items():
            self._counters[name].inc(value)

    def took(self, name: str, seconds: float) -> None:
        """Note one of ``TIMES``."""
        self._times[name].observe(seconds)

    def page(self) -> bytes:
        """All of it in the text format."""
        return generate_latest(self.registry)
