"""Tokenise Polish texts for the demo pair: the script that made its training data.

    python -m decoder.demo.prepare texts.jsonl.zst target --out data/target
    python -m decoder.demo.prepare texts.jsonl.zst draft --out data/draft

The folder gets ``train.npy.xz`` and ``heldout.npy.xz`` (uint16 ids, every document between ``<s>`` and
``</s>``), ``tokenizer.json`` and ``data.json`` (counts of documents, tokens and bytes).
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import click
import numpy as np

from decoder.demo.recipes import BOS, EOS
from tokalign.files import replacing, write_text
from tokalign.tokenizers import Tokenizer, load

VOCABULARIES = {"target": "bielik-11b", "draft": "bielik-1.5b"}
KINDS = ("law", "novels", "drama", "msdocs", "debian")  # the sources whose licences the card names
_HELD_OUT = 200  # one document in so many
_TOGETHER = 256  # documents encoded in one call
# Ids are pairs of bytes, which these settings tell the compressor.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 0, "lp": 1, "pb": 1}]


def is_held_out(text: str) -> bool:
    """Whether a document is kept out of training, by its SHA-256: the same for every vocabulary."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) % _HELD_OUT == 0


def kind_of(source: str) -> str:
    """The kind of text, which is what stands before the slash of ``source``."""
    return source.split("/", 1)[0]


def read_rows(path: Path, kinds: Sequence[str]) -> Iterator[dict[str, str]]:
    """The rows of a .jsonl or .jsonl.zst file whose ``source`` is of one of ``kinds``."""
    import zstandard

    with path.open("rb") as raw:
        stream = zstandard.ZstdDecompressor().stream_reader(raw) if path.suffix == ".zst" else raw
        with io.TextIOWrapper(stream, "utf-8") as lines:
            for row in map(json.loads, lines):
                if kind_of(row.get("source", "")) in kinds:
                    yield row


def with_start(spec: dict[str, Any]) -> dict[str, Any]:
    """The tokenizer whose texts begin with ``<s>``, as the models were trained."""
    piece = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    a, b = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    processor = {
        "type": "TemplateProcessing",
        "single": [piece, a],
        "pair": [piece, a, b],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [BOS], "tokens": ["<s>"]}},
    }
    return spec | {"post_processor": processor}


class Part:
    """One half of the data while it is gathered."""

    def __init__(self) -> None:
        self.ids: list[np.ndarray] = []
        self.documents = self.bytes = 0

    def add(self, text: str, ids: Sequence[int]) -> None:
        """Append one document."""
        self.ids.append(np.array([BOS, *ids, EOS], dtype=np.uint16))
        self.documents += 1
        self.bytes += len(text.encode())

    def save(self, path: Path) -> dict[str, int]:
        """Write the ids and say how much they are."""
        tokens = np.concatenate(self.ids) if self.ids else np.zeros(0, np.uint16)
        with replacing(path) as partial, lzma.open(partial, "wb", filters=_FILTERS) as stream:
            np.save(stream, tokens)
        return {"documents": self.documents, "tokens": len(tokens), "bytes": self.bytes}


def tokenise(rows: Iterable[dict[str, str]], tokenizer: Tokenizer) -> tuple[Part, Part, Counter[str]]:
    """Training and held-out documents as ids, and the bytes of each kind of text."""
    train, held_out, kinds = Part(), Part(), Counter[str]()
    rows = iter(rows)
    while some := list(islice(rows, _TOGETHER)):
        for row, ids in zip(some, tokenizer.encode_batch([r["text"] for r in some]), strict=True):
            (held_out if is_held_out(row["text"]) else train).add(row["text"], ids)
            kinds[kind_of(row["source"])] += len(row["text"].encode())
    return train, held_out, kinds


def prepare(texts: Path, alias: str, out: Path, kinds: Sequence[str] = KINDS) -> dict[str, Any]:
    """Write the folder that the training reads; returns the content of its ``data.json``."""
    tokenizer = load(alias, offline=True)
    spec = with_start(json.loads(tokenizer._document.to_str()))
    train, held_out, found = tokenise(read_rows(texts, kinds), tokenizer)
    if not (train.documents and held_out.documents):
        raise click.ClickException(f"{texts} gives no documents to train on, or none to hold out; give more.")
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / "tokenizer.json", json.dumps(spec, ensure_ascii=False, separators=(",", ":")))
    data = {
        "vocabulary": {
            "alias": alias,
            "source": f"{tokenizer.source.kind}: {tokenizer.source.detail}",
            "fingerprint": tokenizer.fingerprint,
            "ids": len(tokenizer.vocabulary.table),
        },
        "kinds": dict(found.most_common()),
        "train": train.save(out / "train.npy.xz"),
        "heldout": held_out.save(out / "heldout.npy.xz"),
    }
    write_text(out / "data.json", json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    return data


@click.command()
@click.argument("texts", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("role", type=click.Choice(list(VOCABULARIES)))
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="To write.")
@click.option("--kind", "kinds", multiple=True, default=KINDS, help="Kinds of source to keep.")
def main(texts: Path, role: str, out: Path, kinds: tuple[str, ...]) -> None:
    """Tokenise the 'text' column of a .jsonl or .jsonl.zst file with the vocabulary of ROLE."""
    data = prepare(texts, VOCABULARIES[role], out, kinds)
    for name in ("train", "heldout"):
        size = (out / f"{name}.npy.xz").stat().st_size
        counts = ", ".join(f"{n:,} {what}" for what, n in data[name].items())
        click.echo(f"{name}: {counts}; {size:,} bytes compressed", err=True)


if __name__ == "__main__":
    main()
