"""Documents through both tokenizers into frames of counts per document."""

from __future__ import annotations

import numpy as np
import polars as pl

from reference.boundaries import chunks
from reference.lexicon import Lexicon
from reference.slices import Pair, sums
from reference.words import characters
from tokalign.counts import SIDES
from tokalign.grid import SUMS_SCHEMA
from tokalign.measurement import CHUNKS_SCHEMA, TOKENS_SCHEMA, add_up
from tokalign.tokenizers import Segmentation, Tokenizer
from tokalign.units import digests, grouped

LEXICON = Lexicon()


def defined(
    documents: list[tuple[str, str]], target: Tokenizer, draft: Tokenizer
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """``sums``, ``chunks`` and ``token_counts`` of documents that are text and that both sides can align."""
    laid = characters([text for _, text in documents])
    found = {s: [t.segment(text) for _, text in documents] for s, t in zip(SIDES, (target, draft), strict=True)}
    pair = Pair(laid, {side: _ends(laid.base, parts) for side, parts in found.items()})
    rows = sums(pair, [name for name, _ in documents], LEXICON)
    return _by_unit(rows), _chunks(pair), _tokens(found)


def _ends(base: np.ndarray, parts: list[Segmentation]) -> np.ndarray:
    return np.concatenate([part.ends + at for part, at in zip(parts, base, strict=False)])


def _by_unit(rows: pl.DataFrame) -> pl.DataFrame:
    names = rows["document"].unique()
    _, prefixes, which = grouped(digests(names.to_list()))
    units = pl.DataFrame({"document": names, "unit": pl.Series(prefixes[which], dtype=pl.UInt64)})
    return add_up(rows.join(units, on="document").drop("document"), SUMS_SCHEMA, tuple(SUMS_SCHEMA)[:3])


def _chunks(pair: Pair) -> pl.DataFrame:
    found = chunks(pair.ends["target"], pair.ends["draft"], pair.found.base[:-1])
    starts = np.maximum(np.append(0, found.ends[:-1]), pair.found.base[pair.text_of(found.ends)])
    size = np.ones_like(found.n)
    rows = pl.DataFrame({"n": found.n, "m": found.m, "count": size, "bytes": found.ends - starts})
    return add_up(rows.cast(dict(CHUNKS_SCHEMA)), CHUNKS_SCHEMA, ("n", "m"))


def _tokens(found: dict[str, list[Segmentation]]) -> pl.DataFrame:
    parts = [
        pl.DataFrame({"side": side, "id": np.concatenate([p.ids for p in parts]), "count": 1})
        for side, parts in found.items()
    ]
    return add_up(pl.concat(parts).cast(dict(TOKENS_SCHEMA)), TOKENS_SCHEMA, ("side", "id"))
