"""Caches kept between prompts leave every reply as it would be from nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from decoder.generation import Pair, generate_rounds, stream_generate
from decoder.sampling import Sampling
from decoder.session import Session, common
from decoder.strategy import Strategy
from decoding import makers as tiny

QUESTIONS = ("Za górą żółty kot", "A co dalej?", "Krótko.")


def talk(pair: Pair, session: Session | None, n: int = 12, **options) -> tuple[list[list[int]], list[int]]:
    """The ids of three replies in one conversation, and how much of each prompt was kept."""
    messages: list[dict[str, str]] = []
    ids, kept = [], []
    for question in QUESTIONS:
        messages.append({"role": "user", "content": question})
        found = list(stream_generate(pair, messages, max_tokens=n, session=session, **options))
        messages.append({"role": "assistant", "content": "".join(r.text for r in found)})
        ids.append([r.token for r in found])
        kept.append(session.reused if session else 0)
    return ids, kept


@pytest.mark.parametrize("k", (0, 4))
@pytest.mark.parametrize("which", tiny.PAIRS)
def test_a_conversation_is_that_of_fresh_generations(which, k):
    pair = tiny.random_pair(which, k=k)
    session = Session(pair)
    ids, kept = talk(pair, session)
    assert ids == talk(pair, None)[0]
    assert kept[0] == 0 and kept[1] > 10 and kept[2] > kept[1]


@pytest.mark.parametrize(
    "options", ({"lookup": True}, {"k": "auto"}, {"temperature": 0.9, "seed": 4}, {"stop": ("a", "e")}), ids=str
)
def test_so_it_is_under_every_option(options):
    pair = tiny.random_pair("sentencepiece-from-bytes")
    assert talk(pair, Session(pair), **options)[0] == talk(pair, None, **options)[0]


@pytest.mark.parametrize("name", ("context:2", "none", "naive"))
def test_so_it_is_under_every_translation(name):
    pair = tiny.random_pair("bytes-from-sentencepiece", Strategy.parse(name))
    assert talk(pair, Session(pair))[0] == talk(pair, None)[0]


def test_so_it_is_without_a_draft_and_where_drafters_take_turns():
    pair = tiny.random_pair("same")
    alone = replace(pair, draft=None)
    assert talk(alone, Session(alone))[0] == talk(alone, None)[0]
    session, messages = Session(pair), [{"role": "user", "content": QUESTIONS[0]}]
    wanted = [r.token for r in stream_generate(pair, messages, max_tokens=10)]
    for lookup in (False, True, False, True):
        found = [r.token for r in session.stream(messages, max_tokens=10, lookup=lookup)]
        assert found == wanted


@pytest.mark.parametrize("k", (0, 3, "auto"))
@pytest.mark.parametrize("stop_after", (1, 2, 5, 9))
def test_a_reply_that_is_closed_in_the_middle_leaves_the_caches_right(stop_after, k):
    pair = tiny.random_pair("sentencepiece-from-bytes", k=k)
    session = Session(pair)
    found = session.stream(tiny.PROMPT, max_tokens=20)
    written = [next(found).token for _ in range(stop_after)]
    found.close()
    wanted = [r.token for r in stream_generate(pair, tiny.PROMPT, max_tokens=20)]
    assert written == wanted[:stop_after]
    again = [r.token for r in session.stream(tiny.PROMPT, max_tokens=20)]
    assert again == wanted and session.reused > 0


def scripted(which: str = "sentencepiece-from-bytes") -> Pair:
    """A pair whose caches hold the ids themselves."""
    target, draft = tiny.PAIRS[which]()
    text = "Za górą żółty kot śpi i śni o myszach".encode()
    models = [tiny.copies(t, b" " + text * 2, 0.2, 3) for t in (target, draft)]
    return Pair(tiny.loaded(target, models[0]), tiny.loaded(draft, models[1]), k=3)


def test_what_is_noted_is_what_the_caches_hold():
    pair = scripted()
    session = Session(pair)
    for prompt in ("Za górą", "Za górą żółty", "Za"):
        for n, _ in enumerate(generate_rounds(pair, prompt, max_tokens=9, session=session)):
            for kept in (session.target, session.draft):
                held = kept.lane.cache[0].ids
                assert kept.lane.length == len(held) and list(kept.ids[: len(held)]) == held
            if n == 2:
                break


def test_only_what_is_new_is_fed():
    pair, fed = scripted(), []

    def counting(model):
        inner = model.following
        model.following = lambda ids: (fed.append(len(ids)), inner(ids))[1]

    counting(pair.target.model)
    session = Session(pair)
    list(generate_rounds(pair, "Za górą żółty kot śpi", max_tokens=2, session=session))
    fed.clear()
    list(generate_rounds(pair, "Za górą żółty kot śpi", max_tokens=1, session=session))
    assert len(fed) == 1


@pytest.mark.parametrize("at", (1, 9, 14, 17, 18, 19, 20))
@pytest.mark.parametrize("side", ("target", "draft"))
def test_a_failure_inside_a_round_makes_the_next_prompt_start_from_nothing(side, at):
    pair = scripted()
    session = Session(pair)
    wanted = [r.token for r in stream_generate(pair, "Za górą", max_tokens=20)]
    model, calls = getattr(pair, side).model, []
    inner = model.following

    def failing(ids):
        calls.append(len(ids))
        if len(calls) == at:
            raise KeyboardInterrupt
        return inner(ids)

    model.following = failing
    with pytest.raises(KeyboardInterrupt):
        list(session.stream("Za górą", max_tokens=20))
    assert session.target.ids is None and session.draft.ids is None
    model.following = inner
    assert [r.token for r in session.stream("Za górą", max_tokens=20)] == wanted
    assert session.reused == 0


def test_a_cache_without_a_way_back_is_made_anew():
    class Model(tiny.Scripted):
        def make_cache(self):
            return [Rotating()]

    class Rotating(tiny.IdCache):
        def is_trimmable(self):
            return False

    target, _ = tiny.PAIRS["same"]()
    text = "Za górą żółty kot śpi".encode()
    model = Model(len(target.vocabulary.table), tiny.copies(target, b" " + text, 0, 1).following)
    pair = Pair(tiny.loaded(target, model), None)
    session = Session(pair)
    for prompt in ("Za górą", "Za", "Za górą żółty"):
        wanted = [r.token for r in stream_generate(pair, prompt, max_tokens=5)]
        assert [r.token for r in session.stream(prompt, max_tokens=5)] == wanted


def test_a_reset_forgets():
    pair = tiny.random_pair("same")
    session = Session(pair)
    list(session.stream(tiny.PROMPT, max_tokens=3))
    session.reset()
    list(session.stream(tiny.PROMPT, max_tokens=3))
    assert session.reused == 0


def test_logits_processors_see_the_kept_part_too():
    pair, seen = tiny.random_pair("same"), []

    def look(tokens, logits):
        seen.append(tokens.tolist())
        return logits

    session = Session(pair)
    options = {"max_tokens": 2, "sampling": Sampling(processors=(look,)), "k": 2}
    list(generate_rounds(pair, tiny.PROMPT, session=session, **options))
    first = seen[0]
    seen.clear()
    list(generate_rounds(pair, tiny.PROMPT, session=session, **options))
    assert seen[0] == first == pair.target.encode_prompt(tiny.PROMPT)


def test_the_common_beginning():
    assert common([1, 2, 3], [1, 2, 4]) == 2
    assert common([], [1]) == common([1], []) == 0
    assert common([1, 2], [1, 2, 3]) == 2
