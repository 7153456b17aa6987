"""What holds between any two rounds, for any stream of tokens, any draft and any points of acceptance."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import mlx.core as mx
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from decoder.drafters import AutoDrafter
from decoder.generation import Pair, encode_prompts
from decoder.lane import Lane
from decoder.loop import Round
from decoder.strategy import Strategy
from decoding import makers as tiny
from tokalign.tokenizers import Tokenizer
from tokalign.translate.tail import LIMIT

SENTENCES = (
    "Zażółć gęślą jaźń, a źdźbło w Łodzi ŻÓŁĆ.",
    "nie, nie, nie, nie, to prawda",
    "„Kot” — rzekł… 10 000 zł 🙂👨‍👩‍👧 i już\r\n\tkoniec",
    "https://przyklad.pl/a/b/c?d=e_f_g&h=1234567890&żółć=bardzo-długi-adres-bez-odstępów-aż-do-końca-wiersza",
    "tak<|im_end|>nie <s>ala</s> a▁b zażółć",
    "日本語のテキストは空白なしで続く。もっと続く。",
    "   wiele   odstępów    ",
)
EXACT = st.builds(
    Strategy.parse,
    st.sampled_from(("anchored", "context:0", "context:1", "context:2", "context:5")),
    hold_back=st.booleans(),
    heal=st.booleans(),
)


def token_streams(tokenizer: Tokenizer) -> st.SearchStrategy[list[int]]:
    """Text in usual tokens, text in unusual ones, ids of every kind (control tokens, padding rows)."""
    table = tokenizer.vocabulary.table
    usual = st.sampled_from(SENTENCES).map(lambda s: tokenizer.encode_bytes(s.encode()))
    one_by_one = st.sampled_from(SENTENCES).map(
        lambda s: [i for b in s.encode()[:30] for i in tokenizer.encode_bytes(bytes([b]))]
    )
    ordinary = st.lists(st.sampled_from([i for i, data in enumerate(table) if data]), max_size=6)
    anything = st.lists(st.integers(0, len(table) + 3), max_size=3)
    parts = st.lists(st.one_of(usual, usual, one_by_one, ordinary, anything), min_size=1, max_size=4)
    return parts.map(lambda found: [i for part in found for i in part][:70]).filter(len)


@dataclass(frozen=True)
class Case:
    which: str
    pair: Pair = field(repr=False)
    prompts: tuple[list[int], list[int]]
    stream: list[int]
    lengths: tuple[int, ...]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    which = draw(st.sampled_from(sorted(tiny.PAIRS)))
    target, draft = tiny.PAIRS[which]()
    strategy = draw(EXACT)
    stream = draw(token_streams(target))
    begin = draw(st.sampled_from(("", *SENTENCES)))
    prompts = (target.encode(begin) or [target.encode("x")[0]], draft.encode(begin) or [draft.encode("x")[0]])
    if draw(st.booleans()):
        prompts = tuple(  # type: ignore[assignment]
            [tiny.control_id(t, "<s>"), *ids] for t, ids in zip((target, draft), prompts, strict=True)
        )
    rows = [len(t.vocabulary.table) + 4 for t in (target, draft)]
    text = draft.decode(prompts[1]) + target.decode(stream)
    miss = draw(st.sampled_from((0.0, 0.1, 0.3, 0.7)))
    seed = draw(st.integers(0, 999))
    pair = Pair(
        tiny.loaded(target, tiny.follows(prompts[0], stream, rows[0])),
        tiny.loaded(draft, tiny.copies(draft, text, miss, seed, rows[1])),
        strategy,
    )
    return Case(
        f"{which} {strategy}",
        pair,
        prompts,
        stream,
        tuple(draw(st.lists(st.integers(0, 8), min_size=1, max_size=4))),
    )


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_what_holds_after_every_round(case):
    held_true(case, None)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(), st.integers(0, 10**6))
def test_what_holds_where_drafters_take_turns(case, seed):
    held_true(case, tiny.Whim(seed))


def held_true(case: Case, whim: tiny.Whim | None) -> None:
    pair, (prompt, draft_prompt) = case.pair, case.prompts
    target, draft = pair.target.tokenizer, pair.draft.tokenizer
    emitted: list[int] = []

    def check(r: Round, lane: Lane, drafter) -> None:
        emitted.extend(r.tokens)
        assert emitted == case.stream[: len(emitted)]
        # The target's cache holds all tokens but the pending one, which plain decoding may have fed already.
        ahead = lane.cache[0].ids == [*prompt, *emitted]
        assert lane.cache[0].ids == [*prompt, *emitted][:-1] or (ahead and r.k == 0)
        assert lane.length == len(lane.cache[0].ids) and r.state.pending == emitted[-1]
        # The draft's stream is the committed text in its own ids, and its cache holds the stream's beginning.
        behind: list[int] = []
        if isinstance(drafter, AutoDrafter):
            behind, drafter = drafter._behind, drafter.model
        followed = draft.decode(drafter.stream) + drafter._owed
        assert followed + target.decode(behind) == draft.decode(draft_prompt) + target.decode(emitted)
        held = drafter._lane.cache[0].ids
        assert held == [*drafter.stream[: drafter._valid], *drafter._cached]
        assert drafter._lane.length == len(held)
        # Both tails are the ends of their streams, of bounded size, and know their own bytes.
        for tail, tokenizer, stream in (
            (r.state.tail, target, [*prompt, *emitted]),
            (drafter.tail, draft, drafter.stream),
        ):
            n = len(tail.ids)
            assert n <= LIMIT and tail.ids == tuple(stream[len(stream) - n :])
            assert tail.text == tokenizer.decode(tail.ids) and tail.start(n) == len(tail.text)
        # Candidates are the drafted text from its beginning on, whole letters, and never a control token.
        text = target.decode(r.candidates)
        assert r.proposal.text.startswith(text)
        assert not set(r.candidates) & set(target.vocabulary.control)
        assert len(r.candidates) < len(case.stream) - (len(emitted) - len(r.tokens)) or not r.candidates

    done = tiny.rounds(
        pair,
        case.prompts,
        len(case.stream),
        check=check,
        lengths=lambda n: case.lengths[n % len(case.lengths)],
        whim=whim,
    )
    assert emitted == case.stream
    event(f"accepted: {any(r.accepted for r in done)}")


@pytest.mark.parametrize("which", [w for w in tiny.PAIRS if w != "same"])
@pytest.mark.parametrize("heal", (False, True), ids=("no-heal", "heal"))
def test_the_drafts_cache_gives_the_logits_of_its_stream(which, heal):
    pair = tiny.random_pair(which, Strategy(heal=heal))
    prompts = encode_prompts(pair, tiny.PROMPT)

    def check(r: Round, lane: Lane, drafter) -> None:
        stream, valid = drafter.stream, drafter._valid
        assert drafter._lane.length == valid == drafter._lane.cache[0].offset
        held = Lane(pair.draft.model, copy.deepcopy(drafter._lane.cache), valid)
        fresh = Lane(pair.draft.model)
        warm = held.feed(mx.array(stream[valid:]))[-1]
        cold = fresh.feed(mx.array(stream))[-1]
        assert mx.max(mx.abs(warm - cold)).item() < 1e-4
        asked = [*prompts[0], *emitted, *r.tokens]
        emitted.extend(r.tokens)
        cold = Lane(pair.target.model).feed(mx.array(asked[:-1]))[-1]
        assert mx.max(mx.abs(r.logits[len(r.tokens) - 1] - cold)).item() < 1e-4

    emitted: list[int] = []
    tiny.rounds(pair, prompts, 10, check=check, lengths=lambda n: 1 + n % 5)


@pytest.mark.parametrize("sentence", ("Zażółć gęślą jaźń. Łódź, źdźbło i ŻÓŁĆ. ", SENTENCES[3], "日本語の文。"))
@pytest.mark.parametrize("which", [w for w in tiny.PAIRS if w != "same"])
def test_the_work_of_translation_does_not_grow_with_the_text(which, sentence, monkeypatch):
    target, draft = tiny.PAIRS[which]()
    text = (sentence * 4096).encode()
    stream = target.encode_bytes(text[:30_000].decode(errors="ignore").encode())[:4096]
    assert len(stream) == 4096
    prompts = (target.encode("x"), draft.encode_bytes(target.decode(target.encode("x"))))
    told = draft.decode(prompts[1]) + target.decode(stream)
    pair = Pair(
        tiny.loaded(target, tiny.follows(prompts[0], stream, len(target.vocabulary.table))),
        tiny.loaded(draft, tiny.copies(draft, told, 0.1, 1)),
    )
    work = [0]
    encode = Tokenizer.encode_bytes

    def counted(self, data):
        work[-1] += len(data)
        return encode(self, data)

    rounds = tiny.rounds(
        pair,
        prompts,
        4096,
        check=lambda r, lane, drafter: work.append(0),
        lengths=lambda n: (monkeypatch.setattr(Tokenizer, "encode_bytes", counted), 8)[1],
    )
    assert len(rounds) > 400
    first, last = max(work[: len(work) // 4]), max(work[-len(work) // 4 :])
    assert last <= 1.5 * first
    assert max(work) < 4000
