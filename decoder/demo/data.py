"""The token files that the training reads."""

from __future__ import annotations

import io
import lzma
from collections.abc import Iterator
from pathlib import Path

import numpy as np


def read_tokens(folder: Path, name: str) -> np.ndarray:
    """The uint16 ids of ``name``: mapped from ``.npy`` where that exists, else unpacked from ``.npy.xz``."""
    plain = folder / f"{name}.npy"
    if plain.is_file():
        tokens: np.ndarray = np.load(plain, mmap_mode="r")
        return tokens
    return np.load(io.BytesIO(lzma.decompress((folder / f"{name}.npy.xz").read_bytes())))


def batches(tokens: np.ndarray, batch: int, context: int, seed: int) -> Iterator[np.ndarray]:
    """Endless int32 batches of shape (batch, context + 1).

    In every pass over the data its windows begin at other places and come in another order; windows that do
    not fill a batch are left out of that pass.
    """
    random = np.random.default_rng(seed)
    reach = np.arange(context + 1)
    if len(tokens) < (batch + 1) * context + 1:
        raise ValueError(f"{len(tokens):,} tokens are too few for {batch} windows of {context}.")
    while True:
        first = int(random.integers(context))
        starts = random.permutation(np.arange(first, len(tokens) - context, context))
        for at in range(0, len(starts) - batch + 1, batch):
            yield tokens[starts[at : at + batch, None] + reach].astype(np.int32)


def heldout_batches(tokens: np.ndarray, batch: int, context: int) -> Iterator[np.ndarray]:
    """Int32 batches in which every token but the first is the last of some prefix exactly once.

    Windows are of ``context`` + 1 tokens and share one with the next; the last one may be shorter.
    """
    full = (len(tokens) - 1) // context
    reach = np.arange(context + 1)
    for at in range(0, full, batch):
        starts = np.arange(at, min(at + batch, full))[:, None] * context
        yield tokens[starts + reach].astype(np.int32)
    if (len(tokens) - 1) % context:
        yield tokens[None, full * context :].astype(np.int32)
