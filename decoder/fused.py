"""A draft with fewer, wider matrix products.

A small draft does not compute for long: most of a step goes into starting its kernels. The three projections
into attention become one product here, the two into the feed-forward layer another, and queries and keys are
rotated together. A logit may differ by rounding from that of the separate products, which a draft may and a
target may not: what is drafted is only ever a guess.
"""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models import llama, qwen2
from mlx_lm.models.activations import swiglu
from mlx_lm.models.base import scaled_dot_product_attention

ROWS = ("weight", "scales", "biases", "bias")  # parameters of a layer that have one row an output


class FusedAttention(nn.Module):
    """Attention as in ``llama`` and ``qwen2``, its queries, keys and values from one product."""

    def __init__(self, plain: Any) -> None:
        super().__init__()
        self.qkv_proj = stacked(plain.q_proj, plain.k_proj, plain.v_proj)
        self.o_proj, self.rope = plain.o_proj, plain.rope
        self._queries, self._rotated = plain.n_heads, plain.n_heads + plain.n_kv_heads
        self._heads, self._scale = plain.n_heads + 2 * plain.n_kv_heads, plain.scale

    def __call__(self, x: mx.array, mask: Any = None, cache: Any = None) -> mx.array:
        """``x`` of shape (batch, length, width) to the same shape."""
        batch, length, _ = x.shape
        heads = self.qkv_proj(x).reshape(batch, length, self._heads, -1).transpose(0, 2, 1, 3)
        rotated = self.rope(heads[:, : self._rotated], offset=0 if cache is None else cache.offset)
        queries, keys = rotated[:, : self._queries], rotated[:, self._queries :]
        values = heads[:, self._rotated :]
        if cache is not None:
            keys, values = cache.update_and_fetch(keys, values)
        found = scaled_dot_product_attention(queries, keys, values, cache=cache, scale=self._scale, mask=mask)
        return self.o_proj(found.transpose(0, 2, 1, 3).reshape(batch, length, -1))


class FusedMLP(nn.Module):
    """The gated feed-forward layer, gate and input from one product."""

    def __init__(self, plain: Any) -> None:
        super().__init__()
        self.gate_up_proj = stacked(plain.gate_proj, plain.up_proj)
        self.down_proj = plain.down_proj

    def __call__(self, x: mx.array) -> mx.array:
        """``x`` of shape (…, width) to the same shape."""
        gate, up = mx.split(self.gate_up_proj(x), 2, axis=-1)
        return self.down_proj(swiglu(gate, up))


def fuse(model: Any) -> int:
    """Fuse in place the layers whose parts are known; how many there were, 0 where the model is left as it is."""
    done = 0
    for layer in getattr(model, "layers", ()):
        attention, mlp = getattr(layer, "self_attn", None), getattr(layer, "mlp", None)
        if type(attention) not in (llama.Attention, qwen2.Attention) or type(mlp) not in (llama.MLP, qwen2.MLP):
            continue
        if not (_alike(attention, "q_proj", "k_proj", "v_proj") and _alike(mlp, "gate_proj", "up_proj")):
            continue
        layer.self_attn, layer.mlp = FusedAttention(attention), FusedMLP(mlp)
        mx.eval(layer.parameters())  # one layer at a time, so that memory holds little twice
        done += 1
    return done


def stacked(*layers: Any) -> Any:
    """One linear layer, plain or quantized, that gives the outputs of all one behind another."""
    first = layers[0]
    found = first.__class__.__new__(first.__class__)
    nn.Module.__init__(found)
    for name in ("group_size", "bits", "mode"):
        if hasattr(first, name):
            setattr(found, name, getattr(first, name))
    for name in ROWS:
        if name in first:
            found[name] = mx.concatenate([layer[name] for layer in layers])
    return found


def _alike(part: Any, *names: str) -> bool:
    """Whether the layers can be stacked: of one known kind, one quantization, the same parameters."""
    layers = [part[name] for name in names]
    kinds = {
        (type(x), *(getattr(x, a, None) for a in ("group_size", "bits", "mode")), tuple(n in x for n in ROWS))
        for x in layers
    }
    return type(layers[0]) in (nn.Linear, nn.QuantizedLinear) and len(kinds) == 1
