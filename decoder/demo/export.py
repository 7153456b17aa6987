"""From a trained checkpoint to the folder that is committed: quantized, measured, its tokenizer packed.

python -m decoder.demo.export runs/target.checkpoint --data data/target --out runs/target
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import math
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten
from mlx_lm.models import llama

from decoder.demo import WEIGHTS, unpack
from decoder.demo.data import read_tokens
from decoder.demo.learning import heldout_nats
from decoder.demo.recipes import CONTEXT, Recipe
from tokalign.files import write_text

_TOKENIZER = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "clean_up_tokenization_spaces": False,
}


def build(recipe: Recipe) -> Any:
    """An untrained model in float32."""
    return llama.Model(llama.ModelArgs.from_dict(recipe.config))


def measured(model: Any, folder: Path, batch: int = 16, context: int = CONTEXT) -> dict[str, float]:
    """The held-out loss of a model: nats per token and bits per byte of the texts.

    The nats are those of all tokens, <s> and </s> too; the bytes are those of the texts alone.
    """
    tokens = read_tokens(folder, "heldout")
    size = json.loads((folder / "data.json").read_text(encoding="utf-8"))["heldout"]["bytes"]
    nats = heldout_nats(model, tokens, batch, context)
    return {
        "nats_per_token": round(nats / (len(tokens) - 1), 4),
        "bits_per_byte": round(nats / math.log(2) / size, 4),
    }


def save_checkpoint(parameters: Any, recipe: Recipe, log: dict[str, Any], folder: Path) -> Path:
    """Keep the float32 weights, the recipe and the log of a training."""
    folder.mkdir(parents=True, exist_ok=True)
    mx.save_safetensors(str(folder / WEIGHTS), dict(tree_flatten(parameters)))
    write_text(folder / "training.json", json.dumps({"recipe": asdict(recipe)} | log, indent=1) + "\n")
    return folder


def pack(model: Any, recipe: Recipe, data: Path, out: Path) -> None:
    """Quantize ``model`` (in place) and write it with its tokenizer."""
    out.mkdir(parents=True, exist_ok=True)
    model.set_dtype(mx.bfloat16)
    nn.quantize(model, group_size=recipe.group, bits=recipe.bits)
    mx.save_safetensors(str(out / WEIGHTS), dict(tree_flatten(model.parameters())), {"format": "mlx"})
    quantization = {"group_size": recipe.group, "bits": recipe.bits, "mode": "affine"}
    write_text(out / "config.json", json.dumps(recipe.config | {"quantization": quantization}, indent=1) + "\n")
    write_text(out / "tokenizer_config.json", json.dumps(_TOKENIZER, indent=1) + "\n")
    text = (data / "tokenizer.json").read_bytes()
    (out / "tokenizer.json.xz").write_bytes(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME))


def export(checkpoint: Path, data: Path, out: Path, *, context: int = CONTEXT) -> dict[str, Any]:
    """Write the folder ``out`` from a checkpoint; returns what its ``training.json`` holds.

    Both losses are measured: of the weights in bfloat16, and of the folder as mlx-lm loads it.
    """
    from mlx_lm import load

    log = json.loads((checkpoint / "training.json").read_text(encoding="utf-8"))
    recipe = Recipe(**log["recipe"])
    model = build(recipe)
    model.load_weights(str(checkpoint / WEIGHTS))
    log["parameters"] = sum(w.size for w in dict(tree_flatten(model.parameters())).values())
    model.set_dtype(mx.bfloat16)
    log["heldout"] = {"bfloat16": measured(model, data, context=context)}
    pack(model, recipe, data, out)
    with tempfile.TemporaryDirectory() as folder:
        model = load(str(unpack(out, Path(folder))))[0]
        log["heldout"]["quantized"] = measured(model, data, context=context)
    log["data"] = json.loads((data / "data.json").read_text(encoding="utf-8"))
    log["files"] = {f.name: f.stat().st_size for f in sorted(out.iterdir()) if f.name != "training.json"}
    log["sha256"] = hashlib.sha256((out / WEIGHTS).read_bytes()).hexdigest()
    write_text(out / "training.json", json.dumps(log, indent=1, ensure_ascii=False) + "\n")
    return log


def summary(log: dict[str, Any]) -> str:
    """One line on an exported model."""
    exact, quantized = log["heldout"]["bfloat16"], log["heldout"]["quantized"]
    return (
        f"{log['parameters']:,} parameters, {sum(log['files'].values()):,} bytes; held out: "
        f"{exact['nats_per_token']} nats/token, {exact['bits_per_byte']} bits/byte; "
        f"quantized {quantized['bits_per_byte']} bits/byte"
    )


def main() -> None:
    """Export a checkpoint whose training ended before its export did."""
    parser = argparse.ArgumentParser(prog="python -m decoder.demo.export", description=main.__doc__)
    parser.add_argument("checkpoint", type=Path, help="folder that the training left")
    parser.add_argument("--data", type=Path, required=True, help="folder that decoder.demo.prepare wrote")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    options = parser.parse_args()
    print(summary(export(options.checkpoint, options.data, options.out)))


if __name__ == "__main__":
    main()
