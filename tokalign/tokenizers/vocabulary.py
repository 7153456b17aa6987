"""The id → bytes table of a vocabulary and the rules that cut text before it is looked up.

Everything here reads the Hugging Face ``tokenizer.json`` form, which every supported source is brought to.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tokalign.errors import TokenizerUnusable

Family = Literal["byte-level", "sentencepiece"]

SPACE = "▁"
# Added tokens that the file does not flag as special but that are spelled as markup (Qwen's <tool_call>,
# <|fim_prefix|>): in a corpus such a spelling is text, exactly as for the flagged ones.
_MARKUP = re.compile(r"<[^\s<>]*>|\[[A-Z0-9_]+\]")
# A space after a visible character: printable ASCII, a two-byte letter (Latin, Greek, Cyrillic), a typographic
# dash or quotation mark. No token reaches across it, so a cut there moves no token boundary on either side.
WORD_START = re.compile(rb"(?:(?<=[\x21-\x7e])|(?<=[\xc3-\xd4][\x80-\xbf])|(?<=\xe2\x80[\x90-\x9f])) ")
_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def _byte_level_alphabet() -> dict[str, int]:
    """Character → byte of the byte-level BPE alphabet (GPT-2): printable bytes are themselves."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [b for b in range(256) if b not in set(printable)]
    table = {chr(b): b for b in printable}
    table.update({chr(256 + i): b for i, b in enumerate(hidden)})
    return table


BYTE_OF_CHAR = _byte_level_alphabet()


