"""The published study's formula of speed, and its machine as a profile built from its figures.

K. Fonal, "Cross-Family Speculative Decoding for Polish Language Models on Apple Silicon", arXiv 2604.16368,
2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

from decoder.curves import Timing
from decoder.profile import DraftCost, Machine, ModelCard, Profile

BASELINE = (14.6, 15.1)
"""Plain decoding of Bielik 11B in 8 bits on an M2 Pro, tokens per second: the range over its corpora."""
R = 0.071
"""A draft step in plain steps."""
BETA = {2: 0.143, 4: 0.197}
"""The β that its speeds give at each k. One β for both does not fit; for k = 6 none is published."""


@dataclass(frozen=True)
class StudyModel:
    """The study's closed formula, S(α, k) = (1 + αk) / ((k+1)r + 1 + βk²), α = accepted / proposed.

    ``rmse`` and ``worst`` are the error of its denominator against the costs it was fitted to, in plain
    steps; ``betas`` the β that each k alone would need. Where these differ much, the formula does not fit.
    """

    r: float
    beta: float
    rmse: float
    worst: float
    betas: Mapping[int, float]

    def relative_cost(self, k: int) -> float:
        """The denominator: a round in plain steps."""
        return (k + 1) * self.r + 1 + self.beta * k * k

    def speedup(self, k: int, share: float) -> float:
        """Speed over plain decoding where ``share`` of the k proposed tokens are accepted."""
        return (1 + share * k) / self.relative_cost(k)

    def break_even_share(self, k: int) -> float | None:
        """The share accepted at which S = 1, ((k+1)r + βk²) / k; None if above 1."""
        share = (self.relative_cost(k) - 1) / k
        return share if share <= 1 else None


def fit_study(costs: Mapping[int, float], r: float | None = None) -> StudyModel:
    """Fit r and β to the cost of a round in plain steps for each k, by least squares with both at least 0.

    The denominator is linear in them: cost - 1 = (k+1) r + k² β. A given ``r`` is kept.
    """
    ks, above = list(costs), [costs[k] - 1 for k in costs]
    x, y = [k + 1.0 for k in ks], [float(k * k) for k in ks]
    if r is None:
        r, beta = _two(x, y, above)
    else:
        beta = _one(y, [c - r * u for c, u in zip(above, x, strict=True)])
    errors = [c - r * u - beta * v for c, u, v in zip(above, x, y, strict=True)]
    return StudyModel(
        r,
        beta,
        sqrt(sum(e * e for e in errors) / len(errors)),
        max(errors, key=abs),
        {k: (c - r * u) / v for k, c, u, v in zip(ks, above, x, y, strict=True)},
    )


def _two(x: list[float], y: list[float], z: list[float]) -> tuple[float, float]:
    """Least squares of z = r x + b y under r, b >= 0."""
    xx, yy, xy = _dot(x, x), _dot(y, y), _dot(x, y)
    xz, yz = _dot(x, z), _dot(y, z)
    determinant = xx * yy - xy * xy
    if determinant > 1e-12 * xx * yy:
        r, b = (xz * yy - yz * xy) / determinant, (yz * xx - xz * xy) / determinant
        if r >= 0 and b >= 0:
            return r, b
    alone = [(_one(x, z), 0.0), (0.0, _one(y, z))]
    return min(
        alone, key=lambda f: sum((c - f[0] * u - f[1] * v) ** 2 for c, u, v in zip(z, x, y, strict=True))
    )


def _one(x: list[float], z: list[float]) -> float:
    return max(_dot(x, z) / _dot(x, x), 0.0)


def _dot(x: list[float], y: list[float]) -> float:
    return sum(a * b for a, b in zip(x, y, strict=True))


def published_profile() -> Profile:
    """The study's machine as a profile.

    - Plain step: 1 / 14.85 s, the middle of the published 14.6–15.1 tok/s; the two ends stand as quartiles.
    - Draft of k tokens: (k + 1) r plain steps, as its formula counts them.
    - Verification of n = k + 1 tokens: 1 + β_k k² plain steps, with the β that the speeds at that k give. So
      v(3) = 1.572 and v(5) = 4.152 plain steps. For k = 6 no β is published; that of k = 4 gives v(7) = 8.092,
      with which the published 0.40× is reached at 41 % accepted, as at smaller k.
    - Translation and everything else of a round are inside these figures and stay null.

    Its speeds are then met where they were measured: 0.59–0.70× at k = 4 means 41–54 % accepted, and
    0.87–1.06× at k = 2 28–45 % (published: 31–45 %).
    """
    draft = DraftCost(
        model=_card("bielik-1.5b", None, None),
        steps=tuple(_timing(k, (k + 1) * R) for k in (1, 2, 4, 6)),
        unfused=None,
        unfused_note="not in the study",
        feed=(),
        prefill=(),
        translate=None,
        follow=None,
        translate_note="inside the published figures",
        trim=None,
    )
    betas = {**BETA, 6: BETA[4]}
    verify = (_timing(1, 1.0), *(_timing(k + 1, 1 + beta * k * k) for k, beta in betas.items()))
    return _profile((_timing(1, 1.0),), verify, draft)


def _profile(plain: tuple[Timing, ...], verify: tuple[Timing, ...], draft: DraftCost) -> Profile:
    return Profile(
        source="published",
        created="2026-04-21",
        note="Built from the figures of arXiv 2604.16368 by decoder.study; the context is nominal, low and "
        "high are the range of the plain speed, and n = 7 carries the β of k = 4 forward.",
        machine=Machine("macOS, arm64", "Apple M2 Pro", None, 32 * 2**30, "gpu", None),
        mlx=None,
        mlx_lm=None,
        bandwidth=None,
        target=_card("bielik-11b", 8, 50),
        plain=plain,
        verify=verify,
        prefill=(),
        trim=None,
        roofline=(),
        drafts=(draft,),
    )


def _timing(n: int, steps: float) -> Timing:
    """So many plain steps in seconds, over the range of the published plain speed."""
    low, median, high = (steps / speed for speed in (BASELINE[1], sum(BASELINE) / 2, BASELINE[0]))
    return Timing(512, n, round(median, 6), round(low, 6), round(high, 6), 1)


def _card(name: str, bits: int | None, layers: int | None) -> ModelCard:
    return ModelCard(name, None, bits, None, layers, None, None, None, False)
