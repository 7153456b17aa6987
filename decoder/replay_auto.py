"""The adaptive policy under replay: it is told the times that the profile gives instead of measured ones."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from decoder.cost import Setup
from decoder.policy import Adaptive, KnownCosts


class Auto:
    """The policy behind ``k = auto`` with a draft model and without lookup, as a policy to replay.

    It starts from the profile's costs and drafts at most ``longest`` tokens. It does not stop inside a draft,
    because a recording does not say how sure the draft was.
    """

    def __init__(self, setup: Setup, longest: int) -> None:
        self._setup = setup
        self._policy = Adaptive(KnownCosts(**setup.known()), longest=longest)

    def choose(self) -> int:
        """See `Adaptive.draft_length`, which does not look at the state."""
        return self._policy.draft_length(cast(Any, None))

    def observe(self, k: int, candidates: int, accepted: int) -> None:
        """Tell of a round what a real one would."""
        s, p = self._setup, self._setup.profile
        drafting = p.draft_s(k, s.context, draft=s.draft, feed=s.feed)
        done = SimpleNamespace(
            k=k,
            proposal=SimpleNamespace(
                drafted=(0,) * k, confidence=(), draft_s=drafting, translate_s=p.translate_s(s.draft) or 0.0
            ),
            candidates=(0,) * candidates,
            accepted=accepted,
            tokens=(0,) * (accepted + 1),
            verify_s=s.verify_s(candidates + 1) if k else p.plain_s(s.context),
            host_s=p.host_s(s.draft) or 0.0,
        )
        self._policy.observe(cast(Any, done))
