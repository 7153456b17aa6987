"""Models and tokenizers small enough to be run by the hundred, and models that follow a script."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import makers
import mlx.core as mx
from mlx.utils import tree_flatten, tree_map_with_path
from mlx_lm.generate import generate_step
from mlx_lm.models import llama
from mlx_lm.tokenizer_utils import TokenizerWrapper
from tokenizers import Tokenizer as Encoder
from transformers import PreTrainedTokenizerFast

from decoder.drafters import ModelDrafter
from decoder.generation import Pair, make_drafter
from decoder.healing import Healer
from decoder.lane import Lane
from decoder.loop import Limits, Round, State, decode
from decoder.models import Loaded
from decoder.sampling import Sampling
from decoder.strategy import Strategy
from tokalign.tokenizers import Source, Tokenizer

CHATML = (
    "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CONTROL = ("<s>", "</s>", "<|im_start|>", "<|im_end|>")
PROMPT = "Za górą żółty kot"


# Vocabularies


def with_control(tokenizer: Tokenizer, name: str, control: Sequence[str] = CONTROL) -> Tokenizer:
    """The tokenizer with control tokens behind its ids."""
    spec = json.loads(tokenizer._document.to_str())
    first = len(tokenizer.vocabulary.table)
    spec["added_tokens"] = [
        {
            "id": first + n,
            "content": content,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for n, content in enumerate(control)
    ]
    return Tokenizer.from_json(json.dumps(spec), name, Source("memory", "made by a test"))


@cache
def vocabulary(kind: str, size: int, skip: int = 0) -> Tokenizer:
    """A trained vocabulary of about ``size`` ids with control tokens; ``skip`` leaves out the first texts."""
    texts = [t[:2000] for t in makers.polish_texts(12)[skip:]]
    made = makers.trained(texts, size, kind)
    return with_control(made, f"{kind}-{size}-{skip}")


PAIRS: dict[str, Callable[[], tuple[Tokenizer, Tokenizer]]] = {
    "same": lambda: (vocabulary("sentencepiece", 480), vocabulary("sentencepiece", 480)),
    "sentencepiece-from-bytes": lambda: (vocabulary("sentencepiece", 480), vocabulary("byte-level", 420)),
    "bytes-from-sentencepiece": lambda: (vocabulary("byte-level", 420), vocabulary("sentencepiece", 480)),
    "bytes-from-bytes": lambda: (vocabulary("byte-level", 420), vocabulary("byte-level", 330, 6)),
}


def control_id(tokenizer: Tokenizer, content: str) -> int:
    return next(i for i, c in tokenizer.vocabulary.control.items() if c == content)


# Models


@cache
def random_model(rows: int, seed: int, layers: int = 2, hidden: int = 32) -> llama.Model:
    """A Llama in float32 whose weights are large enough for its output not to settle in a cycle at once."""
    arguments = llama.ModelArgs(**config(rows, layers, hidden))
    model = llama.Model(arguments)
    mx.random.seed(seed)

    def drawn(path: str, weight: mx.array) -> mx.array:
        if "norm" in path:
            return weight
        scale = 0.3 if "embed" in path else 4 / weight.shape[-1] ** 0.5
        return mx.random.normal(weight.shape) * scale

    model.update(tree_map_with_path(drawn, model.parameters()))
    mx.eval(model.parameters())
    return model


def config(rows: int, layers: int = 2, hidden: int = 32) -> dict[str, Any]:
    return {
        "model_type": "llama",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "intermediate_size": 2 * hidden,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "rms_norm_eps": 1e-5,
        "vocab_size": rows,
        "tie_word_embeddings": False,
    }


def wrapped(tokenizer: Tokenizer, template: str | None = CHATML, eos: str = "<|im_end|>") -> TokenizerWrapper:
    """mlx-lm's wrapper around a made tokenizer; it puts <s> before a text, as Bielik's does."""
    spec = json.loads(tokenizer._document.to_str())
    bos = control_id(tokenizer, "<s>")
    spec["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [bos], "tokens": ["<s>"]}},
    }
    fast = PreTrainedTokenizerFast(
        tokenizer_object=Encoder.from_str(json.dumps(spec)), bos_token="<s>", eos_token=eos
    )
    fast.chat_template = template
    return TokenizerWrapper(fast)


def loaded(tokenizer: Tokenizer, model: Any, name: str = "model", **options: Any) -> Loaded:
    wrapper = wrapped(tokenizer, **options)
    return Loaded(name, model, wrapper, tokenizer, frozenset(wrapper.eos_token_ids))


def random_pair(which: str = "same", strategy: Strategy | None = None, k: int = 4, padding: int = 0) -> Pair:
    """A pair of random models over one of PAIRS; ``padding`` rows of logits stand for no token."""
    target, draft = PAIRS[which]()
    models = [
        random_model(len(t.vocabulary.table) + padding, seed) for seed, t in enumerate((target, draft), 1)
    ]
    return Pair(
        loaded(target, models[0], "target"), loaded(draft, models[1], "draft"), strategy or Strategy(), k
    )


def save_model(folder: Path, tokenizer: Tokenizer, seed: int = 1, template: str | None = CHATML) -> Path:
    """A random model as the folder that mlx-lm loads."""
    folder.mkdir(parents=True)
    rows = len(tokenizer.vocabulary.table)
    mx.save_safetensors(
        str(folder / "model.safetensors"), dict(tree_flatten(random_model(rows, seed).parameters()))
    )
    eos = control_id(tokenizer, "<|im_end|>")
    (folder / "config.json").write_text(json.dumps(config(rows) | {"eos_token_id": eos}), encoding="utf-8")
    wrapped(tokenizer, template)._tokenizer.save_pretrained(folder)
    return folder


def save_pair(folder: Path, which: str = "sentencepiece-from-bytes") -> Path:
    """A random target and draft over one of PAIRS, in the folders ``cel`` and ``szkic``."""
    target, draft = PAIRS[which]()
    save_model(folder / "cel", target)
    save_model(folder / "szkic", draft, seed=2)
    return folder


def plain(model: Any, prompt: Sequence[int], n: int, **options: Any) -> list[int]:
    """What mlx-lm itself generates."""
    return [int(t) for t, _ in generate_step(mx.array(list(prompt)), model, max_tokens=n, **options)]


# Models that follow a script


class IdCache:
    """A cache that holds the ids themselves."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.state: list[mx.array] = []

    def is_trimmable(self) -> bool:
        return True

    def trim(self, n: int) -> int:
        n = min(n, len(self.ids))
        del self.ids[len(self.ids) - n :]
        return n


