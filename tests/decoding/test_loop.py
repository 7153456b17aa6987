"""The one promise: whatever proposes and however it is translated, the output is the target's own."""

from __future__ import annotations

from functools import cache

import mlx.core as mx
import pytest
from mlx_lm.sample_utils import make_logits_processors

from decoder.drafters import Proposal
from decoder.errors import CacheError
from decoder.generation import Pair, encode_prompts, generate_rounds
from decoder.lane import Lane
from decoder.loop import PLAIN_RUN, Fixed, Limits, agreement, decode
from decoder.policy import KnownCosts
from decoder.sampling import Sampling
from decoder.strategy import Strategy
from decoding import makers as tiny
from tokalign.translate import Translation

N = 20
KS = (1, 2, 4, 6, 8)
STRATEGIES = (
    *map(Strategy.parse, ("anchored", "context:0", "context:1", "context:2", "context:5")),
    *map(Strategy.parse, ("none", "naive", "counted:5", "length:5", "intersection")),
    Strategy.parse("anchored", hold_back=True),
    Strategy.parse("anchored", heal=False),
    Strategy.parse("context:1", hold_back=True, heal=False),
)
IDS = [str(s).replace(" ", "-") for s in STRATEGIES]


@cache
def case(which: str) -> tuple[Pair, tuple[list[int], list[int]], list[int]]:
    """A pair of random models, its prompts, and what mlx-lm generates with the target alone."""
    pair = tiny.random_pair(which)
    prompts = encode_prompts(pair, tiny.PROMPT)
    return pair, prompts, tiny.plain(pair.target.model, prompts[0], N)


def with_strategy(pair: Pair, strategy: Strategy, k: int = 4) -> Pair:
    return Pair(pair.target, pair.draft, strategy, k)


def test_the_references_are_worth_comparing_with():
    for which in tiny.PAIRS:
        assert len(set(case(which)[2])) > N // 2


@pytest.mark.parametrize("strategy", STRATEGIES, ids=IDS)
@pytest.mark.parametrize("which", tiny.PAIRS)
def test_a_draft_model_leaves_the_output_as_it_is(which, strategy):
    pair, prompts, reference = case(which)
    done = tiny.rounds(with_strategy(pair, strategy), prompts, N, lengths=lambda emitted: KS[emitted % len(KS)])
    assert tiny.tokens(done) == reference


@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=IDS)
@pytest.mark.parametrize("which", tiny.PAIRS)
def test_a_half_right_draft_leaves_the_output_as_it_is(which, strategy, k):
    pair, prompts, reference = case(which)
    drafted = tiny.perturbed(with_strategy(pair, strategy, k), prompts, reference, miss=0.25)
    done = tiny.rounds(drafted, prompts, N)
    assert tiny.tokens(done) == reference
    if which == "same" and strategy.exact and not strategy.hold_back:
        assert sum(r.accepted for r in done) > 0


@pytest.mark.parametrize("k", (0, *KS))
@pytest.mark.parametrize("which", ("same", "bytes-from-bytes"))
def test_lookup_and_nobody_leave_the_output_as_it_is(which, k):
    pair, prompts, reference = case(which)
    doubled = ([*prompts[0], *reference, *prompts[0]], prompts[1])  # so that there is something to look up
    wanted = tiny.plain(pair.target.model, doubled[0], N)
    done = tiny.rounds(with_strategy(pair, Strategy(), k), doubled, N, lookup=True)
    assert tiny.tokens(done) == wanted
    assert tiny.tokens(tiny.rounds(Pair(pair.target, k=k), prompts, N)) == reference


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("which", tiny.PAIRS)
def test_drafters_that_take_turns_leave_the_output_as_it_is(which, seed):
    pair, prompts, reference = case(which)
    drafted = tiny.perturbed(pair, prompts, reference, miss=0.25)
    assert tiny.tokens(tiny.rounds(drafted, prompts, N, whim=tiny.Whim(seed))) == reference


