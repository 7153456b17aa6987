"""Drafts with fewer, wider products: the same logits, and layers that are left as they are."""

from __future__ import annotations

import mlx.core as mx
import mlx.nn as nn
import pytest
from mlx_lm.models import llama, qwen2

from decoder.fused import FusedAttention, FusedMLP, fuse
from decoder.lane import Lane
from decoding import makers as tiny

ARGS = {
    "num_hidden_layers": 2,
    "hidden_size": 128,
    "intermediate_size": 192,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 99,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10_000.0,
    "max_position_embeddings": 512,
    "tie_word_embeddings": False,
}


def model(module, **more):
    mx.random.seed(3)
    found = module.Model(
        module.ModelArgs.from_dict(ARGS | {"model_type": module.__name__.rpartition(".")[2]} | more)
    )
    mx.eval(found.parameters())
    return found


def logits(found) -> mx.array:
    lane = Lane(found)
    return mx.concatenate([lane.feed(mx.array(part)) for part in ([5, 7, 11, 2], [3], [9, 9])])


@pytest.mark.parametrize("bits", (None, 4, 8))
@pytest.mark.parametrize(
    ("module", "more"), ((llama, {}), (llama, {"attention_bias": True, "head_dim": 64}), (qwen2, {}))
)
def test_a_fused_model_gives_the_same_logits(module, more, bits):
    found = model(module, **more)
    if bits:
        nn.quantize(found, 64, bits)
    before = logits(found)
    assert fuse(found) == 2
    assert {type(x.self_attn) for x in found.layers} == {FusedAttention}
    assert {type(x.mlp) for x in found.layers} == {FusedMLP}
    assert mx.abs(logits(found) - before).max().item() < 1e-5 * mx.abs(before).max().item()


def test_there_are_fewer_parameters_but_no_weight_is_lost():
    found = model(qwen2)
    size = found.num_parameters() if hasattr(found, "num_parameters") else None
    count = sum(v.size for _, v in nn.utils.tree_flatten(found.parameters())) if size is None else size
    fuse(found)
    assert sum(v.size for _, v in nn.utils.tree_flatten(found.parameters())) == count


def test_layers_of_another_kind_are_left_alone():
    found = model(llama)
    found.layers[0].self_attn.k_proj = nn.QuantizedLinear.from_linear(found.layers[0].self_attn.k_proj, 64, 8)
    before = logits(found)
    assert fuse(found) == 1
    assert type(found.layers[0].self_attn) is llama.Attention
    assert mx.abs(logits(found) - before).max().item() < 1e-4
    assert fuse(found) == 0
    assert fuse(tiny.Scripted(30, lambda ids: ids[-1])) == 0
