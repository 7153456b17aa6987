"""The architectures of the published models, to be built with random weights where only the cost matters."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import mlx.core as mx
import mlx.nn as nn

from decoder.errors import ModelError

GROUP = 64  # weights that share a scale, mlx-lm's default
BITS = (4, 8, 16)

# Fields are those of the models' published config.json, except where a comment says otherwise.
SHAPES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        # speakleash/Bielik-11B-v2.3-Instruct, whose model_type is mistral: llama without biases and window.
        "bielik-11b": {
            "model_type": "llama",
            "hidden_size": 4096,
            "num_hidden_layers": 50,
            "intermediate_size": 14336,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "head_dim": 128,
            "rms_norm_eps": 1e-5,
            "vocab_size": 32128,
            "max_position_embeddings": 32768,
            "rope_theta": 1000000.0,
            "tie_word_embeddings": False,
        },
        # speakleash/Bielik-1.5B-v3.0-Instruct. Described in public as a llama architecture derived from
        # Qwen2.5-1.5B, with 32 layers, 12 heads and 2 key-value heads. Unconfirmed, by analogy to Qwen2.5-1.5B:
        # hidden_size, intermediate_size, rope_theta, rms_norm_eps, attention_bias. With these and untied
        # embeddings the weights in Q8_0 are 1.696 GB, where the published GGUF file has 1.700 GB.
        "bielik-1.5b": {
            "model_type": "llama",
            "hidden_size": 1536,
            "num_hidden_layers": 32,
            "intermediate_size": 8960,
            "num_attention_heads": 12,
            "num_key_value_heads": 2,
            "rms_norm_eps": 1e-6,
            "vocab_size": 32000,
            "max_position_embeddings": 8192,
            "rope_theta": 1000000.0,
            "attention_bias": True,
            "tie_word_embeddings": False,
        },
        # Qwen/Qwen2.5-1.5B-Instruct
        "qwen2.5-1.5b": {
            "model_type": "qwen2",
            "hidden_size": 1536,
            "num_hidden_layers": 28,
            "intermediate_size": 8960,
            "num_attention_heads": 12,
            "num_key_value_heads": 2,
            "rms_norm_eps": 1e-6,
            "vocab_size": 151936,
            "max_position_embeddings": 32768,
            "rope_theta": 1000000.0,
            "tie_word_embeddings": True,
        },
        # meta-llama/Llama-3.2-1B-Instruct
        "llama3.2-1b": {
            "model_type": "llama",
            "hidden_size": 2048,
            "num_hidden_layers": 16,
            "intermediate_size": 8192,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "head_dim": 64,
            "rms_norm_eps": 1e-5,
            "vocab_size": 128256,
            "max_position_embeddings": 131072,
            "rope_theta": 500000.0,
            "rope_scaling": {
                "factor": 32.0,
                "high_freq_factor": 4.0,
                "low_freq_factor": 1.0,
                "original_max_position_embeddings": 8192,
                "rope_type": "llama3",
            },
            "tie_word_embeddings": True,
        },
    }
)


def build(name: str, bits: int = 8) -> Any:
    """A model of a published shape with random weights: bfloat16, quantized to ``bits`` unless these are 16.

    Weights are made and quantized a layer at a time, so that memory never holds much more than the result.

    Raises:
        ModelError: there is no such shape, or no such quantization.
    """
    if name not in SHAPES:
        raise ModelError(f"there is no shape {name!r}; there is: {', '.join(SHAPES)}.")
    if bits not in BITS:
        raise ModelError(f"weights of {bits} bits are not offered; choose 4, 8 or 16 (bfloat16).")
    from mlx_lm.models import llama, qwen2

    module: Any = {"llama": llama, "qwen2": qwen2}[SHAPES[name]["model_type"]]
    model = module.Model(module.ModelArgs.from_dict(dict(SHAPES[name])))
    model.set_dtype(mx.bfloat16)
    if bits != 16:
        nn.quantize(model, GROUP, bits, class_predicate=_quantizable)
    for layer in model.layers:
        mx.eval(layer.parameters())
    mx.eval(model.parameters())
    return model.eval()


def _quantizable(path: str, module: Any) -> bool:
    return hasattr(module, "to_quantized") and module.weight.shape[-1] % GROUP == 0
