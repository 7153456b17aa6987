"""What a reader sees: whole letters, nothing of a stop text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decoder.text import TextStream


def pieces(data: bytes, cuts: list[int], **options) -> list[str]:
    stream = TextStream(**options)
    ends = sorted({min(c, len(data)) for c in cuts} | {len(data)})
    found = [stream.feed(data[a:b]) for a, b in zip([0, *ends], ends, strict=False)]
    return [*found, stream.finish()]


TEXTS = st.text(
    alphabet=st.sampled_from("aŻÓŁĆ 🙂👨‍👩‍👧\n日") | st.characters(exclude_categories=("Cs",)), max_size=20
)
CUTS = st.lists(st.integers(0, 90), max_size=12)


@given(TEXTS, CUTS)
def test_letters_come_whole_wherever_tokens_cut_them(text, cuts):
    found = pieces(text.encode(), cuts)
    assert "".join(found) == text
    assert all("\ufffd" not in p for p in found) or "\ufffd" in text


@given(st.binary(max_size=30), CUTS)
def test_any_bytes_give_the_text_of_the_whole(data, cuts):
    assert "".join(pieces(data, cuts)) == data.decode(errors="replace")


@given(TEXTS, CUTS, st.lists(st.text("aŻÓŁ 🙂\n", min_size=1, max_size=3), min_size=1, max_size=3))
def test_a_stop_text_ends_the_text_before_its_first_place(text, cuts, stop):
    places = [at for s in stop if (at := text.find(s)) >= 0]
    found = "".join(pieces(text.encode(), cuts, stop=tuple(stop)))
    if not places:
        assert found == text
    else:
        assert found == text[: min(places)] or any(found + s == text[: len(found) + len(s)] for s in stop)
        assert not any(s in found for s in stop)


def test_every_single_byte_of_split_letters():
    text = "ŻÓŁĆ 🙂"
    stream, shown = TextStream(), []
    for byte in text.encode():
        shown.append(stream.feed(bytes([byte])))
    assert [s for s in shown if s] == list(text)
    assert stream.finish() == ""


def test_a_stop_text_across_tokens_and_split_letters():
    stream = TextStream(stop=("ŻÓŁĆ",))
    data = "ala ŻÓŁĆ ma".encode()
    shown = [stream.feed(data[i : i + 1]) for i in range(len(data))]
    assert "".join(shown) == "ala " and stream.stopped
    assert stream.finish() == ""
    assert stream.feed(b"more") == ""


def test_what_only_began_a_stop_text_is_given_out():
    stream = TextStream(stop=("koniec",))
    assert stream.feed(b"a kon") == "a "
    assert stream.feed(b"ia") == "konia"
    assert stream.feed(b" kon") == " "
    assert stream.finish() == "kon"


def test_an_unfinished_letter_at_the_end_is_a_replacement():
    stream = TextStream()
    assert stream.feed(b"a\xc5") == "a"
    assert stream.finish() == "\ufffd"


@pytest.mark.parametrize(("strip", "shown"), ((True, "a b"), (False, " a b")))
def test_the_first_space_of_a_reply(strip, shown):
    stream = TextStream(strip_first_space=strip)
    assert "".join(stream.feed(p) for p in (b"", b" ", b"a", b" b")) + stream.finish() == shown


def test_an_empty_stop_text_stops_nothing():
    assert "".join(pieces(b"ala", [1], stop=("",))) == "ala"
