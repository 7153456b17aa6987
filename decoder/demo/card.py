"""Write the demo pair's model card from the logs of its training.

python -m decoder.demo.card
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from decoder.demo import PACKAGE, ROLES
from decoder.demo.recipes import ROUNDED_FROM
from tokalign.files import write_text

_KINDS = {
    "law": ("Polish statutes (Dziennik Ustaw)", "official texts, not subject to copyright"),
    "novels": ("public-domain Polish novels (ELTeC-pol and others)", "ELTeC-pol edition: CC BY 4.0"),
    "drama": ("Polish plays (PolDraCor)", "CC0"),
    "msdocs": ("Microsoft documentation in Polish, largely machine-translated", "CC BY 4.0"),
    "debian": ("Polish documentation distributed with Debian", "the free licences of its packages"),
}
_VOCABULARIES = {
    "target": "Mistral v1 (32,000 ids, Apache-2.0) with two ChatML ids, the vocabulary of Bielik 11B; "
    "32,128 rows of logits",
    "draft": "the stand-in for APT4 of this project, not APT4 (32,000 ids, Apache-2.0)",
}
# Models of the same family and texts, larger and trained for less long; only the order of size is comparable,
# because other documents were held out for them.
_LARGER = (("58 M, vocabulary of the target", 0.97), ("12 M, vocabulary of the target", 1.14))

_TEXT = """\
# The demo pair

Two small Llama-architecture language models for `decoder … --demo`: a target and a draft of different
vocabularies, so that exact speculative decoding across vocabularies can be seen at work without a network.
They continue Polish text, do not chat, cannot be relied on for facts, and are no measure of any published
model. This file is written by `python -m decoder.demo.card` from the two `training.json` files beside it.

## Models

| | target | draft |
|---|---|---|
{rows}

Bits per byte count the nats of all tokens, those that begin and end a text too, over the bytes of the text
alone: they can be compared across vocabularies. The nats per token cannot.

For scale, larger models of the same architecture on the same kinds of text, with other documents held out:
{larger}.

## Vocabularies

- target: {target_vocabulary}.
- draft: {draft_vocabulary}. Every figure that rests on it is provisional.

## Data

| text | MB | licence |
|---|---|---|
{data}

The weights are offered under the licence of this project; the sources above are named as their licences ask.

{heldout} documents of them, one in 200 by the SHA-256 of its text, were kept out of training. Novels and
statutes are cut into passages, so that other passages of a held-out one's work are among the training data.

## Training

From random weights, with AdamW, a warm-up and a cosine schedule, over windows of {context} tokens in bfloat16
with float32 weights. In the last {rounded} % of the schedule the models learned with their weights rounded as
the quantization rounds them. `decoder/demo/prepare.py`, `train.py` and `recipes.py` are all there is to it.

## Limits

- Longer texts than {context} tokens were never seen in training.
- The texts are old novels, statutes and manuals: what the models write sounds like them, and is not true.
- Nothing was done against offensive or biased content of the sources.
- Acceptance and speed on this pair say how the decoder works, not what a pair of real models gains.
"""


def logs(folder: Path) -> dict[str, dict[str, Any]]:
    """The training logs of both models by role."""
    return {role: json.loads((folder / role / "training.json").read_text(encoding="utf-8")) for role in ROLES}


def card(folder: Path) -> str:
    """The text of the card for the models in ``folder``."""
    found = logs(folder)
    both = [found[role] for role in ROLES]
    data = both[0]["data"]
    return _TEXT.format(
        rows="\n".join(f"| {n} | {cell} | {_cells(both[1])[n]} |" for n, cell in _cells(both[0]).items()),
        larger=", ".join(f"{what}: {bits} bits/byte" for what, bits in _LARGER),
        target_vocabulary=_VOCABULARIES["target"],
        draft_vocabulary=_VOCABULARIES["draft"],
        data="\n".join(_kind(kind, size) for kind, size in data["kinds"].items()),
        heldout=f"{data['heldout']['documents']:,}",
        context=both[0]["context"],
        rounded=round(100 * (1 - ROUNDED_FROM)),
    )


def _kind(kind: str, size: int) -> str:
    what, licence = _KINDS[kind]
    return f"| {what} | {size / 1e6:.1f} | {licence} |"


def _cells(log: dict[str, Any]) -> dict[str, str]:
    recipe, exact, small = log["recipe"], log["heldout"]["bfloat16"], log["heldout"]["quantized"]
    return {
        "parameters": f"{log['parameters']:,}",
        "layers × width (inner width)": f"{recipe['layers']} × {recipe['hidden']} ({recipe['inner']})",
        "heads (key-value heads)": f"{recipe['heads']} ({recipe['kv_heads']})",
        "quantization": f"{recipe['bits']} bits, groups of {recipe['group']}",
        "bytes on disk": f"{sum(log['files'].values()):,}",
        "tokens trained on": f"{log['tokens'] / 1e6:,.1f} M in {log['steps']:,} steps",
        "passes over the data": f"{log['passes']:.1f}",
        "training": f"{log['seconds'] / 60:.1f} min on {log['device']}, MLX {log['mlx']}",
        "held-out loss, bfloat16": f"{exact['nats_per_token']:.3f} nats/token",
        "held-out bits per byte, bfloat16": f"{exact['bits_per_byte']:.3f}",
        "held-out bits per byte, as committed": f"{small['bits_per_byte']:.3f}",
        "SHA-256 of the weights": f"`{log['sha256'][:16]}…`",
    }


def main() -> None:
    """Write ``CARD.md`` beside the models."""
    write_text(PACKAGE / "CARD.md", card(PACKAGE))


if __name__ == "__main__":
    main()
