"""Writing the open word anew, against a slow definition."""

from __future__ import annotations

import math

import makers
import mlx.core as mx
import numpy as np
import pytest

from decoder.healing import Healer
from decoding import makers as tiny

DRAFT = makers.byte_level([" kon", " konsty", " konstytucja", "tucja"], name="draft")
TABLE = DRAFT.vocabulary.table


def slow(logits: np.ndarray, word: list[int], table=TABLE) -> tuple[int, int]:
    """The most probable: the tokens before j, then one that repeats the rest and more; or all, then any."""
    logprobs = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    best, found = -math.inf, (0, 0)
    before = 0.0
    for j in range(len(word) + 1):
        rest = b"".join(table[i] for i in word[j:])
        for token in range(logits.shape[-1]):
            data = table[token] if token < len(table) else b""
            longer = data.startswith(rest) and len(data) > len(rest)
            if (j == len(word) or longer) and before + logprobs[j, token] > best:
                best, found = before + logprobs[j, token], (j, token)
        if j < len(word):
            before += logprobs[j, word[j]]
    return found


@pytest.mark.parametrize("seed", range(40))
def test_the_most_probable_way_on_wins(seed):
    draw = np.random.default_rng(seed)
    trained = tiny.vocabulary("byte-level", 420)
    table = trained.vocabulary.table
    rows = len(table) + 5
    long = [i for i, data in enumerate(table) if len(data) > 3]
    text = table[long[seed % len(long)]]
    word = trained.encode_bytes(text[: 1 + seed % len(text)]) + draw.integers(0, rows - 5, seed % 3).tolist()
    if seed % 4 == 0:
        word = [i for byte in text[:-1] for i in trained.encode_bytes(bytes([byte]))]
    logits = draw.normal(size=(len(word) + 1, rows)) * 2
    for j in range(len(word)):  # make the ways on that repeat the word as likely as those that do not
        rest = b"".join(table[i] for i in word[j:])
        beyond = [i for i, data in enumerate(table) if data.startswith(rest) and len(data) > len(rest)]
        logits[j, beyond] += draw.uniform(4, 9)
        logits[j, word[j]] += draw.uniform(4, 9)
    kept, token = Healer(trained, rows).first(mx.array(logits.astype(np.float32)), word)
    assert (kept, token.item()) == slow(logits, word, table)


def test_a_known_word_is_written_from_its_beginning():
    word = DRAFT.encode_bytes(b" konsty")
    whole = DRAFT.encode_bytes(b" konstytucja")
    assert len(whole) == 1
    logits = np.zeros((len(word) + 1, len(TABLE)), dtype=np.float32)
    logits[0, whole[0]] = 9
    kept, token = Healer(DRAFT, len(TABLE)).first(mx.array(logits), word)
    assert kept == 0 and token.tolist() == whole


def test_a_word_that_is_complete_is_left_alone():
    word = DRAFT.encode_bytes(b" konstytucja")
    logits = np.zeros((2, len(TABLE)), dtype=np.float32)
    logits[1, 7] = 1
    kept, token = Healer(DRAFT, len(TABLE)).first(mx.array(logits), word)
    assert kept == 1 and token.tolist() == [7]
