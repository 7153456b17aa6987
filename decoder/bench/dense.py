"""What a draft would have given at every position of a text: recorded once, replayed under any policy.

A recording of ordinary rounds knows a draft only where its own rounds began. Here the draft is asked at every
position of the target's plain output, and for every length up to ``LONGEST`` the candidates and how many of
them are right are kept. So any sequence of draft lengths can be replayed exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from decoder.drafters import ModelDrafter
from decoder.generation import Pair, encode_prompts
from decoder.lane import Lane
from decoder.loop import agreement
from tokalign.translate import Tail

LONGEST = 8


@dataclass(frozen=True)
class Place:
    """One position. ``candidates[k-1]`` and ``accepted[k-1]`` are those of a draft of k tokens; a draft that
    would stop earlier has fewer entries. ``confidence`` is the draft's own, one a token."""

    candidates: tuple[int, ...]
    accepted: tuple[int, ...]
    confidence: tuple[float, ...]


@dataclass(frozen=True)
class Dense:
    """A recording: the target's plain output, one place for each of its tokens, and the prompt before it."""

    group: str
    tokens: tuple[int, ...]
    places: tuple[Place, ...]
    prompt: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> Dense:
        """From JSON."""
        places = tuple(
            Place(*(tuple(p[f]) for f in ("candidates", "accepted", "confidence"))) for p in row["places"]
        )
        return cls(row["group"], tuple(row["tokens"]), places, tuple(row.get("prompt", ())))


def record(pair: Pair, prompt: str, group: str, tokens: Sequence[int]) -> Dense:
    """Ask the pair's draft model at every position of ``tokens``, the target's plain output after ``prompt``."""
    if pair.draft is None:
        raise ValueError("a recording needs a draft model")
    target_ids, draft_ids = encode_prompts(pair, prompt)
    bridge = pair.strategy.bridge(pair.target.tokenizer, pair.draft.tokenizer)
    drafter = ModelDrafter(
        Lane(pair.draft.model),
        pair.draft.tokenizer,
        bridge,
        draft_ids,
        pair.draft.eos,
        pair.healer,
        lambda confidence: True,
        pair.allowed,
    )
    tail = Tail.of(pair.target.tokenizer, target_ids)
    places = []
    for at, token in enumerate(tokens):
        proposal = drafter.propose(tail, LONGEST)
        candidates, accepted = [], []
        for k in range(1, len(proposal.drafted) + 1):
            rest = len(pair.draft.tokenizer.decode(proposal.drafted[k:]))
            text = proposal.text[: len(proposal.text) - rest]
            ids = bridge.propose(tail, proposal.drafted[:k], text).ids
            candidates.append(len(ids))
            accepted.append(agreement(ids, tokens[at:]) if len(tokens) > at else 0)
        places.append(Place(tuple(candidates), tuple(accepted), proposal.confidence))
        drafter.follow((token,))
        tail = tail.extend(pair.target.tokenizer, (token,))
    return Dense(group, tuple(tokens), tuple(places), tuple(target_ids))