@pytest.mark.parametrize("known", (KnownCosts(), KnownCosts({1: 1.0, 9: 1.0}, {1: 0.01}, 1.0, 0.01)))
@pytest.mark.parametrize("which", tiny.PAIRS)
def test_an_adaptive_length_leaves_the_output_as_it_is(which, known):
    pair, prompts, reference = case(which)
    drafted = tiny.perturbed(pair, prompts, reference, miss=0.1)
    auto = Pair(drafted.target, drafted.draft, drafted.strategy, "auto", known)
    for _ in range(2):  # what was learned in the first generation is used in the second
        done = list(generate_rounds(auto, tiny.PROMPT, max_tokens=N))
        ended = pair.target.eos & set(reference)
        assert not ended and tiny.tokens(done) == reference
    if known.plain:
        assert any(r.accepted for r in done)


@pytest.mark.parametrize("width", (2, 5, 9, 16))
@pytest.mark.parametrize("which", ("same", "sentencepiece-from-bytes"))
def test_verifying_more_tokens_than_there_are_changes_nothing(which, width):
    pair, prompts, reference = case(which)
    drafted = tiny.perturbed(pair, prompts, reference, miss=0.25)
    lanes = []
    done = tiny.rounds(
        drafted, prompts, N, width=width, check=lambda r, lane, drafter: lanes.append(lane.length)
    )
    assert tiny.tokens(done) == reference
    assert lanes == [len(prompts[0]) + r.state.emitted - 1 for r in done]
    assert all(r.logits.shape[0] == len(r.candidates) + 1 == len(r.choices) for r in done)


def by_history(ids: mx.array, logits: mx.array) -> mx.array:
    """A processor that no missing, wrong or doubled token of the history escapes."""
    favourite = (mx.sum(ids * mx.arange(1, 1 + ids.shape[0])) + ids.shape[0]) % logits.shape[-1]
    return logits + 20 * (mx.arange(logits.shape[-1]) == favourite)


@pytest.mark.parametrize("draft_again", (4, PLAIN_RUN + 3, 2 * PLAIN_RUN))
def test_stretches_without_a_draft_change_nothing(draft_again):
    pair, prompts, _ = case("sentencepiece-from-bytes")
    n = 3 * PLAIN_RUN
    processors = (by_history,)
    for sampling in (Sampling(), Sampling(0.9, seed=3), Sampling(processors=processors)):
        wanted = tiny.tokens(tiny.rounds(Pair(pair.target, k=0), prompts, n, sampling=sampling))
        if sampling.greedy:
            kwargs = {"logits_processors": list(sampling.processors)} if sampling.processors else {}
            assert wanted == tiny.plain(pair.target.model, prompts[0], n, **kwargs)
        drafted = tiny.perturbed(pair, prompts, wanted, miss=0.25)
        done = tiny.rounds(
            drafted, prompts, n, sampling=sampling, lengths=lambda emitted: 4 * (emitted % draft_again < 4)
        )
        assert tiny.tokens(done) == wanted
        assert {r.k > 0 for r in done} == {True, False} or draft_again == 4


@pytest.mark.parametrize("at", range(3))
def test_plain_decoding_stops_at_the_end_of_sequence(at):
    pair, prompts, reference = case("same")
    first = reference.index(reference[at])
    lanes = []
    done = tiny.rounds(
        Pair(pair.target, k=0),
        prompts,
        N,
        eos=frozenset({reference[at]}),
        check=lambda r, lane, drafter: lanes.append(lane),
    )
    assert tiny.tokens(done) == reference[: first + 1] and done[-1].state.finish == "stop"
    assert lanes[-1].cache[0].offset == lanes[-1].length == len(prompts[0]) + first


def test_plain_decoding_needs_no_cache_that_can_be_trimmed():
    class Fading(tiny.IdCache):
        def is_trimmable(self):
            return False

    class Model(tiny.Scripted):
        def make_cache(self):
            return [Fading()]

    target, _ = tiny.PAIRS["same"]()
    model = Model(len(target.vocabulary.table), lambda ids: 40 + len(ids))
    done = tiny.rounds(Pair(tiny.loaded(target, model), k=0), ([40], []), 9, eos=frozenset({43}))
    assert tiny.tokens(done) == [41, 42, 43]


