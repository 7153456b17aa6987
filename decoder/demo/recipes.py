"""What the two demo models are: their shapes, how they are trained, how they are quantized."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

CONTEXT = 512  # tokens that a model sees in training
BOS, EOS = 1, 2  # <s> and </s> in both vocabularies
ROUNDED_FROM = 0.65  # of the schedule: from here on weights are rounded as by quantization


@dataclass(frozen=True)
class Recipe:
    """One model.

    ``vocabulary`` is the number of rows of logits, a multiple of 64 for the sake of fast products; rows past
    the tokenizer's ids are never trained towards. ``peak`` is the highest learning rate, ``batch`` the number
    of windows of ``CONTEXT`` tokens in a step. ``bits`` and ``group`` are those of mlx's affine quantization.
    """

    vocabulary: int
    hidden: int
    layers: int
    inner: int
    heads: int
    kv_heads: int
    peak: float
    batch: int = 128
    bits: int = 4
    group: int = 64

    @property
    def config(self) -> dict[str, Any]:
        """The model's ``config.json``, before quantization."""
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "hidden_size": self.hidden,
            "num_hidden_layers": self.layers,
            "intermediate_size": self.inner,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.hidden // self.heads,
            "rms_norm_eps": 1e-5,
            "rope_theta": 10000.0,
            "max_position_embeddings": CONTEXT,
            "vocab_size": self.vocabulary,
            "tie_word_embeddings": True,
            "bos_token_id": BOS,
            "eos_token_id": EOS,
            "torch_dtype": "bfloat16",
        }


# The target is deep for its size and the draft shallow: on a GPU the time of such small models is that of their
# layers, so that a draft step costs about a third of a target step. 32,128 rows are those of Bielik 11B.
RECIPES = {
    "target": Recipe(32_128, hidden=256, layers=8, inner=512, heads=4, kv_heads=2, peak=3e-3),
    "draft": Recipe(32_000, hidden=192, layers=2, inner=512, heads=3, kv_heads=3, peak=4e-3),
}
