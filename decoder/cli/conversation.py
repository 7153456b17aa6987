"""The state of a conversation: its messages, the models' caches, the figures of its replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from decoder.generation import GenerationResponse, Pair
from decoder.session import Session
from decoder.stats import Stats, total


class Conversation:
    """Messages so far and how to go on. ``options`` are those of `stream_generate`, without the seed."""

    def __init__(self, pair: Pair, system: str | None, seed: int, options: Mapping[str, Any]) -> None:
        self.system = system
        self.session = Session(pair)
        self.messages: list[dict[str, str]] = []
        self.stats: list[Stats] = []
        self.last: GenerationResponse | None = None
        self._seed, self._options, self._replies = seed, options, 0

    def reset(self) -> None:
        """Forget the messages and what the models know of them; the system message stays."""
        self.messages.clear()
        self.session.reset()

    @property
    def total(self) -> Stats | None:
        """The figures of all finished replies together."""
        return total(self.stats)

    def ask(self, question: str) -> Iterator[GenerationResponse]:
        """The reply. Closing the iterator ends it; the history keeps what was given out.

        A question whose reply fails, or is ended before any text came, is taken back.
        """
        prompt = [*self._opening(), *self.messages, {"role": "user", "content": question}]
        parts: list[str] = []
        finished = False
        seed = self._seed + self._replies
        try:
            with closing(self.session.stream(prompt, seed=seed, **self._options)) as found:  # type: ignore[type-var]
                for response in found:
                    parts.append(response.text)
                    self._note(response)
                    finished = response.finish_reason is not None
                    yield response
        finally:
            if finished or any(parts):
                self._replies += 1
                self.messages.append({"role": "user", "content": question})
                self.messages.append({"role": "assistant", "content": "".join(parts)})

    def _opening(self) -> list[dict[str, str]]:
        return [] if self.system is None else [{"role": "system", "content": self.system}]

    def _note(self, response: GenerationResponse) -> None:
        if response.stats is not None:
            self.last = response
            self.stats.append(response.stats)
