"""Whether two models can work as target and draft, and what their vocabularies have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from decoder.errors import PairError
from decoder.lane import cache_kinds
from decoder.models import Loaded
from decoder.strategy import Strategy, same_vocabulary
from tokalign.tokenizers import Tokenizer

QUESTION = ({"role": "user", "content": "Tak?"},)


@dataclass(frozen=True)
class Side:
    """One model of a pair.

    ``ids`` counts the ids that stand for text, ``rows`` the model's logits, ``padding`` the rows past the
    vocabulary. ``eos`` and ``bos`` map ids to spellings. ``doubled_bos`` says that the rendered chat template,
    encoded as a text, would begin with two <s> (decoding does not encode it so); None without a template.
    ``caches`` counts layers by kind of cache, ``untrimmable`` those that cannot take tokens back.
    """

    name: str
    fingerprint: str
    family: str
    ids: int
    rows: int
    padding: int
    dummy_prefix: bool
    bos: Mapping[int, str]
    eos: Mapping[int, str]
    chat_template: bool
    doubled_bos: bool | None
    caches: Mapping[str, int]
    untrimmable: Mapping[str, int]


@dataclass(frozen=True)
class Difference:
    """The first id that stands for different bytes; a side is None where the id is none of its text."""

    id: int
    target: bytes | None
    draft: bytes | None


@dataclass(frozen=True)
class Compatibility:
    """What is known of a pair. ``shared`` is the share of the target's tokens that are one token of the
    draft's too, by bytes. ``problems`` say why the pair cannot work; ``notes`` what to know where it can."""

    target: Side
    draft: Side
    same_vocabulary: bool
    first_difference: Difference | None
    shared: float
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def works(self) -> bool:
        """Whether the pair can decode."""
        return not self.problems

    @property
    def verdict(self) -> str:
        """The outcome in one sentence."""
        if self.problems:
            return f"Cannot work: {self.problems[0]}."
        if self.same_vocabulary:
            return "Works: both have one vocabulary, so ids pass as they are and nothing is translated."
        return (
            f"Works: drafts are translated through bytes; {self.shared:.1%} of the target's tokens are "
            "one token of the draft's too."
        )

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON values; bytes in hex."""
        values = asdict(self)
        if self.first_difference is not None:
            values["first_difference"] = {
                "id": self.first_difference.id,
                "target": _hex(self.first_difference.target),
                "draft": _hex(self.first_difference.draft),
            }
        return {"works": self.works, "verdict": self.verdict, **values}


def compatibility(target: Loaded, draft: Loaded) -> Compatibility:
    """Look at a pair without decoding."""
    sides = (_side(target), _side(draft))
    return Compatibility(
        *sides,
        same_vocabulary(target.tokenizer, draft.tokenizer),
        first_difference(target.tokenizer, draft.tokenizer),
        shared_tokens(target.tokenizer, draft.tokenizer),
        tuple(_problems(sides, target, draft)),
        tuple(_notes(sides, target, draft)),
    )


def first_difference(target: Tokenizer, draft: Tokenizer) -> Difference | None:
    """The lowest id at which the vocabularies differ, or None."""
    tables = (target.vocabulary.table, draft.vocabulary.table)
    for i in range(max(map(len, tables))):
        a, b = (table[i] if i < len(table) else b"" for table in tables)
        if a != b:
            return Difference(i, a or None, b or None)
    return None


def shared_tokens(target: Tokenizer, draft: Tokenizer) -> float:
    """The share of the target's tokens, by bytes, that the draft's vocabulary spells in one token."""
    spelled = {data for data in draft.vocabulary.table if data}
    tokens = [data for data in target.vocabulary.table if data]
    return sum(data in spelled for data in tokens) / len(tokens)


def _side(loaded: Loaded) -> Side:
    tokenizer, wrapper = loaded.tokenizer, loaded.wrapper
    rows, kinds = loaded.rows, cache_kinds(loaded.model)
    ids = [] if wrapper.bos_token_id is None else [wrapper.bos_token_id]
    return Side(
        loaded.name,
        tokenizer.fingerprint,
        tokenizer.vocabulary.family,
        tokenizer.vocabulary.n_ordinary,
        rows,
        max(0, rows - len(tokenizer.vocabulary.table)),
        tokenizer.dummy_prefix,
        {i: _spelling(loaded, i) for i in ids},
        {i: _spelling(loaded, i) for i in sorted(loaded.eos)},
        loaded.has_chat_template,
        _doubled_bos(loaded),
        dict(Counter(kind for kind, _ in kinds)),
        dict(Counter(kind for kind, trimmable in kinds if not trimmable)),
    )


def _spelling(loaded: Loaded, i: int) -> str:
    return str(loaded.wrapper.convert_ids_to_tokens(i))


def _doubled_bos(loaded: Loaded) -> bool | None:
    if not loaded.has_chat_template:
        return None
    try:
        text = loaded.wrapper.apply_chat_template(list(QUESTION), tokenize=False, add_generation_prompt=True)
    except Exception:  # a template may raise anything; decoding says so when it is used
        return None
    bos = loaded.wrapper.bos_token_id
    return bos is not None and list(loaded.wrapper.encode(text))[:2] == [bos, bos]


def _problems(sides: tuple[Side, Side], target: Loaded, draft: Loaded) -> list[str]:
    found = []
    for role, side, loaded in zip(("target", "draft"), sides, (target, draft), strict=True):
        if side.untrimmable:
            kinds = ", ".join(f"{kind} in {_layers(n)}" for kind, n in sorted(side.untrimmable.items()))
            found.append(f"the {role} keeps {kinds}, which cannot take tokens back")
        last = max(i for i, data in enumerate(loaded.tokenizer.vocabulary.table) if data)
        if last >= side.rows:
            found.append(f"the {role}'s vocabulary has the id {last}, but its model only {side.rows} rows")
    try:
        Strategy().bridge(target.tokenizer, draft.tokenizer)
    except PairError as error:
        found.append(str(error).rstrip("."))
    return found


def _notes(sides: tuple[Side, Side], target: Loaded, draft: Loaded) -> list[str]:
    found = []
    if sides[0].chat_template and not sides[1].chat_template:
        found.append("the draft has no chat template: it gets the messages as plain paragraphs")
    if not sides[0].eos:
        found.append("the target has no end of sequence: only max_tokens or a stop text ends it")
    if not sides[1].eos:
        found.append("the draft has no end of sequence: it cannot propose the target's")
    if not same_vocabulary(target.tokenizer, draft.tokenizer) and not target.tokenizer.word_starts_are_safe:
        found.append("the target has tokens that reach across a word start: some drafts will merge there")
    return found


def _layers(n: int) -> str:
    return "1 layer" if n == 1 else f"{n} layers"


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()
