"""Inputs that break tools of this kind; each is a kind of fault that users of other tools have reported."""

from __future__ import annotations

import json
import time

import pytest
from families import MADE, PUBLISHED, family
from makers import sentencepiece

from tokalign.errors import TokalignError
from tokalign.tokenizers import Source, Tokenizer, Unaligned
from tokalign.translate import ExactTranslator, Tail

TEXTS = {
    "split letters": " źdźbło Źródło Łódź ŻÓŁĆ",
    "letters after a quote": '" źrebię"',
    "no leading space": "leżak",
    "two leading spaces": "  dom",
    "control spellings": "ala <|begin_of_text|> kot <s>ala</s> tak<|im_end|>nie <tool_call>",
    "spaces before signs": "kot , pies . 'm'",
    "no-break space": "10\u00a0000\u00a0zł",
    "quotes and dashes": "„cytat” — tak…",
    "line ends": "a\r\nb\r\n\t x    y",
    "emoji": "w źdźble żółw 🙂 👨‍👩‍👧",
    "soft hyphens": "nie\u00adpod\u00adle\u00adgłość\u200b",
    "script end": "</script><!-- kot",
    "one letter": "ż",
}


@pytest.mark.parametrize("name", [*MADE, *PUBLISHED])
@pytest.mark.parametrize("what", TEXTS)
def test_bytes_are_kept(name: str, what: str):
    tokenizer = family(name)
    if tokenizer is None:
        pytest.skip(f"the vocabulary of {name} is not installed")
    text = TEXTS[what]
    found = tokenizer.segment(text)
    assert found.path == "bytes"
    assert found.ends[-1] == len(text.encode())
    assert not set(found.ids.tolist()) & set(tokenizer.vocabulary.control)
    assert tokenizer.decode(tokenizer.encode_bytes(text.encode())) == text.encode()


@pytest.mark.parametrize("name", [*MADE, *PUBLISHED])
def test_combining_marks_are_exact_or_named(name: str):
    tokenizer = family(name)
    if tokenizer is None:
        pytest.skip(f"the vocabulary of {name} is not installed")
    text = "zaz\u0307o\u0301łc\u0301"
    try:
        assert tokenizer.segment(text).ends[-1] == len(text.encode())
    except Unaligned as error:
        assert name in str(error)


def test_lone_dummy_prefix_has_no_bytes():
    tokenizer = sentencepiece(["dom"], "x")
    found = tokenizer.segment("dom")
    assert tokenizer.decode(found.ids) == b" dom"
    assert found.ends.tolist()[0] in (0, 3) and found.ends.tolist()[-1] == 3


def test_a_literal_word_mark_takes_the_slow_path():
    tokenizer = sentencepiece([], "ab")
    found = tokenizer.segment("a▁b")
    assert found.path == "offsets"
    assert found.ends.tolist()[-1] == 5
    assert tokenizer.decode(tokenizer.encode_bytes("a▁b".encode())) == "a▁b".encode()


def test_a_lone_surrogate_is_named():
    with pytest.raises(TokalignError, match=r"U\+D800"):
        sentencepiece().encode("a\ud800b")


@pytest.mark.parametrize("name", MADE)
def test_long_lines_take_bounded_time(name: str):
    tokenizer = family(name)
    assert tokenizer is not None
    for text in ("kot żółw " * 20_000, " " * 100_000, "x" * 100_000):
        begin = time.perf_counter()
        assert tokenizer.segment(text).ends[-1] == len(text.encode())
        assert time.perf_counter() - begin < 30, "not quadratic"


@pytest.mark.parametrize("name", [*MADE, *PUBLISHED])
def test_repetition_gives_candidates(name: str):
    tokenizer = family(name)
    if tokenizer is None:
        pytest.skip(f"the vocabulary of {name} is not installed")
    ids = tokenizer.encode("nie, nie, nie, nie, to prawda")
    for cut in range(1, len(ids)):
        draft = tokenizer.decode(ids[cut:])
        assert ExactTranslator(tokenizer).translate(Tail.of(tokenizer, ids[:cut]), draft).ids == tuple(
            ids[cut:]
        )


def test_padding_rows_are_no_part_of_the_vocabulary():
    plain = sentencepiece(["dom"])
    spec = json.loads(plain._document.to_str())
    size = len(plain.vocabulary.table)
    spec["added_tokens"] = [
        {"id": size, "content": "<pad>", "special": True, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False}
    ]  # fmt: skip
    padded = Tokenizer.from_json(json.dumps(spec), "padded", Source("memory", "made by a test"))
    assert padded.fingerprint == plain.fingerprint
    assert padded.decode([size, size + 1000]) == b""


def test_equal_sizes_prove_nothing():
    one, other = sentencepiece(["dom"], "dom"), sentencepiece(["mod"], "dom")
    assert len(one.vocabulary.table) == len(other.vocabulary.table)
    assert one.fingerprint != other.fingerprint


def test_both_spellings_of_the_dummy_prefix_are_one_vocabulary():
    first, prepend = family("sentencepiece-first"), family("sentencepiece-prepend")
    assert first is not None and prepend is not None
    assert first.dummy_prefix and prepend.dummy_prefix
    assert first.encode("źdźbło ma kłos") == prepend.encode("źdźbło ma kłos")
