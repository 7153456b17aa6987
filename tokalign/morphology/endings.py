"""Where a Polish form with a known SGJP reading divides into stem and ending.

The ending is read off the tag (part of speech, number, case, person, ...), never off the letters that the
paradigm shares: stems alternate (``głod|u`` beside ``głód``, ``skutk|ów`` beside ``skutek``, ``ręc|e`` beside
``ręka``), endings hardly do. For each tag there is a set of possible endings, and the longest one that the
form carries wins; the lemma is asked only where a stem may look like an ending (``głów`` is a bare stem).

Conventions, after the tables of SGJP (sgjp.pl) and Tokarski, "Schematyczny indeks a tergo":

* past tense and conditional: the ending starts at ł/l (``robi|łem``, ``zrobi|libyśmy``, ``zosta|ł``);
* imperative: ``czyta|j``, ``zapomni|jcie``, ``mów|cie``; ``rób`` has a zero ending;
* present tense of the -am/-em class: theme vowel and person together (``czyt|asz``, ``umi|eją``);
* participles and gerunds are stems of their own: only the adjectival or nominal ending is cut;
* ``i`` between a consonant and a vowel marks softness: both sides are accepted (``ni|e``, ``n|ie``). After
  t, d, r, l, ch and in -gia, -fia it is the last sound of the stem: one offset (``parti|ę``, ``strategi|ą``);
  ``opini|ę`` and ``ziemi|ę`` cannot be told apart by letters, so both sides are accepted in both;
* a particle fused to a pronoun closes the ending: ``cz|egoś``, ``któr|ymkolwiek``.

Case and number follow the tag; letters must be lower case and composed (NFC).
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from tokalign.errors import UsageError

Cut = Literal["ending", "zero", "uninflected"]

# Nouns: number and case to endings, all genders together; those of adjectival nouns and kto/co included.
_NOUN = {
    "sg": {
        "nom": "a o e ę y i um",
        "gen": "a u ego ogo i y ej um",
        "dat": "owi u emu omu i y e ej um",
        "acc": "a u ego ogo ę ą o e y i um",
        "inst": "em ą ym im um",
        "loc": "e u i y ym im ej um",
        "voc": "a e u o y i ę um",
    },
    "pl": {
        "nom": "owie y i e a",
        "gen": "ów i y u ych ich",
        "dat": "om ym im",
        "acc": "ów y i e a u ych ich",
        "inst": "ami mi ymi imi oma yma y i",
        "loc": "ach ech ych ich",
        "voc": "owie y i e a",
    },
}
# Adjectives, adjectival pronouns and participles.
_ADJECTIVE = {
    "sg": {
        "nom": "y i a e o",
        "gen": "ego ej",
        "dat": "emu ej",
        "acc": "ego y i ą ę e o",
        "inst": "ym im ą",
        "loc": "ym im ej",
        "voc": "y i a e o",
    },
    "pl": {
        "nom": "y i e",
        "gen": "ych ich",
        "dat": "ym im",
        "acc": "ych ich e y i",
        "inst": "ymi imi",
        "loc": "ych ich",
        "voc": "y i e",
    },
}
_NUMERAL = "óch ech ich u om em oma ema iema ga gu giem aj ej ą ę e a o y i"
_PRONOUN = "ego emu ie ą ę ej im ich imi ymi ami am as go mu o a i e y"
_PERSON = {  # present tense; -ą of the third person plural is told from -ają and -eją in _third_plural
    ("sg", "pri"): "am em ę",
    ("sg", "sec"): "asz esz isz ysz",
    ("sg", "ter"): "a e i y",
    ("pl", "pri"): "amy emy imy ymy",
    ("pl", "sec"): "acie ecie icie ycie",
    ("pl", "ter"): "ają eją ą",
}
_BE = {("sg", "pri"): "em", ("sg", "sec"): "eś", ("pl", "pri"): "eśmy", ("pl", "sec"): "eście"}  # jest|em
_IMPERATIVE = {"sg": "j", "pl": "jmy my jcie cie"}
_OTHER = {  # classes with one set of endings, whatever the number or person
    "inf": "ć c",
    "pcon": "ąc",
    "pant": "wszy łszy",
    "imps": "o",
    "winien": "a o y i am aś om oś yśmy yście iśmy iście em eś",
    "adjp": "u a",
}
_INVARIABLE = (
    "adv adja aglt brev burk comp conj dig frag ign interj interp numcomp part prefa prefs pred "
    "prep pacta qub romandig sym xxs"
)
_UNINFLECTED = frozenset(_INVARIABLE.split())
_CASES = frozenset(_NOUN["sg"])
_PARTICLES = ("kolwiek", "że", "ż", "ś")
_PRONOMINAL_NOUNS = frozenset({"ktoś", "coś", "któż", "cóż", "ktokolwiek", "cokolwiek", "ktośkolwiek"})
_VOWELS = frozenset("aeiouyąęó")
_HARD_VOWELS = frozenset("aeouóąę")
_NEVER_SOFT = frozenset("tdrlh")
_FOREIGN = ("gia", "fia")  # lemmas whose stem ends in the sound j, like those after t, d, r, l, ch


def boundary(form: str, lemma: str, tag: str) -> tuple[int, ...]:
    """Character offsets of ``form`` at which its ending may start, ascending; ``()`` where nothing is cut.

    ``lemma`` may carry a Morfeusz homonym mark (``dobry:A``), ``tag`` is an SGJP tag with ``praet`` and
    ``cond`` as whole forms. Two offsets: the letter i between them marks softness only.

    Raises ``UsageError`` for a part of speech that SGJP does not have.
    """
    lowered = form.lower()
    return cut(lowered, lemma, tag)[1] if len(lowered) == len(form) else ()


def cut(form: str, lemma: str, tag: str) -> tuple[Cut, tuple[int, ...]]:
    """Kind of ending of a lower-case ``form``, and its offsets: empty unless the kind is "ending"."""
    cls, indeclinable, endings = _endings(tag)
    lemma = lemma.partition(":")[0].lower()
    if indeclinable and not (lemma.endswith("um") and "um" in endings):
        return "uninflected", ()
    if cls in ("praet", "cond"):
        return _past(form)
    particle = _particle(form, lemma, cls)
    body = form[: len(form) - particle]
    if cls == "fin":
        endings = _finite(body, lemma, endings)
    elif cls in ("ppron12", "ppron3") and body in endings:
        return "zero", ()  # clitics and suppletive nominatives: go, mu, im
    for ending in endings:
        if body.endswith(ending) and len(ending) < len(body) and _is_ending(body, ending, lemma, cls, tag):
            return "ending", _soften(body, len(body) - len(ending), lemma)
    return "zero", ()


@cache
def _endings(tag: str) -> tuple[str, bool, tuple[str, ...]]:
    """Class of a tag, whether it fills every case alike, and its possible endings, longest first."""
    cls, *fields = tag.split(":")
    if cls in _UNINFLECTED:
        return cls, True, ()
    number = fields[0] if fields else ""
    second = fields[1].split(".") if len(fields) > 1 else []
    found: list[str] = []
    if cls in ("subst", "depr", "ger", "adj", "ppas", "pact"):
        table = _NOUN if cls in ("subst", "depr", "ger") else _ADJECTIVE
        found = [table[n][c] for n in number.split(".") for c in second if c in _CASES]
    elif cls in ("fin", "bedzie"):
        found = [_PERSON.get((number, p), "") for p in second]
    elif cls == "impt":
        found = [_IMPERATIVE.get(number, "")]
    elif cls in ("num", "ppron3", "siebie") or (cls == "ppron12" and second != ["nom"]):
        found = [_NUMERAL if cls == "num" else _PRONOUN]
    elif cls in _OTHER:
        found = [_OTHER[cls]]
    elif cls not in ("praet", "cond", "adjc", "ppron12"):
        raise UsageError(f"Tag {tag!r} has no part of speech that SGJP knows; use a tag of Morfeusz.")
    everything = cls != "num" and set(second) >= _CASES
    return cls, everything, tuple(sorted({e for s in found for e in s.split()}, key=lambda e: (-len(e), e)))


def _past(form: str) -> tuple[Cut, tuple[int, ...]]:
    """Past tense or conditional: from the last ł, or from the l before i, that the person markers follow."""
    at = max(form.rfind("ł"), form.rfind("li"))
    return ("ending", (at,)) if at > 0 else ("zero", ())


def _finite(form: str, lemma: str, endings: tuple[str, ...]) -> tuple[str, ...]:
    """Endings of the present tense for this verb: być apart, and -ą for stems in -aj-, -ej-."""
    if form.startswith("jest"):
        return tuple(e for e in _BE.values() if form == "jest" + e)
    if form.endswith(("ają", "eją")) and _stem_in_j(form[:-1], lemma):
        return ("ą",)
    return endings


def _stem_in_j(stem: str, lemma: str) -> bool:
    """Whether j belongs to the present stem: daj-ą from dawać, łaj-ą from łajać, szalej-ą from szaleć."""
    if lemma in (stem + "ać", stem[:-1] + "wać"):
        return True
    return stem.endswith("ej") and not lemma.endswith(("umieć", "śmieć"))


def _particle(form: str, lemma: str, cls: str) -> int:
    """Length of the particle fused to a pronoun (czego-ś, którym-kolwiek), 0 for all other words."""
    if cls == "subst" and lemma not in _PRONOMINAL_NOUNS:
        return 0
    if cls not in ("subst", "adj", "num") or not lemma.endswith(_PARTICLES):
        return 0
    return next((len(p) for p in _PARTICLES if form.endswith(p) and len(p) < len(form)), 0)


def _is_ending(form: str, ending: str, lemma: str, cls: str, tag: str) -> bool:
    """False where the last letters of the stem only look like ``ending``."""
    if cls == "num":
        return form != lemma or form[-1] in _VOWELS  # trz|ej, but więcej, siedem
    if cls not in ("subst", "depr"):
        return True
    if ending == "um":
        return lemma.endswith("um") and tag.split(":")[3] == "n"  # muze|um, but album
    if ending in ("ów", "ych", "ich"):
        return form[:-2] + form[-2:].replace("ó", "o") != lemma.rstrip("aoey")  # głów, lich: głowa, licho
    return True


def _soften(form: str, at: int, lemma: str) -> tuple[int, ...]:
    """The boundary ``at``, and its neighbour across an i that marks nothing but softness."""
    if form[at] in _VOWELS and form[at] not in "iy" and form[at - 1] == "i":
        at -= 1  # stem in -i before a vowel
    if at < 1 or form[at] != "i" or form[at + 1 : at + 2] not in _HARD_VOWELS:
        return (at,)
    if form[at - 1] in _VOWELS or form[at - 1] in _NEVER_SOFT or lemma.endswith(_FOREIGN):
        return (at + 1,)
    return (at, at + 1)
