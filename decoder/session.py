"""What two models' caches hold between prompts, so that the next prompt feeds only what is new.

    session = Session(pair)
    for response in session.stream([{"role": "user", "content": "Co to jest bursztyn?"}]):
        print(response.text, end="")

Each model keeps the longest beginning that its new prompt shares with what its cache holds, by ids; the rest
is taken back and fed anew. The tokens are those of a generation that starts from nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from decoder.drafters import AutoDrafter, Drafter, ModelDrafter
from decoder.errors import CacheError
from decoder.generation import GenerationResponse, Pair, Prompt, stream_generate
from decoder.lane import Lane
from decoder.loop import Round


class Kept:
    """One model's lane and the ids it holds.

    ``ids`` begin with those in the cache and may go on beyond them. They are None while a round is under way:
    a generation that ends there, by an error or an interrupt, leaves a cache that nothing is known of.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.lane = Lane(model)
        self.ids: Sequence[int] | None = ()

    def take(self, prompt: Sequence[int]) -> Lane:
        """The lane, holding as much of the beginning of ``prompt`` as it can, but never its last token."""
        keep = 0 if self.ids is None else min(common(self.ids, prompt[:-1]), self.lane.length)
        known, self.ids = self.ids is not None, None
        if not known or not self._trimmed(keep):
            self.lane = Lane(self.model)
        return self.lane

    def _trimmed(self, keep: int) -> bool:
        """Whether the lane could be brought back to its first ``keep`` tokens."""
        if self.lane.length == keep:
            return True
        if keep == 0 or not self.lane.trimmable:
            return False
        try:
            self.lane.trim(self.lane.length - keep)
        except CacheError:
            return False
        return True


class Session:
    """A pair of models whose caches outlive a generation: a conversation, or a server's worker.

    One generation at a time: the last must be finished or closed before another begins.
    ``reused`` counts the target's prompt tokens that the last generation found in its cache.
    """

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.reused = 0
        self.reset()

    def reset(self) -> None:
        """Forget everything; frees the caches."""
        self.target = Kept(self.pair.target.model)
        self.draft = Kept(self.pair.draft.model) if self.pair.draft is not None else None

    def stream(self, prompt: Prompt, **options: Any) -> Iterator[GenerationResponse]:
        """:func:`decoder.generation.stream_generate`, which takes the same options, from the kept caches.

        The iterator may be closed at any point.
        """
        return stream_generate(self.pair, prompt, session=self, **options)

    def lanes(
        self, target_ids: Sequence[int], draft_ids: Sequence[int], *, lookup: bool
    ) -> tuple[Lane, Lane | None]:
        """Both lanes, made ready for a prompt; none for the draft where its model does not draft."""
        target = self.target.take(target_ids)
        self.reused = target.length
        return target, None if self.draft is None or lookup else self.draft.take(draft_ids)

    def noting(self, prompt: Sequence[int], drafter: Drafter, rounds: Iterator[Round]) -> Iterator[Round]:
        """The rounds, with note taken between them of what the lanes hold."""
        ids = list(prompt)
        model = drafter.model if isinstance(drafter, AutoDrafter) else drafter
        for done in rounds:
            ids += done.tokens
            self.target.ids = ids
            if self.draft is not None and isinstance(model, ModelDrafter):
                self.draft.ids = model.stream
            yield done
            if done.state.finish is None:
                self.target.ids = None
                if self.draft is not None and isinstance(model, ModelDrafter):
                    self.draft.ids = None


def common(a: Sequence[int], b: Sequence[int]) -> int:
    """The length of the longest common beginning."""
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
