"""Hugging Face transformers' assisted generation with two tokenizers, on PyTorch, for comparison.

A script on its own: it runs in an environment that has torch and transformers and nothing of this project.
It reads one JSON request on standard input (target and draft folders of MLX models, prompts, k, max_tokens) and
writes one JSON line a prompt: emitted ids, passes of the target, seconds.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any


def load(folder: str) -> tuple[Any, Any]:
    """A Llama-architecture MLX model as a float32 torch model, with its tokenizer."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoConfig, AutoTokenizer, LlamaForCausalLM

    config = AutoConfig.from_pretrained(folder)
    quantization = json.loads((Path(folder) / "config.json").read_text()).get("quantization")
    for name in ("quantization_config", "quantization"):
        if hasattr(config, name):
            delattr(config, name)
    config.dtype = torch.float32
    weights = {k: v for f in sorted(Path(folder).glob("*.safetensors")) for k, v in load_file(f).items()}
    model = LlamaForCausalLM(config)
    missing, unexpected = model.load_state_dict(dequantized(weights, quantization), strict=False)
    missing = [m for m in missing if "rotary" not in m and m != "lm_head.weight"]
    if missing or unexpected:
        raise SystemExit(
            f"{folder}: weights do not fit: missing {missing[:3]}, unexpected {list(unexpected)[:3]}"
        )
    model.tie_weights()
    return model.eval().float(), AutoTokenizer.from_pretrained(folder)


def dequantized(weights: dict[str, Any], quantization: dict[str, Any] | None) -> dict[str, Any]:
    """Affine-quantized MLX weights (packed unsigned integers, scale and bias a group) as float32."""
    import torch

    if not quantization:
        return {k: v.float() for k, v in weights.items()}
    bits, group = quantization["bits"], quantization["group_size"]
    out: dict[str, Any] = {}
    for name, value in weights.items():
        base = name.removesuffix(".weight")
        if f"{base}.scales" in weights and name.endswith(".weight"):
            packed = value.view(torch.int32).to(torch.int64) & 0xFFFFFFFF
            shifts = torch.arange(0, 32, bits)
            q = ((packed[..., None] >> shifts) & ((1 << bits) - 1)).flatten(-2).float()
            q = q.unflatten(-1, (-1, group))
            scaled = (
                q * weights[f"{base}.scales"].float()[..., None] + weights[f"{base}.biases"].float()[..., None]
            )
            out[name] = scaled.flatten(-2)
        elif not name.endswith((".scales", ".biases")):
            out[name] = value.float()
    return out


def main() -> None:
    """Serve one request."""
    import torch

    request = json.load(sys.stdin)
    torch.manual_seed(0)
    target, target_tokenizer = load(request["target"])
    draft, draft_tokenizer = load(request["draft"])
    draft.generation_config.num_assistant_tokens = request["k"]
    draft.generation_config.num_assistant_tokens_schedule = "constant"
    draft.generation_config.assistant_confidence_threshold = 0.0
    passes = [0]
    target.register_forward_hook(lambda *_: passes.__setitem__(0, passes[0] + 1))
    two = target_tokenizer.get_vocab() != draft_tokenizer.get_vocab()
    extra = {"tokenizer": target_tokenizer, "assistant_tokenizer": draft_tokenizer} if two else {}
    for prompt in request["prompts"]:
        ids = target_tokenizer(prompt, return_tensors="pt")
        passes[0], begin = 0, time.perf_counter()
        with torch.inference_mode():
            out = target.generate(
                **ids, assistant_model=draft, do_sample=False, max_new_tokens=request["max_tokens"], **extra
            )
        tokens = out[0, ids["input_ids"].shape[1] :].tolist()
        row = {"tokens": tokens, "passes": passes[0], "seconds": time.perf_counter() - begin}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
