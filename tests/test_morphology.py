"""Inflection boundaries: forms whose division grammars of Polish agree on, and a reference where present.

A bar marks the boundary; two bars: the letter i between them marks softness only.
"""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tokalign.errors import UsageError
from tokalign.morphology import FORMS_SCHEMA, analyse, analyse_forms, boundary

REFERENCE = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "inflection_reference.tsv"

# All dictionary readings of these agree, so the form alone decides.
ENDINGS = """
noun dom|u głod|u skutk|ów ręc|e poet|ów kobiet|om ocz|ami ocz|yma ręk|oma lat|ach ludz|i Niemcz|ech
noun dzieć|mi koń|mi profesor|owie księż|a muze|um muze|a muze|ów album|em imion|a sędz|i|ego Kowalsk|i|ego
noun ziem|i|ę uczn|i|ów brac|i|a więzien|i|em kośc|i|ach parti|ę seri|ą strategi|ę bibli|ę histori|i kole|i
noun Amerykan|ów milion|ów Łodz|i Warszaw|y KOBIET|Y
verb czyt|am czyt|asz czyt|ają daj|e um|i|eją szalej|ą rob|i|ę mów|i pisz|esz chc|emy wierz|ycie
verb będz|i|e jest|em s|ą robi|łem zrobi|li posz|ła poszed|ł zrobi|łbym zrobi|libyśmy wiedzia|łem
verb czyta|j pamięta|jcie mów|cie powiedz|my robi|ć mó|c czytaj|ąc zrobi|wszy zrobion|o powinn|a powinn|am
adj  cał|ego najlepsz|ych wielk|i|emu tak|i|ej czytan|ymi robiąc|ego niezrobion|y polsk|u swo|ich
adj  jak|i|egoś któr|ymkolwiek t|ychże
num  dw|óch dw|aj trz|ej trz|ema pięcior|o dwoj|ga wiel|oma dwust|u kilk|u
pron mn|i|e n|i|ego cieb|i|e sob|i|e n|ich j|ą on|a k|omu cz|egoś nicz|ego
"""
KINDS = """
zero         dom kot głów słów krów ksiąg zadań album łódź wierz rób jest zdrów wesół ten mój pięć siedem
zero         ja go nikt tysiąc powinien
uninflected  w i z od że oraz bardzo szybko lepiej więcej NATO menu albo mimo trzeba abym tyś Ale Do ach XIX
ambiguous    może nie potem razem jedli była damy kim
unknown      xqzt ą qwrtp biało-czerwony 12 3B . Harry'ego
"""
# Readings that their form does not show alone: form, lemma, tag.
READINGS = [
    ("głów", "głowa", "subst:pl:gen:f", ""),
    ("wdów", "wdowa", "subst:pl:gen:f", ""),
    ("lich", "licho", "subst:pl:gen:n:ncol", ""),
    ("nowych", "nowy:S", "subst:pl:gen:m1", "now|ych"),
    ("album", "album", "subst:sg:nom.acc:m3", ""),
    ("muzeum", "muzeum", "subst:sg:gen:n:ncol", "muze|um"),
    ("mają", "mieć", "fin:pl:ter:imperf", "m|ają"),
    ("dają", "dawać", "fin:pl:ter:imperf", "daj|ą"),
    ("była", "były:A", "adj:sg:nom.voc:f:pos", "był|a"),
    ("była", "być", "praet:sg:f:ter:imperf", "by|ła"),
    ("stanie", "stan", "subst:sg:loc:m3", "stan|i|e"),
    ("Krakowie", "Kraków", "subst:sg:loc:m3", "Krakow|i|e"),
    ("mełł", "mleć", "praet:sg:m1.m2.m3:ter:imperf", "meł|ł"),
    ("najlepszy", "dobry:A", "adj:sg:nom.voc:m1.m2.m3:sup", "najlepsz|y"),
    ("menu", "menu", "subst:sg.pl:nom.gen.dat.acc.inst.loc.voc:n:ncol", ""),
    ("szybko", "szybko", "adv:pos", ""),
    ("", "", "adv:pos", ""),
    ("", "kot", "subst:sg:gen:m2", ""),
]


def rows(table: str) -> list[tuple[str, str]]:
    lines = [line.split() for line in table.split("\n") if line]
    return [(label, item) for label, *items in lines for item in items]


