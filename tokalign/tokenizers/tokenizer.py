"""One tokenizer: text to ids, ids to bytes, and where every token ends in bytes."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from tokenizers import Tokenizer as Encoder

from tokalign.errors import TokalignError, TokenizerUnusable
from tokalign.tokenizers.encoders import Encoders, of_documents
from tokalign.tokenizers.fast import HARD, FastEncoder, verified
from tokalign.tokenizers.segmentation import Segmentation, Segmentations, Unaligned, bases, joined
from tokalign.tokenizers.vocabulary import SPACE, Vocabulary, read_vocabulary, steps


@dataclass(frozen=True)
class Source:
    """Where a vocabulary came from. ``provisional`` marks a stand-in for a vocabulary that was not found."""

    kind: Literal["path", "hub", "distribution", "stand-in", "memory"]
    detail: str
    sha256: str | None = None
    provisional: bool = False
    notice: str | None = None


class Tokenizer:
    """A vocabulary with its encoder.

    Text is always text here: no special tokens are added, and a text that spells one is encoded as the
    letters it consists of. Two encoders are kept: one for whole documents (with the dummy prefix that
    SentencePiece vocabularies put before the first word) and one for continuations (without it, and without
    normalisation, so that the bytes of its tokens are exactly the bytes it was given).
    """

    def __init__(self, spec: dict[str, Any], name: str, source: Source, text: str | None = None) -> None:
        """``spec``: a parsed ``tokenizer.json``; ``text``: the same before it was parsed, if it is at hand."""
        self.name = name
        self.source = source
        self.vocabulary: Vocabulary = read_vocabulary(spec, name)
        self._encoders = Encoders(text or json.dumps(spec), name, spec)
        self._lengths = np.array([len(b) for b in self.vocabulary.table], dtype=np.int64)
        whole = len(self.vocabulary.byte_ids) == 256  # else letters that no token stands for are dropped
        self._normalizers = _rewriting(spec) if whole else "other"
        self._fast: FastEncoder | None = None

    def __getstate__(self) -> dict[str, Any]:
        """The fast encoder itself cannot be stored; it is made anew, where it was in use."""
        _ = self.dummy_prefix  # stored, so that it takes no encoder to know it
        return {**self.__dict__, "_fast": None if self._fast is None else self._fast.text}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**state, "_fast": None})
        if state["_fast"] is not None:
            with suppress(Exception):  # where gigatoken is missing, the reference encoder gives the same ids
                self._fast = FastEncoder(state["_fast"])

    @property
    def _document(self) -> Encoder:
        return self._encoders.document

    @property
    def _continuation(self) -> Encoder:
        return self._encoders.continuation

    @classmethod
    def from_json(cls, text: str, name: str, source: Source) -> Tokenizer:
        """Build from the text of a ``tokenizer.json``.

        Raises:
            TokenizerUnusable: the text is no such file, or of no supported family.
        """
        try:
            spec = json.loads(text)
            if not isinstance(spec, dict) or "model" not in spec:
                raise ValueError("it has no 'model' field")
            return cls(spec, name, source, text)
        except TokalignError:
            raise
        except Exception as error:  # the Rust side raises bare Exception for a malformed file
            raise TokenizerUnusable(
                f"the tokenizer {name!r} ({source.detail}) cannot be read: {error}; "
                "check that the file is a complete tokenizer.json."
            ) from error

    @cached_property
    def fingerprint(self) -> str:
        """See :attr:`Vocabulary.fingerprint`."""
        return self.vocabulary.fingerprint

    @cached_property
    def dummy_prefix(self) -> bool:
        """Whether a document's first word gets a space put before it."""
        return self.decode(self.encode("x")) == b" x"

    @cached_property
    def word_starts_are_safe(self) -> bool:
        """Whether a cut before a space that follows a word never moves a token boundary."""
        return not any(self.encode_bytes(self.vocabulary.table[i]) == [i] for i in self.vocabulary.bridging)

    @property
    def label(self) -> str:
        """The name as reports show it, with the stand-in's warning."""
        return f"{self.name} ({self.source.detail})" if self.source.provisional else self.name

    def encode(self, text: str) -> list[int]:
        """Ids of a whole document (with the dummy prefix where the vocabulary has one)."""
        return self._document.encode(_checked(text), add_special_tokens=False).ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of many documents, encoded in parallel."""
        batch = self._document.encode_batch_fast([_checked(t) for t in texts], add_special_tokens=False)
        return [e.ids for e in batch]

    def encode_bytes(self, data: bytes) -> list[int]:
        """Ids of a continuation whose bytes are exactly ``data``; no dummy prefix, any bytes at all.

        Bytes that are no UTF-8 (a letter cut by a token boundary) go through the vocabulary's single-byte
        tokens.

        Raises:
            Unaligned: the vocabulary has no token for a byte that is needed.
        """
        ids: list[int] = []
        for part, valid in _utf8_parts(data):
            if valid:
                found = self._continuation.encode(part.decode(), add_special_tokens=False).ids
                ids += found if self.decode(found) == part else self._spelled(part)
            else:
                ids += self._single_bytes(part)
        return ids

    def _spelled(self, part: bytes) -> list[int]:
        """Exact ids for text that the encoder rewrites: a literal ▁, or a character it does not know."""
        ids: list[int] = []
        for character in part.decode():
            data = character.encode()
            found = self._continuation.encode(character, add_special_tokens=False).ids
            ids += found if self.decode(found) == data else self._single_bytes(data)
        return ids

    def _single_bytes(self, data: bytes) -> list[int]:
        byte_ids = self.vocabulary.byte_ids
        missing = next((b for b in data if b not in byte_ids), None)
        if missing is not None:
            raise Unaligned(
                f"the tokenizer {self.name!r} has no token for the byte {missing:#04x}; it cannot carry this text."
            )
        return [byte_ids[b] for b in data]

    def decode(self, ids: Iterable[int]) -> bytes:
        """The bytes that ids stand for; control tokens and ids past the table (padding rows) give none."""
        table = self.vocabulary.table
        return b"".join([table[i] if 0 <= i < len(table) else b"" for i in ids])

    def lengths(self, ids: Sequence[int] | np.ndarray) -> np.ndarray:
        """Bytes per token, int64 of shape (n,)."""
        return self._lengths[np.asarray(ids, dtype=np.int64)]

    def segment(self, text: str) -> Segmentation:
        """Ids and byte ends of one document.

        Raises:
            Unaligned: the encoder rewrites the text in a way its offsets do not explain.
        """
        return self._segmentation(text, self.encode(text))

    def accelerate(self, sample: Sequence[str]) -> str:
        """Encode documents by the fast encoder from now on, if it gives the reference encoder's ids.

        Both encode ``sample``, texts of the corpus at hand, and texts on which encoders are known to differ.
        Returns one sentence that says which encoder is used and, where it stays the reference one, why.
        Never raises.
        """
        try:
            texts = [text for text in sample if text.isascii() or _is_unicode(text)]
            found = verified(of_documents(json.loads(self._encoders.text)), self.encode_batch, texts)
        except Exception as error:
            found = f"it cannot be compared with gigatoken ({error!r})"
        self._fast = None if isinstance(found, str) else found
        if isinstance(found, str):
            return f"{self.name!r} is encoded by the reference encoder: {found}."
        return (
            f"{self.name!r} is encoded by gigatoken, equal to the reference encoder on {len(HARD)} hard texts "
            f"and {len(texts)} of the corpus."
        )

    def rest(self) -> None:
        """Drop the fast encoder, whose tables take memory; the reference encoder gives the same ids."""
        self._fast = None

    def segment_batch(self, texts: Sequence[str]) -> list[Segmentation | Unaligned]:
        """Segment many documents; one that cannot be aligned is returned as its error, not raised."""
        return list(self.segment_flat(texts))

    def segment_flat(self, texts: Sequence[str], sizes: np.ndarray | None = None) -> Segmentations:
        """Segment many documents into flat arrays.

        ``sizes``: int64 of shape (t,), the bytes of each text where they are known already. No encoder adds
        bytes but the dummy prefix, so tokens whose lengths add up to the text's are the text, unless a
        normalizer rewrites it or letters can be dropped; where they can, the bytes themselves are compared.
        """
        if sizes is None:
            sizes = np.array([len(_checked(t).encode()) for t in texts], dtype=np.int64)
        ids, offsets = self._flat(texts)
        counts = np.diff(offsets)
        lengths = self._lengths[ids]
        held = np.flatnonzero(counts)
        surplus = -sizes
        if held.size:
            surplus[held] += np.add.reduceat(lengths, offsets[held])
        prefix = int(self.dummy_prefix)
        doubtful = np.flatnonzero((surplus != prefix) & (sizes + counts > 0))
        if self._normalizers != "none":
            doubtful = np.flatnonzero([not self._kept(text) for text in texts] | (surplus != prefix))
        base = bases(sizes)
        if held.size:
            lengths[offsets[held]] += (
                base[held] - np.append(0, base[held[:-1]] + sizes[held[:-1]]) - surplus[held]
            )
        ends = np.cumsum(lengths, out=lengths)
        found = Segmentations(ids, ends, offsets, base)
        return found if not doubtful.size else self._compared(texts, found, doubtful, sizes)

    def _flat(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Ids of all texts, int32, and where those of each begin, int64 of shape (t + 1,)."""
        if self._fast is not None:
            return self._fast.encode(texts)
        parts = [np.array(part, dtype=np.int32) for part in self.encode_batch(texts)]
        offsets = np.concatenate(([0], np.cumsum([part.size for part in parts], dtype=np.int64)))
        return np.concatenate([np.zeros(0, dtype=np.int32), *parts]), offsets

    def _kept(self, text: str) -> bool:
        """Whether the normalizers leave a text alone."""
        return self._normalizers == "nfc" and unicodedata.is_normalized("NFC", text)

    def _compared(
        self, texts: Sequence[str], found: Segmentations, doubtful: np.ndarray, sizes: np.ndarray
    ) -> Segmentations:
        """Segment the doubtful texts one by one, with their bytes compared."""
        parts: list[Segmentation | Unaligned] = []
        again = set(doubtful.tolist())
        for i, text in enumerate(texts):
            try:
                ids = found.ids[found.offsets[i] : found.offsets[i + 1]]
                part = self._segmentation(text, ids.tolist()) if i in again else found[i]
                parts.append(part)
            except Unaligned as error:
                parts.append(error)
        return joined(parts, sizes)

    def _segmentation(self, text: str, ids: list[int]) -> Segmentation:
        data = text.encode()
        tokens = self.decode(ids)
        if tokens == data or (self.dummy_prefix and tokens == b" " + data):
            ends = np.cumsum(self.lengths(ids)) - (len(tokens) - len(data))
            return Segmentation(np.array(ids, dtype=np.int32), ends, "bytes")
        return self._by_offsets(text)

    def _by_offsets(self, text: str) -> Segmentation:
        """Ends from the encoder's character offsets; a letter split between tokens is shared out by bytes.

        Where the encoder rewrote the letter itself (a combining mark composed, a literal ▁), a cut inside it
        has no exact place in the original; it is put inside the letter, so every byte keeps one owner.
        """
        encoding = self._document.encode(text, add_special_tokens=False)
        at = np.concatenate(([0], np.cumsum([len(c.encode()) for c in text]))) if text else np.zeros(1, int)
        ids, spans = encoding.ids, encoding.offsets
        ends: list[int] = []
        position, inside = 0, 0  # bytes owned so far; bytes given out of the letter now being split
        for i, (token, (_, stop)) in enumerate(zip(ids, spans, strict=True)):
            shared = i + 1 < len(spans) and spans[i + 1][0] < stop
            if shared:
                inside += len(self.vocabulary.table[token])
                if i == 0 and self.dummy_prefix and self.vocabulary.table[token].startswith(b" "):
                    inside -= 1  # the dummy prefix is no byte of the text
                letter = spans[i + 1][0]
                position = max(position, min(int(at[letter]) + inside, int(at[stop]) - 1))
            else:
                inside = 0
                position = max(position, int(at[stop]))
            ends.append(position)
        if position != int(at[-1]):
            raise Unaligned(
                f"the tokenizer {self.name!r} covers {position} of {int(at[-1])} bytes of a text: it drops or "
                "adds characters that its offsets do not explain."
            )
        return Segmentation(np.array(ids, dtype=np.int32), np.array(ends, dtype=np.int64), "offsets")


def _checked(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise TokalignError(
            f"a text holds a lone surrogate (U+{ord(text[error.start]):04X}) at character {error.start}; "
            "it is no Unicode text, remove it."
        ) from None
    return text


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _rewriting(spec: dict[str, Any]) -> Literal["none", "nfc", "other"]:
    """What the normalizers do to a text apart from the spelling of spaces."""
    found = [
        n["type"]
        for n in steps(spec.get("normalizer"), "normalizers")
        if n["type"] != "Prepend" and not (n["type"] == "Replace" and n.get("content") == SPACE)
    ]
    return "none" if not found else "nfc" if found == ["NFC"] else "other"


def _utf8_parts(data: bytes) -> Iterable[tuple[bytes, bool]]:
    """Cut into maximal runs of valid UTF-8 (True) and of bytes that are none (False)."""
    while data:
        try:
            data.decode()
        except UnicodeDecodeError as error:
            if error.start:
                yield data[: error.start], True
            yield data[error.start : error.end], False
            data = data[error.end :]
        else:
            yield data, True
            return
