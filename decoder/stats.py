"""What a run did, in figures that mean something."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate

from decoder.loop import Round
from tokalign.tokenizers import Tokenizer


@dataclass(frozen=True, slots=True)
class Trace:
    """One round without its tensors. ``start`` is its first byte in the emitted text; ``ends`` are the byte
    ends of the candidates, counted from ``start``."""

    start: int
    text: bytes
    drafted: tuple[int, ...]
    candidates: tuple[int, ...]
    choices: tuple[int, ...]
    ends: tuple[int, ...]
    tokens: tuple[int, ...]
    accepted: int
    window: int
    held: int
    merged: bool
    draft_s: float
    translate_s: float
    verify_s: float
    host_s: float


@dataclass(frozen=True)
class Stats:
    """Totals of a run.

    ``proposed`` counts verified candidates, ``accepted`` those the target chose too. Refused candidates are
    split by what the target went on to write: ``refused_in_translation`` where the drafted text up to the
    candidate's end is what came, only in other tokens; ``refused_by_disagreement`` where the text differs;
    ``refused_unknown`` where the run ended before it could be told. ``split_letters`` counts rounds whose
    draft ended inside a letter. Times are seconds.
    """

    tokens: int
    rounds: int
    drafted: int
    proposed: int
    accepted: int
    refused_in_translation: int
    refused_by_disagreement: int
    refused_unknown: int
    empty_rounds: int
    merges: int
    split_letters: int
    draft_s: float
    translate_s: float
    verify_s: float
    host_s: float

    @property
    def acceptance(self) -> float | None:
        """Accepted over proposed; None where nothing was proposed."""
        return self.accepted / self.proposed if self.proposed else None

    @property
    def tokens_per_pass(self) -> float | None:
        """Emitted tokens per pass of the target; 1 is plain decoding."""
        return self.tokens / self.rounds if self.rounds else None

    def as_dict(self) -> dict[str, float | int | None]:
        """All figures, the derived ones too."""
        return {**asdict(self), "acceptance": self.acceptance, "tokens_per_pass": self.tokens_per_pass}


class Recorder:
    """Collects the traces of one run."""

    def __init__(self, target: Tokenizer) -> None:
        self._target = target
        self._emitted = 0
        self.traces: list[Trace] = []

    def add(self, r: Round) -> None:
        """Note one round."""
        table = self._target.vocabulary.table
        ends = tuple(accumulate(len(table[i]) if i < len(table) else 0 for i in r.candidates))
        p, t = r.proposal, r.proposal.translation
        self.traces.append(
            Trace(
                self._emitted, p.text, p.drafted, r.candidates, r.choices, ends, r.tokens, r.accepted,
                t.window, len(t.held), t.merged, p.draft_s, p.translate_s, r.verify_s, r.host_s,
            )
        )  # fmt: skip
        self._emitted += len(self._target.decode(r.tokens))

    def stats(self) -> Stats:
        """Totals so far."""
        return summarise(self.traces, self._target)


def summarise(traces: Sequence[Trace], target: Tokenizer) -> Stats:
    """Totals over the rounds of one run; see :class:`Stats`."""
    emitted = b"".join(target.decode(t.tokens) for t in traces)
    kinds = [kind for t in traces for kind in refusals(t, emitted)]
    return Stats(
        tokens=sum(len(t.tokens) for t in traces),
        rounds=len(traces),
        drafted=sum(len(t.drafted) for t in traces),
        proposed=sum(len(t.candidates) for t in traces),
        accepted=sum(t.accepted for t in traces),
        refused_in_translation=kinds.count("translation"),
        refused_by_disagreement=kinds.count("disagreement"),
        refused_unknown=kinds.count("unknown"),
        empty_rounds=sum(not t.candidates for t in traces),
        merges=sum(t.merged for t in traces),
        split_letters=sum(t.held > 0 for t in traces),
        draft_s=sum(t.draft_s for t in traces),
        translate_s=sum(t.translate_s for t in traces),
        verify_s=sum(t.verify_s for t in traces),
        host_s=sum(t.host_s for t in traces),
    )


def refusals(trace: Trace, emitted: bytes) -> Iterable[str]:
    """For each refused candidate of a round, why: 'translation', 'disagreement' or 'unknown'.

    ``emitted`` is all text of the run; a candidate's text is right where it equals the text that came.
    """
    drafted = trace.text
    came = emitted[trace.start :]
    same = next((n for n, (a, b) in enumerate(zip(drafted, came, strict=False)) if a != b), None)
    same = min(len(drafted), len(came)) if same is None else same
    starts = (0, *trace.ends)[trace.accepted :]
    for start, end in zip(starts, trace.ends[trace.accepted :], strict=False):
        if start == end:  # an end of sequence, which is no text
            yield "disagreement"
        elif end <= same:
            yield "translation"
        elif same == len(came):
            yield "unknown"
        else:
            yield "disagreement"


def total(parts: Iterable[Stats]) -> Stats | None:
    """The sum of several runs' totals, None of none."""
    parts = list(parts)
    if not parts:
        return None
    return Stats(**{name: sum(getattr(p, name) for p in parts) for name in asdict(parts[0])})
