"""How long translation takes, both ways, on ordinary Polish text."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from decoder.bridge import Bridge
from decoder.curves import Spread
from decoder.errors import PairError
from decoder.measure import spread
from decoder.strategy import Strategy
from tokalign.tokenizers import Tokenizer
from tokalign.translate import Tail

if TYPE_CHECKING:
    from decoder.calibrate import Subject

K = 4  # drafted tokens a round
ACCEPTED = 3  # committed tokens a round
EVERY = 6  # target tokens between two measured places
TEXT = (
    "Nad rzeką stał stary młyn, którego koło od dawna się nie obracało. Mieszkańcy pobliskiej wsi opowiadali, "
    "że w pogodne noce słychać tam jeszcze szum wody i ciche skrzypienie desek. Źródła z 1863 r. wspominają "
    "o młynarzu, który przechowywał zboże dla powstańców; dziś w odnowionym budynku działa świetlica, a wójt "
    "gminy przeznaczył 120 000 zł na naprawę dachu i „izbę pamięci”."
)


Times = tuple[Spread | None, Spread | None, str | None]
"""Draft → target, target → draft, and a remark."""


def translation_times(target: Subject, draft: Subject, repeats: int) -> Times:
    """Seconds a round each way, over places of a text and repeats; or None and why not."""
    if target.tokenizer is None or draft.tokenizer is None:
        return None, None, target.note or draft.note or "no vocabulary was given"
    try:
        bridge = Strategy().bridge(target.tokenizer, draft.tokenizer)
    except PairError as error:
        return None, None, str(error)
    there: list[float] = []
    back: list[float] = []
    for turn in range(-1, repeats):
        for seconds in _rounds(bridge, target.tokenizer, draft.tokenizer):
            if turn >= 0:
                there.append(seconds[0])
                back.append(seconds[1])
    return spread(there), spread(back), target.note or draft.note


def _rounds(bridge: Bridge, target: Tokenizer, draft: Tokenizer) -> Iterator[tuple[float, float]]:
    ids = target.encode(TEXT)
    for at in range(EVERY, len(ids) - ACCEPTED, EVERY):
        drafted = draft.encode_bytes(target.decode(ids[at:]))[:K]
        text = draft.decode(drafted)
        ahead = Tail.of(target, ids[:at])
        behind = Tail.of(draft, draft.encode_bytes(target.decode(ids[:at])))
        begin = time.perf_counter()
        bridge.propose(ahead, drafted, text)
        between = time.perf_counter()
        bridge.follow(behind, drafted[:-1], ids[at : at + ACCEPTED])
        yield between - begin, time.perf_counter() - between


def along(target: Tokenizer, draft: Tokenizer, places: Sequence[int], around: int = 64) -> dict[int, Spread]:
    """Seconds a round for both ways together, behind streams of about so many target tokens.

    One generation is followed from its beginning, state and all, by rounds of ``ACCEPTED`` tokens; a place's
    figure is taken over the rounds within ``around`` tokens of it.
    """
    bridge = Strategy().bridge(target, draft)
    ids = target.encode(" ".join([TEXT] * (1 + (max(places) + around) // len(target.encode(TEXT)))))
    ahead, behind = Tail.of(target, ids[:1]), Tail.of(draft, draft.encode_bytes(target.decode(ids[:1])))
    found: dict[int, list[float]] = {place: [] for place in places}
    for at in range(1, max(places) + around, ACCEPTED):
        committed = ids[at : at + ACCEPTED]
        drafted = draft.encode_bytes(target.decode(ids[at : at + 4 * K]))[:K]
        begin = time.perf_counter()
        bridge.propose(ahead, drafted, draft.decode(drafted))
        back = bridge.follow(behind, drafted[:-1], committed)
        ahead, behind = ahead.extend(target, committed), back.tail
        seconds = time.perf_counter() - begin
        for place in places:
            if abs(at - place) <= around:
                found[place].append(seconds)
    return {place: spread(times) for place, times in found.items()}


def main(names: Sequence[str]) -> None:
    """``python -m decoder.translation_time TARGET DRAFT``: microseconds a round at 256 and 4,096 tokens."""
    from tokalign.tokenizers import load

    target, draft = (load(name, offline=True) for name in names)
    for place, s in along(target, draft, (256, 4096)).items():
        print(
            f"{place:>6} tokens: {s.median * 1e6:.1f} µs a round, quartiles {s.low * 1e6:.1f} – {s.high * 1e6:.1f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
