"""The stand-in for APT4: a Polish BPE of the same size and form, used where the real vocabulary cannot be had.

APT4 is published with the Bielik models and by no package, so without a hub nobody can load it. The stand-in
has APT4's size (32,000), its family (SentencePiece BPE with byte fallback) and the ids of its control tokens,
but other merges: every figure that rests on it says so. This module is also the script that trained it:

    python -m tokalign.tokenizers.standin texts.jsonl.zst --out tokalign/tokenizers/data/apt4-standin.json.xz
"""

from __future__ import annotations

import io
import json
import lzma
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import click

NOTICE = "stand-in for APT4, not APT4"
SIZE = 32_000
CONTROL = ("<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>")
_FILE = "apt4-standin.json.xz"
# Letters, single digits and signs never share a token; a leading space joins what follows it.
_CUTS = r"▁?[\p{L}\p{M}]+|▁?\p{N}|▁?[^\p{L}\p{M}\p{N}▁]+|▁"


def standin_json() -> str:
    """The committed stand-in as the text of a ``tokenizer.json``."""
    return lzma.decompress(resources.files(__package__).joinpath("data", _FILE).read_bytes()).decode()


def _texts(path: Path, skip_source: str) -> Iterator[str]:
    import zstandard

    with path.open("rb") as raw:
        stream = zstandard.ZstdDecompressor().stream_reader(raw) if path.suffix == ".zst" else raw
        for line in io.TextIOWrapper(stream, "utf-8"):
            row = json.loads(line)
            if not (skip_source and row.get("source", "").startswith(skip_source)):
                yield row["text"]


@click.command()
@click.argument("texts", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Where to write the .json.xz file.")
@click.option(
    "--skip-source", default="wiki", help="Leave out rows whose 'source' starts with this (default: wiki)."
)
def train(texts: Path, out: Path, skip_source: str) -> None:
    """Train the stand-in on the 'text' column of a .jsonl or .jsonl.zst file."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first", split=True),
            pre_tokenizers.Split(Regex(_CUTS), behavior="isolated"),
        ]
    )
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    reserved = [*CONTROL, *(f"<0x{b:02X}>" for b in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=SIZE, min_frequency=2, limit_alphabet=700, special_tokens=reserved)
    tokenizer.train_from_iterator(_texts(texts, skip_source), trainer)
    spec = json.loads(tokenizer.to_str())
    spec["added_tokens"] = [a for a in spec["added_tokens"] if a["content"] in CONTROL]
    partial = out.with_name(out.name + ".part")
    partial.write_bytes(
        lzma.compress(json.dumps(spec, ensure_ascii=False).encode(), preset=9 | lzma.PRESET_EXTREME)
    )
    partial.replace(out)
    click.echo(f"{out}: {out.stat().st_size:,} bytes", err=True)


if __name__ == "__main__":
    train()