class Scripted:
    """A model whose most likely next token is a function of all ids before it."""

    def __init__(self, rows: int, following: Callable[[Sequence[int]], int]) -> None:
        self.rows, self.following = rows, following

    def make_cache(self) -> list[IdCache]:
        return [IdCache()]

    def __call__(self, ids: mx.array, cache: list[IdCache] | None = None) -> mx.array:
        held = IdCache() if cache is None else cache[0]
        wanted = []
        for i in ids[0].tolist():
            held.ids.append(i)
            wanted.append(self.following(held.ids))
        return (mx.arange(self.rows)[None] == mx.array(wanted)[:, None]).astype(mx.float32)[None] * 9


def follows(prompt: Sequence[int], stream: Sequence[int], rows: int) -> Scripted:
    """A target that writes ``stream`` after ``prompt``, whatever it has written."""
    return Scripted(rows, lambda ids: stream[min(max(len(ids) - len(prompt), 0), len(stream) - 1)])


def copies(tokenizer: Tokenizer, text: bytes, miss: float, seed: int, rows: int | None = None) -> Scripted:
    """A draft that continues ``text`` (all of it, its prompt too) in its own ids, now and then wrongly."""
    rows = rows or len(tokenizer.vocabulary.table)
    ordinary = [i for i, data in enumerate(tokenizer.vocabulary.table) if data]

    def following(ids: Sequence[int]) -> int:
        at = len(tokenizer.decode(ids))
        chance = hash((seed, at, len(ids))) % 1000
        rest = text[at : at + 24]
        if chance < miss * 1000 or not rest:
            return ordinary[(chance * 7919 + at) % len(ordinary)]
        return tokenizer.encode_bytes(rest)[0]

    return Scripted(rows, following)