@dataclass(frozen=True)
class Vocabulary:
    """What ids stand for, apart from how text is encoded into them.

    ``table[i]`` is the bytes of id ``i``; control tokens and unused ids hold ``b""``. ``control`` maps the
    ids of control tokens (which never stand for text) to their spelling. ``byte_ids`` maps each of the 256
    byte values to the id that stands for exactly this byte, where there is one.
    """

    table: tuple[bytes, ...]
    control: Mapping[int, str]
    family: Family
    rules: Mapping[str, Any]
    byte_ids: Mapping[int, int]

    @property
    def n_ordinary(self) -> int:
        """How many ids stand for text."""
        return sum(1 for b in self.table if b)

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) over every ordinary id with its bytes, then the pre-tokenization rules.

        Control tokens and padding rows are left out: neither has a part in how text is segmented, and the
        same vocabulary comes with more or fewer of them from different sources.
        """
        digest = hashlib.sha256()
        for i, data in enumerate(self.table):
            if data:
                digest.update(i.to_bytes(4, "little") + len(data).to_bytes(4, "little") + data)
        digest.update(json.dumps(self.rules, sort_keys=True, ensure_ascii=False).encode())
        return digest.hexdigest()

    @property
    def bridging(self) -> tuple[int, ...]:
        """Ids of the tokens that hold a word start inside."""
        return tuple(i for i, data in enumerate(self.table) if WORD_START.search(data))


def is_control(added: Mapping[str, Any]) -> bool:
    """Whether an entry of ``added_tokens`` is a control token rather than a piece of text."""
    return bool(added.get("special")) or _MARKUP.fullmatch(added["content"]) is not None


def read_vocabulary(spec: Mapping[str, Any], name: str) -> Vocabulary:
    """Read the table out of a parsed ``tokenizer.json``.

    Raises:
        TokenizerUnusable: the model is of no supported kind (byte-level BPE; BPE or Unigram in
            SentencePiece's spelling).
    """
    family = _family(spec, name)
    control = {a["id"]: a["content"] for a in spec.get("added_tokens", []) if is_control(a)}
    pieces = _pieces(spec)
    pieces |= {a["content"]: a["id"] for a in spec.get("added_tokens", [])}
    added_text = {a["content"] for a in spec.get("added_tokens", []) if not is_control(a)}
    unk = _unknown_id(spec["model"], pieces)
    byte_fallback = bool(spec["model"].get("byte_fallback"))

    table = [b""] * (max(pieces.values()) + 1)
    for piece, i in pieces.items():
        if i in control or i == unk:
            continue
        table[i] = _piece_bytes(piece, family, byte_fallback, literal=piece in added_text)
    byte_ids = {data[0]: i for i, data in reversed(list(enumerate(table))) if len(data) == 1}
    if byte_fallback:  # "A" and "<0x41>" both stand for one byte; text that encodes normally prefers "A"
        byte_ids |= {
            int(m[1], 16): i
            for piece, i in pieces.items()
            if (m := _BYTE_PIECE.fullmatch(piece)) and int(m[1], 16) >= 0x80
        }
    return Vocabulary(tuple(table), control, family, _rules(spec, family), byte_ids)


def _family(spec: Mapping[str, Any], name: str) -> Family:
    model = spec.get("model") or {}
    kind = model.get("type") or ("Unigram" if isinstance(model.get("vocab"), list) else "BPE")
    text = json.dumps([spec.get("pre_tokenizer"), spec.get("decoder"), spec.get("normalizer")])
    if kind == "BPE" and "ByteLevel" in text:
        return "byte-level"
    if kind in ("BPE", "Unigram") and (SPACE in text or "\\u2581" in text or "Metaspace" in text):
        return "sentencepiece"
    raise TokenizerUnusable(
        f"the tokenizer {name!r} is a {kind} model that spells neither bytes nor SentencePiece spaces; "
        "use a byte-level BPE or a SentencePiece vocabulary."
    )


def _pieces(spec: Mapping[str, Any]) -> dict[str, int]:
    vocab = spec["model"]["vocab"]
    return {p: i for i, (p, _) in enumerate(vocab)} if isinstance(vocab, list) else dict(vocab)


def _unknown_id(model: Mapping[str, Any], pieces: Mapping[str, int]) -> int | None:
    return model["unk_id"] if model.get("unk_id") is not None else pieces.get(model.get("unk_token") or "")


def _piece_bytes(piece: str, family: Family, byte_fallback: bool, *, literal: bool) -> bytes:
    if literal:
        return piece.replace(SPACE, " ").encode() if family == "sentencepiece" else piece.encode()
    if family == "byte-level":
        codes = [BYTE_OF_CHAR.get(c) for c in piece]
        return piece.encode() if None in codes else bytes(codes)  # type: ignore[arg-type]
    if byte_fallback and (m := _BYTE_PIECE.fullmatch(piece)):
        return bytes([int(m[1], 16)])
    return piece.replace(SPACE, " ").encode()


def steps(component: Mapping[str, Any] | None, inner: str) -> list[dict[str, Any]]:
    """A normalizer or pre-tokenizer as a flat list of its steps (``inner`` names the sequence's field)."""
    if not component:
        return []
    if component["type"] == "Sequence":
        return [s for part in component[inner] for s in steps(part, inner)]
    return [dict(component)]


def _rules(spec: Mapping[str, Any], family: Family) -> dict[str, Any]:
    """The rules in a form in which equal segmentation gives equal text.

    The dummy prefix is left out on purpose: its two spellings (``Prepend`` and ``Metaspace``) differ only at
    the start of a document, and one vocabulary is published with both.
    """
    normalizers = [
        n
        for n in steps(spec.get("normalizer"), "normalizers")
        if n["type"] != "Prepend" and not (n["type"] == "Replace" and n.get("content") == SPACE)
    ]
    cuts = []
    for step in steps(spec.get("pre_tokenizer"), "pretokenizers"):
        if step["type"] == "Metaspace":
            if step.get("split", True):
                cuts.append({"type": "words"})
        elif step["type"] == "ByteLevel":
            if step.get("use_regex", True):
                cuts.append({"type": "gpt2"})
        else:
            cuts.append(step)
    model = spec["model"]
    return {
        "family": family,
        "normalizers": normalizers,
        "cuts": cuts,
        "byte_fallback": bool(model.get("byte_fallback")),
        "ignore_merges": bool(model.get("ignore_merges")),
    }
