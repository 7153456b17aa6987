"""Why drafted tokens did not come through: every lost token of a round in one class.

A round offers slots. Slot j stands for the j-th target token from the round's begin. There are as many slots
as candidates, or more where the drafted text holds more of the tokens that came (they were never proposed).
The accepted ones come first; each of the others is lost:

- ``translation``: the j-th token that came lies wholly inside drafted text that was right. The draft had it;
  other tokens were proposed, or none. (A candidate that goes on with wrong text is none of these.)
- ``cut``: the text was right as far as it goes, but the draft ended inside the token.
- ``disagreement``: the text is not what came.
- ``context``: the same, where the draft did not stand behind the committed text, because the way back to its
  vocabulary had changed it. What it would have written behind the right text is not known, so this is an upper
  bound of what the way back costs.
- ``unknown``: the run ended before it could be told.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from decoder.bridge import AsPublished, Bridge, SameIds
from decoder.generation import Pair
from decoder.stats import Trace
from decoder.strategy import same_vocabulary
from tokalign.tokenizers import Tokenizer
from tokalign.translate import Tail


@dataclass(frozen=True)
class Lost:
    """The lost slots of one round in order, and how many of them were never proposed."""

    kinds: tuple[str, ...]
    never_proposed: int


class Emitted:
    """All text of a run, with the byte ends of its tokens."""

    def __init__(self, tokenizer: Tokenizer, traces: Sequence[Trace]) -> None:
        self._table = table = tokenizer.vocabulary.table
        ids = [i for t in traces for i in t.tokens]
        self.sizes = [len(table[i]) if i < len(table) else 0 for i in ids]
        self.ends = list(accumulate(self.sizes))
        self.text = tokenizer.decode(ids)
        self.starts = [0, *accumulate(len(t.tokens) for t in traces)]

    def right(self, trace: Trace, index: int) -> tuple[int, int, int]:
        """For round ``index``: the bytes of its draft that came, how many tokens lie wholly in them, and the
        bytes of those tokens."""
        came = self.text[trace.start :]
        same = common_bytes(trace.text, came)
        first = self.starts[index]
        last = bisect_right(self.ends, trace.start + same)
        whole = next((n for n in range(first, last) if not self.sizes[n]), last)
        whole = max(whole, first)
        return same, whole - first, (self.ends[whole - 1] - trace.start) if whole > first else 0

    def overreaches(self, trace: Trace, slot: int, same: int) -> bool:
        """Whether the candidate in a slot spells drafted text that goes beyond its ``same`` bytes that came."""
        if slot >= len(trace.candidates) or trace.ends[slot] <= same:
            return False
        spelled = b"".join(self._table[i] for i in trace.candidates[: slot + 1])
        return spelled == trace.text[: trace.ends[slot]]


def lost(trace: Trace, index: int, emitted: Emitted, strayed: bool) -> Lost:
    """Classify one round of a run."""
    same, right, covered = emitted.right(trace, index)
    proposed = len(trace.candidates)
    slots = max(proposed, right)
    sizes = [end - start for start, end in zip((0, *trace.ends), trace.ends, strict=False)]
    kinds = []
    for slot in range(trace.accepted, slots):
        if slot < right and not emitted.overreaches(trace, slot, same):
            kinds.append("translation")
        elif slot < proposed and not sizes[slot]:  # an end of sequence, which the target did not choose
            kinds.append("context" if strayed else "disagreement")
        elif same == len(emitted.text) - trace.start:
            kinds.append("unknown")
        elif same == len(trace.text):
            kinds.append("cut" if covered < same else "translation")
        else:
            kinds.append("context" if strayed else "disagreement")
    return Lost(tuple(kinds), max(0, slots - max(proposed, trace.accepted)))


def strayed(pair: Pair, traces: Sequence[Trace]) -> list[bool]:
    """For each round whether the draft stood behind another text than the committed one.

    Only ways back that do not go through bytes can stray; what they make of every committed block is computed
    anew here. Once strayed, the draft's context stays wrong.
    """
    if pair.draft is None or pair.strategy.exact or pair.strategy.kind == "intersection":
        return [False] * len(traces)
    target, draft = pair.target.tokenizer, pair.draft.tokenizer
    bridge = pair.strategy.bridge(target, draft)
    if not may_stray(bridge, target, draft):
        return [False] * len(traces)
    found, so_far = [], False
    for t in traces:
        found.append(so_far)
        so_far = so_far or draft.decode(bridge.follow(Tail(), (), t.tokens).feed) != target.decode(t.tokens)
    return found


def may_stray(bridge: Bridge, target: Tokenizer, draft: Tokenizer) -> bool:
    """Whether the bridge's way back can change the text."""
    return isinstance(bridge, AsPublished) or (
        isinstance(bridge, SameIds) and not same_vocabulary(target, draft)
    )


def losses(pair: Pair, traces: Sequence[Trace]) -> Iterator[Lost]:
    """The lost tokens of every round of a run."""
    emitted = Emitted(pair.target.tokenizer, traces)
    for index, (trace, stray) in enumerate(zip(traces, strayed(pair, traces), strict=True)):
        yield lost(trace, index, emitted, stray)


def common_bytes(a: bytes, b: bytes) -> int:
    """The length of the longest common beginning."""
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
