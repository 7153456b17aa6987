"""Sampling that speculation cannot disturb: the same text, and so the same distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import mlx.core as mx
import pytest
from mlx_lm.sample_utils import apply_min_p, apply_top_k, apply_top_p

from decoder import loop
from decoder.drafters import Proposal
from decoder.lane import Lane
from decoder.loop import Limits, decode
from decoder.sampling import Sampling
from decoding import makers as tiny
from tokalign.errors import UsageError
from tokalign.translate import Translation

SHARES = (0.4, 0.25, 0.15, 0.1, 0.06, 0.04)
N = 1500


class Fixed(tiny.Scripted):
    """A model that gives one distribution over six ids everywhere."""

    def __init__(self):
        super().__init__(len(SHARES), lambda ids: 0)

    def __call__(self, ids, cache=None):
        super().__call__(ids, cache)
        return mx.broadcast_to(mx.log(mx.array(SHARES)), (1, ids.shape[1], len(SHARES)))


class Guesses:
    """A draft that always proposes the three likeliest ids."""

    def propose(self, tail, k):
        return Proposal(Translation((0, 1, 2)[:k]))

    def follow(self, committed):
        pass


@dataclass(frozen=True)
class Lenient(Sampling):
    """A wrong rule: a candidate of more than a tenth is taken whatever was drawn."""

    def choose(self, logits, history, candidates, position):
        drawn = super().choose(logits, history, candidates, position).tolist()
        taken = [c if SHARES[c] > 0.1 else d for c, d in zip(candidates, drawn, strict=False)]
        return mx.array([*taken, *drawn[len(taken) :]])


@dataclass(frozen=True)
class OneKey(Sampling):
    """A wrong rule: randomness that depends on the place in the draft instead of the place in the text."""

    def choose(self, logits, history, candidates, position):
        return super().choose(logits, history, candidates, 0)


def ids(sampling: Sampling, drafter=None, n: int = N) -> list[int]:
    target, _ = tiny.PAIRS["same"]()
    rounds = decode(
        Lane(Fixed()),
        target,
        drafter or Guesses(),
        [0, 1],
        sampling=sampling,
        limits=Limits(frozenset(), n),
        policy=loop.Fixed(3),
    )
    return tiny.tokens(list(rounds))


def chi_squared(found: list[int]) -> float:
    """Pearson's statistic against SHARES, with five degrees of freedom: above 20.5 once in a thousand."""
    wanted = [share * len(found) for share in SHARES]
    return sum((found.count(i) - w) ** 2 / w for i, w in enumerate(wanted))


@pytest.mark.parametrize("seed", (0, 1, 2))
def test_speculation_keeps_the_distribution(seed):
    assert chi_squared(ids(Sampling(1.0, seed=seed))) < 20.5


def test_a_biased_rule_is_noticed():
    assert chi_squared(ids(Lenient(1.0))) > 100
    assert chi_squared(ids(OneKey(1.0))) > 100


def test_neighbouring_tokens_are_independent():
    found = ids(Sampling(1.0, seed=5))
    pairs = list(pairwise(found))
    z = [
        (pairs.count((a, b)) - len(pairs) * p * q) / math.sqrt(len(pairs) * p * q)
        for a, p in enumerate(SHARES)
        for b, q in enumerate(SHARES)
        if p * q > 0.01
    ]
    assert max(map(abs, z)) < 4.5


def test_a_seed_gives_one_text_and_another_seed_another():
    assert ids(Sampling(1.0, seed=7), n=60) == ids(Sampling(1.0, seed=7), n=60)
    assert ids(Sampling(1.0, seed=7), n=60) != ids(Sampling(1.0, seed=8), n=60)
    assert ids(Sampling(1.0, seed=-1), n=8)  # any integer is a seed


@pytest.mark.parametrize("narrow", ({"top_k": 1}, {"min_p": 1.0}, {"top_p": 1e-6}), ids=str)
def test_the_narrowest_rules_are_greedy(narrow):
    assert set(ids(Sampling(1.0, **narrow), n=20)) == {0}


@pytest.mark.parametrize(
    "options", ({"top_p": 0.7}, {"top_k": 3}, {"min_p": 0.3}, {"top_p": 0.9, "min_p": 0.2})
)
def test_what_can_be_drawn_is_what_mlx_lm_allows(options):
    logprobs = mx.log(mx.array([SHARES]))
    if "top_p" in options:
        logprobs = apply_top_p(logprobs, options["top_p"])
    if "min_p" in options:
        logprobs = apply_min_p(logprobs, options["min_p"])
    if "top_k" in options:
        logprobs = apply_top_k(logprobs, options["top_k"])
    allowed = {i for i, p in enumerate(logprobs[0].tolist()) if p > -math.inf}
    assert set(ids(Sampling(1.5, **options), n=240)) == allowed


def test_greedy_takes_the_likeliest():
    logits = mx.array([[0.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
    assert Sampling().choose(logits, [1], [2], 0).tolist() == [1, 0]
    assert Sampling().greedy and not Sampling(0.1).greedy


@pytest.mark.parametrize(
    "wrong",
    ({"temperature": -1}, {"temperature": math.nan}, {"top_p": 1.1}, {"min_p": -0.1}, {"top_k": -1}),
    ids=str,
)
def test_values_out_of_range_are_refused_by_name(wrong):
    with pytest.raises(UsageError, match=next(iter(wrong))):
        Sampling(**wrong)
