"""Speeds and break-even points over draft lengths and acceptance, for the measured model and the study's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from decoder.cost import Setup, accepted_share, best_k, expected_tokens, unmeasured
from decoder.study import R, StudyModel, fit_study

ACCEPTANCES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class Speed:
    """Speed over plain decoding at one chance ``acceptance`` a candidate; ``share`` is accepted over proposed
    there, at which the study's formula is taken."""

    acceptance: float
    share: float | None
    measured: float
    study: float


@dataclass(frozen=True)
class Row:
    """One draft length. ``cost`` is a round in plain steps. ``break_even`` is the chance a candidate must
    have, the others the share of proposed tokens; None where even all of them are not enough."""

    k: int
    cost: float
    break_even: float | None
    break_even_share: float | None
    study_break_even_share: float | None
    speeds: tuple[Speed, ...]


@dataclass(frozen=True)
class Best:
    """The fastest draft length at a chance; 0 is plain decoding."""

    acceptance: float
    k: int
    speedup: float


@dataclass(frozen=True)
class CostTable:
    """All of it for one draft. ``unmeasured`` are parts of a round that the profile lacks."""

    target: str
    draft: str
    source: str
    context: int | None
    ratio: float
    rows: tuple[Row, ...]
    best: tuple[Best, ...]
    study: StudyModel
    unmeasured: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


def cost_table(
    setup: Setup, ks: Sequence[int] | None = None, acceptances: Sequence[float] = ACCEPTANCES
) -> CostTable:
    """Compute the table; without ``ks``, for the draft lengths whose verification was measured."""
    profile = setup.profile
    ks = measured_ks(setup) if ks is None else sorted(set(ks) - {0})
    r = R if profile.source == "published" else None
    model = fit_study({k: setup.relative_cost(k) for k in ks}, r)
    return CostTable(
        profile.target.name,
        profile.draft(setup.draft).model.name,
        profile.source,
        setup.context,
        setup.ratio,
        tuple(_row(setup, model, k, acceptances) for k in ks),
        tuple(Best(a, *best_k(setup, a, (0, *ks))) for a in acceptances),
        model,
        tuple(unmeasured(profile, setup.draft)),
    )


def measured_ks(setup: Setup) -> list[int]:
    """Draft lengths up to 8 whose verification was measured, or lies between measured ones."""
    ns = setup.profile.verify_curve.ns
    if setup.ratio == 1:
        found = [n - 1 for n in ns if n > 1]
    else:
        found = [k for k in range(1, max(ns)) if setup.candidates(k) + 1 <= max(ns)]
    return [k for k in found if k <= 8] or [1]


def _row(setup: Setup, model: StudyModel, k: int, acceptances: Sequence[float]) -> Row:
    n = setup.candidates(k)
    speeds = []
    for a in acceptances:
        share = accepted_share(expected_tokens(a, n), n)
        speeds.append(Speed(a, share, setup.speedup(k, a), model.speedup(k, share or 0.0)))
    return Row(
        k,
        setup.relative_cost(k),
        setup.break_even(k),
        setup.break_even_share(k),
        model.break_even_share(k),
        tuple(speeds),
    )
