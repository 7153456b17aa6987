"""Rounds with a perfect draft: the corpus itself, cut where a round could begin.

A draft model that always guesses right would propose the text that follows. What a translation loses on
such a draft is lost by the translation alone, not by the models.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from tokalign.tokenizers import WORD_START, Segmentation, Tokenizer, Unaligned
from tokalign.translate import Tail

LOOKAHEAD = 300  # bytes of the following text that the draft encodes; more only where its tokens need more
_STEP = 16  # tokens by which a tail is moved on


@dataclass(frozen=True, slots=True)
class Cut:
    """One place of a document at which a round begins.

    ``document`` is the index of the document; ``tail`` the target's tokens before the cut. ``text`` is what
    the draft's first tokens after the cut stand for, ``draft_ends[j]`` the byte of ``text`` at which its
    token ``j`` ends. ``truth`` is the target's own tokens after the cut, as far as ``text`` reaches and one
    more; ``truth_ends`` their ends in bytes from the cut.
    """

    document: int
    tail: Tail
    text: bytes
    draft_ends: tuple[int, ...]
    truth: tuple[int, ...]
    truth_ends: tuple[int, ...]

    def drafted(self, k: int) -> bytes:
        """The text of the first ``k`` draft tokens."""
        return self.text[: self.draft_ends[k - 1]]

    def ceiling(self, k: int) -> int:
        """How many true target tokens lie wholly inside the first ``k`` draft tokens."""
        return bisect_right(self.truth_ends, self.draft_ends[k - 1])


def sample_cuts(
    target: Tokenizer,
    draft: Tokenizer,
    texts: Sequence[str],
    segmentations: Sequence[Segmentation | Unaligned],
    *,
    n: int,
    k: int,
    seed: int,
) -> list[Cut]:
    """At most ``n`` cuts, every token boundary of every document being equally likely; in document order.

    Left out are documents whose token ends did not come from token bytes, the start of a document (a decoder
    always has a prompt), and places with fewer than ``k`` draft tokens after them.
    """
    usable = [i for i, s in enumerate(segmentations) if isinstance(s, Segmentation) and s.path == "bytes"]
    sizes = [max(0, len(segmentations[i].ids) - 1) for i in usable]  # type: ignore[union-attr]
    starts = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    found: dict[int, dict[int, tuple[bytes, tuple[int, ...]]]] = {}
    count = 0
    for position in np.random.default_rng(seed).permutation(int(starts[-1])):
        if count == n:
            break
        at = int(np.searchsorted(starts, position, side="right")) - 1
        document, token = usable[at], int(position - starts[at]) + 1
        ends = segmentations[document].ends  # type: ignore[union-attr]
        drafted = perfect_draft(draft, texts[document], int(ends[token - 1]), k)
        if drafted is not None:
            found.setdefault(document, {})[token] = drafted
            count += 1
    return [
        cut
        for document in sorted(found)
        for cut in _cuts(target, document, segmentations[document], found[document])  # type: ignore[arg-type]
    ]


def perfect_draft(draft: Tokenizer, text: str, at: int, k: int) -> tuple[bytes, tuple[int, ...]] | None:
    """The text of the draft's first ``k`` tokens from byte ``at`` on and their ends, or None where it has
    fewer."""
    data = text.encode()[at:]
    reach = LOOKAHEAD
    while True:
        part, whole = data[:reach], reach >= len(data)
        try:
            ids = draft.encode_bytes(part)
        except Unaligned:
            return None
        ends = tuple(accumulate(len(draft.vocabulary.table[i]) for i in ids[:k]))
        # Where the part was cut, only tokens before its last word start are sure.
        sure = len(part) if whole else max((m.start() for m in WORD_START.finditer(part)), default=0)
        if len(ends) == k and ends[-1] <= sure:
            return part[: ends[-1]], ends
        if whole:
            return None
        reach *= 4


def _cuts(
    target: Tokenizer,
    document: int,
    segmentation: Segmentation,
    drafts: dict[int, tuple[bytes, tuple[int, ...]]],
) -> list[Cut]:
    ids, ends = segmentation.ids.tolist(), segmentation.ends
    cuts, tail, done = [], Tail(), 0
    for token in sorted(drafts):
        for i in range(done, token, _STEP):
            tail = tail.extend(target, ids[i : min(i + _STEP, token)])
        done = token
        text, draft_ends = drafts[token]
        at = int(ends[token - 1])
        stop = int(np.searchsorted(ends, at + len(text), side="right")) + 1
        truth_ends = tuple((ends[token:stop] - at).tolist())
        cuts.append(Cut(document, tail, text, draft_ends, tuple(ids[token:stop]), truth_ends))
    return cuts
