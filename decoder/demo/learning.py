"""Losses, the schedule and the compiled step of training."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import numpy as np
from mlx.utils import tree_map_with_path

from decoder.demo.data import heldout_batches
from decoder.demo.recipes import Recipe

WARM_UP = 0.02  # of the schedule
LAST = 0.02  # the final learning rate, of the peak


def learning_rate(fraction: float, peak: float) -> float:
    """A linear rise, then half a cosine; ``fraction`` is how much of the schedule is done."""
    if fraction < WARM_UP:
        return peak * max(fraction, 0.05 * WARM_UP) / WARM_UP
    done = min((fraction - WARM_UP) / (1 - WARM_UP), 1.0)
    return peak * (LAST + (1 - LAST) * 0.5 * (1 + math.cos(math.pi * done)))


def token_losses(model: Any, ids: mx.array, dtype: mx.Dtype) -> mx.array:
    """Nats of every token but the first, shape (batch, length - 1), of a model with a float32 embedding.

    The logit of the right token is computed by itself, so that the large array of logits is read by one
    reduction only. Rows are taken from the float32 table, for the sums of their gradients to be float32 too.
    """
    table = model.model.embed_tokens.weight
    given, right = ids[:, :-1], ids[:, 1:]
    hidden = model.model(given, input_embeddings=table[given].astype(dtype))
    logit = (hidden.astype(mx.float32) * table[right]).sum(axis=-1)
    return mx.logsumexp(hidden @ table.astype(dtype).T, axis=-1).astype(mx.float32) - logit


def heldout_nats(model: Any, tokens: np.ndarray, batch: int, context: int) -> float:
    """The sum of the held-out tokens' nats, in float32, for a model quantized or not."""
    total = 0.0
    for ids in heldout_batches(tokens, batch, context):
        array = mx.array(ids)
        logits = model(array[:, :-1]).astype(mx.float32)
        total += float(nn.losses.cross_entropy(logits, array[:, 1:], reduction="sum").item())  # type: ignore[arg-type]
    return total


def rounded(weight: mx.array, recipe: Recipe) -> mx.array:
    """The weight as quantization would give it back, with the gradient of the weight itself."""
    exact = mx.stop_gradient(weight)
    parts = mx.quantize(exact.astype(mx.bfloat16), group_size=recipe.group, bits=recipe.bits)
    back = mx.dequantize(*parts, group_size=recipe.group, bits=recipe.bits)
    return weight + mx.stop_gradient(back.astype(weight.dtype) - exact)


class Learner:
    """A model with float32 weights that computes in ``dtype``."""

    def __init__(self, model: Any, recipe: Recipe, dtype: mx.Dtype) -> None:
        self.model, self.recipe, self.dtype = model, recipe, dtype
        self.parameters: dict[str, Any] = model.trainable_parameters()
        self.optimizer = optim.AdamW(recipe.peak, betas=[0.9, 0.95], weight_decay=0.1, bias_correction=True)
        self.optimizer.init(self.parameters)
        self._state = [self.parameters, self.optimizer.state]
        mx.eval(self._state)
        self._steps = {rounding: self._compiled(rounding) for rounding in (False, True)}

    def step(self, ids: np.ndarray, rate: float, rounding: bool) -> float:
        """Learn from one batch; returns its mean loss in nats per token."""
        self.optimizer.learning_rate = rate
        loss = self._steps[rounding](mx.array(ids))
        mx.eval(loss, self._state)
        return float(loss.item())  # type: ignore[arg-type]

    def working(self, parameters: Any, rounding: bool) -> Any:
        """The parameters as a step uses them: in ``dtype``, but for the embedding."""

        def cast(path: str, weight: mx.array) -> mx.array:
            if rounding and weight.ndim == 2:
                weight = rounded(weight, self.recipe)
            return weight if "embed_tokens" in path else weight.astype(self.dtype)

        return tree_map_with_path(cast, parameters)

    def settle(self) -> Any:
        """Give the model its weights in ``dtype``, not rounded, and return it."""
        self.model.update(self.parameters)
        self.model.set_dtype(self.dtype)
        mx.eval(self.model.parameters())
        return self.model

    def _compiled(self, rounding: bool) -> Callable[[mx.array], mx.array]:
        def loss_of(parameters: Any, ids: mx.array) -> mx.array:
            self.model.update(self.working(parameters, rounding))
            return token_losses(self.model, ids, self.dtype).mean()

        @partial(mx.compile, inputs=self._state, outputs=self._state)
        def step(ids: mx.array) -> mx.array:
            loss, gradients = mx.value_and_grad(loss_of)(self.parameters, ids)
            gradients, _ = optim.clip_grad_norm(gradients, 1.0)
            self.parameters.update(self.optimizer.apply_gradients(gradients, self.parameters))
            return loss

        return step