def perturbed(pair: Pair, prompts: tuple[list[int], list[int]], output: Sequence[int], miss: float) -> Pair:
    """The pair with a draft that proposes the target's ``output`` with mistakes."""
    assert pair.draft is not None
    text = pair.draft.tokenizer.decode(prompts[1]) + pair.target.tokenizer.decode(output)
    model = copies(pair.draft.tokenizer, text, miss, seed=len(output))
    draft = loaded(pair.draft.tokenizer, model, "draft")
    return Pair(pair.target, draft, pair.strategy, pair.k)


@dataclass(frozen=True)
class Lengths:
    """A policy: draft lengths by the number of tokens emitted, verification at least ``least`` tokens wide."""

    lengths: Callable[[int], int]
    least: int = 0

    def draft_length(self, state: State) -> int:
        return self.lengths(state.emitted)

    def width(self, n: int) -> int:
        return max(n, self.least)

    def observe(self, done: Round) -> None:
        pass


class Whim:
    """Stands in for the adaptive policy: source, length, width and patience by chance."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.source, self.offered = "plain", 0

    def draft_length(self, state: State) -> int:
        self.source = self.chance.choice(("model", "model", "model", "lookup", "plain"))
        return 0 if self.source == "plain" else self.chance.randint(1, 8)

    def width(self, n: int) -> int:
        return n + self.chance.choice((0, 0, 3))

    def go_on(self, confidence: Sequence[float]) -> bool:
        assert all(0 <= c <= 1 for c in confidence)
        return self.chance.random() < 0.7

    def observe(self, done: Round) -> None:
        assert done.k > 0 or not done.candidates


def rounds(
    pair: Pair,
    prompts: tuple[list[int], list[int]],
    n: int,
    *,
    lookup: bool = False,
    sampling: Sampling | None = None,
    eos: frozenset[int] = frozenset(),
    check: Callable[[Round, Lane, Any], None] | None = None,
    lengths: Callable[[int], int] | None = None,
    width: int = 0,
    whim: Whim | None = None,
) -> list[Round]:
    """All rounds of a generation of at most ``n`` tokens, ``check`` called after each."""
    lane = Lane(pair.target.model)
    drafter = make_drafter(pair, prompts[1], prompts[0], lookup=lookup, policy=whim)  # type: ignore[arg-type]
    done = []
    for r in decode(
        lane,
        pair.target.tokenizer,
        drafter,
        prompts[0],
        sampling=sampling or Sampling(),
        limits=Limits(eos, n, min(eos, default=None)),
        policy=whim or Lengths(lengths or (lambda emitted: 4 if pair.k == "auto" else pair.k), width),
    ):
        done.append(r)
        if check is not None:
            check(r, lane, drafter)
    return done


def tokens(done: Sequence[Round]) -> list[int]:
    return [i for r in done for i in r.tokens]


def draft_of(pair: Pair, prompt: Sequence[int], heal: bool = True) -> ModelDrafter:
    """The draft's side alone."""
    assert pair.draft is not None
    bridge = pair.strategy.bridge(pair.target.tokenizer, pair.draft.tokenizer)
    healer = Healer(pair.draft.tokenizer, len(pair.draft.tokenizer.vocabulary.table)) if heal else None
    return ModelDrafter(Lane(pair.draft.model), pair.draft.tokenizer, bridge, prompt, pair.draft.eos, healer)
