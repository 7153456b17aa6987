"""What measured acceptance would bring on another machine, by its profile. A prediction, marked as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from decoder.cost import Setup
from decoder.errors import ProfileError
from decoder.profile import Profile, shipped

STUDY = "study-m2-pro"


@dataclass(frozen=True)
class Prediction:
    """Speed over plain decoding that a cell would have. ``tokens`` a round as measured, ``cost`` of a round in
    plain steps by the profile; ``beyond`` says that more tokens are verified at once than the profile knows."""

    draft: str
    translation: str
    k: int
    tokens: float
    candidates: float
    cost: float
    speedup: float
    beyond: bool


def study_profile() -> Profile | None:
    """The profile built from the study's figures; None where it is not there."""
    try:
        return shipped(STUDY)
    except (ProfileError, OSError):
        return None


def predictions(summary: Sequence[Mapping[str, Any]], profile: Profile) -> Iterator[Prediction]:
    """One prediction a cell, for the profile's first draft.

    A round costs what drafting k tokens and verifying the measured mean number of candidates cost; k beyond the
    longest draft that the profile knows is left out.
    """
    setup = Setup(profile)
    longest, widest = max(profile.draft().step_curve.ns), max(profile.verify_curve.ns)
    for cell in summary:
        candidates = cell["candidates_per_round"]
        if candidates is None or cell["tokens_per_pass"] is None or not 0 < cell["k"] <= longest:
            continue
        cost = setup.round_s(cell["k"], candidates) / profile.plain_s()
        yield Prediction(
            cell["draft"],
            cell["translation"],
            cell["k"],
            cell["tokens_per_pass"],
            candidates,
            cost,
            cell["tokens_per_pass"] / cost,
            candidates + 1 > widest,
        )