def offsets(marked: str) -> tuple[int, ...]:
    """Offsets of the bars: ``n|i|e`` gives (1, 2)."""
    return tuple(accumulate(len(part) for part in marked.split("|")[:-1]))


def test_the_lists_are_long_enough_to_mean_something() -> None:
    assert len(rows(ENDINGS)) + len(rows(KINDS)) + len(READINGS) >= 150


@pytest.mark.parametrize(("pos", "marked"), rows(ENDINGS))
def test_ending_of_a_form_alone(pos: str, marked: str) -> None:
    found = analyse(marked.replace("|", ""))
    assert (found.kind, found.pos, found.boundaries) == ("ending", pos, offsets(marked))


@pytest.mark.parametrize(("kind", "form"), rows(KINDS))
def test_forms_without_one_boundary_are_reported_as_such(kind: str, form: str) -> None:
    found = analyse(form)
    assert found.kind == kind
    assert bool(found.boundaries) == (kind == "ambiguous")
    assert (found.pos is None) == (found.lemma is None) == (found.tag is None) == (kind == "unknown")


@pytest.mark.parametrize(("form", "lemma", "tag", "marked"), READINGS)
def test_boundary_of_a_given_reading(form: str, lemma: str, tag: str, marked: str) -> None:
    assert boundary(form, lemma, tag) == offsets(marked)


def test_an_ambiguous_form_keeps_the_offsets_of_every_reading() -> None:
    assert analyse("była").boundaries == (2, 3)
    assert analyse("nie").pos == "conj"
    assert analyse("może").boundaries == (3,)


def test_empty_string_is_unknown() -> None:
    assert analyse("").kind == "unknown"


@pytest.mark.parametrize("form", ["kobiety", "Kobiety", "KOBIETY"])
def test_capitals_change_nothing_but_the_form(form: str) -> None:
    found = analyse(form)
    assert (found.form, found.lemma, found.boundaries) == (form, "kobieta", (6,))


def test_letters_that_lowering_lengthens_are_unknown_not_shifted() -> None:
    assert analyse("İstanbulu").kind == "unknown"
    assert boundary("İstanbulu", "İstanbul", "subst:sg:gen:m3") == ()


def test_unknown_part_of_speech_is_an_error_that_names_it() -> None:
    with pytest.raises(UsageError, match="'nonsense:sg'"):
        boundary("dom", "dom", "nonsense:sg")


def test_frame_has_one_row_per_distinct_form_in_order() -> None:
    frame = analyse_forms(["skutków", "nie", "skutków", "xqzt"])
    expected = pl.DataFrame(
        {
            "form": ["skutków", "nie", "xqzt"],
            "boundaries": [[5], [1, 2], []],
            "pos": ["noun", "conj", None],
            "lemma": ["skutek", "nie", None],
            "tag": ["subst:pl:gen:m3", "conj", None],
            "kind": ["ending", "ambiguous", "unknown"],
        },
        schema=FORMS_SCHEMA,
    )
    assert_frame_equal(frame, expected)


def test_no_forms_give_an_empty_frame_of_the_same_schema() -> None:
    assert_frame_equal(analyse_forms([]), pl.DataFrame(schema=FORMS_SCHEMA))


def test_nulls_are_refused() -> None:
    with pytest.raises(UsageError, match="drop nulls"):
        analyse_forms(["dom", None])  # type: ignore[list-item]


@pytest.mark.skipif(not REFERENCE.is_file(), reason=f"no reference of inflection boundaries at {REFERENCE}")
def test_agreement_with_the_reference() -> None:
    lines = REFERENCE.read_text(encoding="utf-8").splitlines()[1:]
    fields = (line.split("\t") for line in lines)
    table = [(form, set(map(int, cuts.split(","))), lemma, tag) for form, cuts, _, lemma, tag in fields]
    given = sum(bool(cuts & set(boundary(form, lemma, tag))) for form, cuts, lemma, tag in table)
    found = {r["form"]: set(r["boundaries"]) for r in analyse_forms(t[0] for t in table).iter_rows(named=True)}
    alone = sum(bool(cuts & found[form]) for form, cuts, _, _ in table)
    assert given / len(table) >= 0.93
    assert alone / len(table) >= 0.93