def test_a_perfect_draft_is_accepted_whole():
    pair, prompts, reference = case("same")
    done = tiny.rounds(tiny.perturbed(pair, prompts, reference, miss=0), prompts, N)
    spelled = [i for i in reference if pair.target.tokenizer.vocabulary.table[i]]
    assert len(done) <= N // 5 + 1 + (N - len(spelled)) + 4  # a few ids of a random model are not canonical


@pytest.mark.parametrize("which", tiny.PAIRS)
@pytest.mark.parametrize("options", ({}, {"top_p": 0.8}, {"top_k": 7}, {"min_p": 0.05}), ids=str)
def test_sampled_text_is_the_same_text(which, options):
    pair, prompts, _ = case(which)
    sampling = Sampling(temperature=0.9, seed=11, **options)
    wanted = tiny.tokens(tiny.rounds(Pair(pair.target), prompts, N, sampling=sampling))
    other = tiny.tokens(tiny.rounds(Pair(pair.target), prompts, N, sampling=Sampling(0.9, seed=12, **options)))
    drafted = tiny.perturbed(pair, prompts, wanted, miss=0.2)
    done = tiny.rounds(drafted, prompts, N, sampling=sampling)
    assert tiny.tokens(done) == wanted != other
    assert sum(r.accepted for r in done) > 0


@pytest.mark.parametrize("which", tiny.PAIRS)
def test_logits_processors_see_the_history_that_mlx_lm_gives_them(which):
    pair, prompts, _ = case(which)
    processors = [*make_logits_processors(repetition_penalty=1.5, repetition_context_size=8), by_history]
    wanted = tiny.plain(pair.target.model, prompts[0], N, logits_processors=processors)
    drafted = tiny.perturbed(pair, prompts, wanted, miss=0.2)
    done = tiny.rounds(drafted, prompts, N, sampling=Sampling(processors=tuple(processors)))
    assert tiny.tokens(done) == wanted
    assert sum(r.accepted for r in done) > 0


def test_a_processor_is_asked_about_every_candidate_in_turn():
    pair, prompts, reference = case("same")
    seen = []

    def note(ids, logits):
        seen.append(ids.tolist())
        return logits

    drafted = tiny.perturbed(pair, prompts, reference, miss=0)
    done = tiny.rounds(drafted, prompts, 6, sampling=Sampling(processors=(note,)))
    history, asked = list(prompts[0]), iter(seen)
    for r in done:
        for j in range(len(r.candidates) + 1):
            assert next(asked) == history + list(r.candidates[:j])
        history += r.tokens
    assert next(asked, None) is None


@pytest.mark.parametrize("n", range(1, 9))
def test_max_tokens_is_exact_inside_an_accepted_block(n):
    pair, prompts, reference = case("same")
    drafted = tiny.perturbed(with_strategy(pair, Strategy(), 8), prompts, reference, miss=0)
    done = tiny.rounds(drafted, prompts, n)
    assert tiny.tokens(done) == reference[:n]
    assert done[-1].state.finish == "length" and done[-1].state.emitted == n


@pytest.mark.parametrize("at", range(6))
def test_the_first_end_of_sequence_cuts_an_accepted_block(at):
    pair, prompts, reference = case("same")
    stop = reference[at]
    first = reference.index(stop)
    drafted = tiny.perturbed(with_strategy(pair, Strategy(), 8), prompts, reference, miss=0)
    lanes = []
    done = tiny.rounds(
        drafted, prompts, N, eos=frozenset({stop}), check=lambda r, lane, drafter: lanes.append(lane)
    )
    assert tiny.tokens(done) == reference[: first + 1]
    assert done[-1].state.finish == "stop"
    assert lanes[-1].cache[0].offset == len(prompts[0]) + first  # everything but the last token
    assert done[-1].accepted <= len(done[-1].tokens)


