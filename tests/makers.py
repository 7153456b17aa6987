"""Small tokenizers and corpora that tests make themselves."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import polars as pl
from tokenizers import Regex, decoders, models, pre_tokenizers, trainers
from tokenizers import Tokenizer as Encoder

from tokalign.measurement import Measurement
from tokalign.table import measure
from tokalign.tokenizers import Source, Tokenizer
from tokalign.tokenizers.vocabulary import BYTE_OF_CHAR, SPACE

_CHAR_OF_BYTE = {b: c for c, b in BYTE_OF_CHAR.items()}
_CUTS = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def byte_level(words: Iterable[str] = (), name: str = "byte-level", **spec: object) -> Tokenizer:
    """A byte-level BPE whose tokens are the 256 bytes, the given words and their beginnings, byte by byte.

    Each word becomes one token through merges from the left; ``spec`` replaces fields of its tokenizer.json.
    """
    pieces = ["".join(_CHAR_OF_BYTE[b] for b in word.encode()) for word in words]
    vocabulary, merges = _merged(list(_CHAR_OF_BYTE.values()), pieces)
    encoder = Encoder(models.BPE(vocab=vocabulary, merges=merges))
    encoder.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_CUTS), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    encoder.decoder = decoders.ByteLevel()
    return _built(encoder, name, spec)


def sentencepiece(
    words: Iterable[str] = (), letters: str = "", name: str = "sentencepiece", **spec: object
) -> Tokenizer:
    """A SentencePiece BPE with dummy prefix and byte fallback: bytes, ▁, ``letters``, words and beginnings.

    Write a space in a word as a space; letters that are in no word and not in ``letters`` fall to bytes.
    """
    pieces = [word.replace(" ", SPACE) for word in words]
    base = [f"<0x{b:02X}>" for b in range(256)]
    alphabet = sorted({SPACE, *letters, *"".join(pieces)})
    vocabulary, merges = _merged(["<unk>", *base, *alphabet], pieces)
    encoder = Encoder(
        models.BPE(vocab=vocabulary, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    )
    encoder.pre_tokenizer = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="first", split=True)
    encoder.decoder = decoders.Sequence(
        [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return _built(encoder, name, spec)


def _merged(base: list[str], pieces: list[str]) -> tuple[dict[str, int], list[tuple[str, str]]]:
    vocabulary = {piece: i for i, piece in enumerate(base)}
    merges: list[tuple[str, str]] = []
    for piece in pieces:
        for end in range(2, len(piece) + 1):
            if piece[:end] not in vocabulary:
                vocabulary[piece[:end]] = len(vocabulary)
                merges.append((piece[: end - 1], piece[end - 1]))
    return vocabulary, merges


def _built(encoder: Encoder, name: str, spec: dict[str, object]) -> Tokenizer:
    text = json.dumps(json.loads(encoder.to_str()) | spec)
    return Tokenizer.from_json(text, name, Source("memory", "made by a test"))


def unigram(pieces: dict[str, float], name: str = "unigram") -> Tokenizer:
    """A SentencePiece Unigram with dummy prefix and byte fallback: the pieces with their log probabilities.

    Write a space in a piece as a space; the 256 bytes are added as the last resort.
    """
    base = [("<unk>", -100.0), *((f"<0x{b:02X}>", -50.0) for b in range(256))]
    found = [(piece.replace(" ", SPACE), score) for piece, score in pieces.items()]
    encoder = Encoder(models.Unigram([*base, *found], unk_id=0, byte_fallback=True))
    encoder.pre_tokenizer = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="first", split=True)
    encoder.decoder = decoders.Sequence(
        [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return _built(encoder, name, {})


def trained(texts: Iterable[str], size: int, kind: str = "sentencepiece", name: str | None = None) -> Tokenizer:
    """A BPE of ``size`` ids trained on texts, of the kind "sentencepiece" or "byte-level"."""
    model = (sentencepiece if kind == "sentencepiece" else byte_level)()
    spec = json.loads(model._document.to_str())
    encoder = Encoder.from_str(json.dumps(spec))
    reserved = ["<unk>", *(f"<0x{b:02X}>" for b in range(256))] if kind == "sentencepiece" else []
    alphabet = [] if kind == "sentencepiece" else list(_CHAR_OF_BYTE.values())
    encoder.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=size, special_tokens=reserved, initial_alphabet=alphabet, show_progress=False
        ),
    )
    return _built(encoder, name or kind, {"added_tokens": []})


def saved(tokenizer: Tokenizer, path: Path) -> Path:
    """Write a made tokenizer as a tokenizer.json, to be loaded by its path."""
    path.write_text(tokenizer._document.to_str(), encoding="utf-8")
    return path


def polish_texts(n: int = 60) -> list[str]:
    """The first texts of the bundled encyclopaedic sample."""
    sample = Path(__file__).parents[1] / "corpora" / "samples" / "plwiki.jsonl"
    lines = sample.read_text(encoding="utf-8").splitlines()[:n]
    return [json.loads(line)["text"] for line in lines]


LETTERS = "abdeijkłmnoóprtuwyz.,1234567890"
TARGET = sentencepiece([" kot", "ami", " dom", "ów"], LETTERS, name="target")
DRAFT = byte_level([" kot", "kot", "ź", "ami", "mi", " do", "żółw"], name="draft")
"""A pair that can be followed by hand: the target spells ź and ż as bytes, the draft splits ł and ó."""


def measured(*texts: str) -> Measurement:
    """The measurement of TARGET and DRAFT on texts named d0, d1, …"""
    return measure([(f"d{i}", text) for i, text in enumerate(texts)], TARGET, DRAFT)


def value(
    frame: pl.DataFrame, metric: str, side: str = "pair", kind: str = "overall", name: str = "all"
) -> float | None:
    """The value of one metric in one slice of an evaluation."""
    rows = frame.filter(metric=metric, side=side, slice_kind=kind, slice=name)
    assert rows.height == 1, (metric, side, kind, name)
    return rows["value"][0]