def test_where_the_draft_would_stop_the_targets_end_is_a_candidate():
    target, draft = tiny.PAIRS["sentencepiece-from-bytes"]()
    text = target.encode_bytes(b" kot")
    end = tiny.control_id(target, "<|im_end|>")
    prompt = target.encode("ala")
    model = tiny.follows(prompt, [*text, end, *text], len(target.vocabulary.table))
    words = draft.encode_bytes(b"ala kot")
    drafts_end = tiny.control_id(draft, "<|im_end|>")
    ending = tiny.Scripted(
        len(draft.vocabulary.table), lambda ids: (*words, drafts_end)[min(len(ids), len(words))]
    )
    pair = Pair(tiny.loaded(target, model), tiny.loaded(draft, ending), k=8)
    rounds = decode(
        Lane(model),
        target,
        tiny.draft_of(pair, draft.encode_bytes(b"ala")),
        prompt,
        sampling=Sampling(),
        limits=Limits(frozenset({end, 3}), 30, end),
        policy=Fixed(8),
    )
    (only,) = rounds
    assert only.candidates == only.tokens == (*text, end)
    assert only.state.finish == "stop"


def test_padding_rows_of_either_model_are_no_tokens():
    pair = tiny.random_pair("sentencepiece-from-bytes", padding=60)
    prompts = encode_prompts(pair, tiny.PROMPT)
    reference = tiny.plain(pair.target.model, prompts[0], 40)
    assert any(
        i >= len(pair.target.tokenizer.vocabulary.table) for i in reference
    )  # a random model writes them
    assert tiny.tokens(tiny.rounds(pair, prompts, 40)) == reference
    same = tiny.random_pair("same", padding=60)
    prompts = encode_prompts(same, tiny.PROMPT)
    assert tiny.tokens(tiny.rounds(same, prompts, 40)) == tiny.plain(same.target.model, prompts[0], 40)


@pytest.mark.parametrize("prompt", ("a", "kot", " "))
@pytest.mark.parametrize("which", tiny.PAIRS)
def test_a_prompt_may_be_shorter_than_the_window(which, prompt):
    pair = with_strategy(case(which)[0], Strategy.parse("context:5"))
    ids = (pair.target.tokenizer.encode(prompt)[:1], pair.draft.tokenizer.encode(prompt)[:1])
    assert len(ids[0]) == 1
    wanted = tiny.plain(pair.target.model, ids[0], 8)
    assert tiny.tokens(tiny.rounds(pair, ids, 8)) == wanted


def test_the_target_may_have_cached_a_part_of_the_prompt():
    pair, prompts, reference = case("same")
    for cached in (1, len(prompts[0]) - 1):
        lane = Lane(pair.target.model)
        lane.prefill(prompts[0][:cached])
        done = decode(
            lane,
            pair.target.tokenizer,
            tiny.draft_of(pair, prompts[1], heal=False),
            prompts[0],
            sampling=Sampling(),
            limits=Limits(frozenset(), 6),
            policy=Fixed(2),
        )
        assert tiny.tokens(list(done)) == reference[:6]


def test_a_cache_that_gives_back_fewer_tokens_ends_decoding():
    class Short(tiny.IdCache):
        def trim(self, n):
            return super().trim(n - 1)

    class Model(tiny.Scripted):
        def make_cache(self):
            return [Short()]

    target, _ = tiny.PAIRS["same"]()
    model = Model(len(target.vocabulary.table), lambda ids: 40)

    class Wrong:
        def propose(self, tail, k):
            return Proposal(Translation((50, 51)))

        def follow(self, committed):
            pass

    rounds = decode(
        Lane(model),
        target,
        Wrong(),
        [40, 41],
        sampling=Sampling(),
        limits=Limits(frozenset(), 8),
        policy=Fixed(2),
    )
    with pytest.raises(CacheError, match="gave back 1 instead of 2"):
        next(rounds)


def test_agreement():
    assert agreement((), (1,)) == 0
    assert agreement((1, 2), (1, 2, 3)) == 2
    assert agreement((1, 2), (1, 3, 3)) == 1
    assert agreement((2,), (1, 2)) == 0


def test_limits():
    limits = Limits(frozenset({9}), 3)
    assert limits.cut((1, 2), 0) == ((1, 2), None)
    assert limits.cut((1, 2), 1) == ((1, 2), "length")
    assert limits.cut((1, 9, 2), 0) == ((1, 9), "stop")
    assert limits.cut((1, 2, 9), 0) == ((1, 2, 9), "stop")
    assert Limits(frozenset()).cut((1, 2), 10**6) == ((1, 2), None)
    assert Limits(frozenset()).left(5) == float("inf")
