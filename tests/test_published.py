"""Figures that others have published, reproduced with the published vocabularies."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from makers import value

from tokalign.errors import TokalignError
from tokalign.metrics import evaluate
from tokalign.table import measure
from tokalign.tokenizers import Tokenizer, load

PREAMBLE = Path(__file__).parent / "data" / "preambula.txt"
WIKI = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "wiki.jsonl"


@cache
def loaded(name: str) -> Tokenizer:
    return load(name, offline=True)


def published(*names: str) -> list[Tokenizer]:
    try:
        return [loaded(name) for name in names]
    except TokalignError as error:
        pytest.skip(str(error))


def fertility(texts: Iterable[str], target: Tokenizer, draft: Tokenizer) -> tuple[float, float]:
    found = evaluate(measure(((str(i), t) for i, t in enumerate(texts)), target, draft), samples=2)
    return value(found, "fertility", "target"), value(found, "fertility", "draft")


def test_preamble_of_the_constitution():
    """Bielik v3 report (arXiv 2505.02550): 3.22 tokens a word for Mistral, 2.69 for Qwen2.5, on 232 words."""
    text = PREAMBLE.read_text(encoding="utf-8")
    mistral, qwen = published("bielik-11b", "qwen2.5-1.5b")
    assert len(text.split()) == 232
    for layout in (text.strip(), " ".join(text.split())):
        assert fertility([layout], mistral, qwen) == pytest.approx((3.22, 2.69), rel=0.03)


def test_order_of_fertilities_on_wikipedia():
    if not WIKI.exists():
        pytest.skip(f"{WIKI} is absent")
    with WIKI.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for _, line in zip(range(60), lines, strict=False)]
    mistral, llama, qwen = published("bielik-11b", "llama3.2-1b", "qwen2.5-1.5b")
    of_mistral, of_llama = fertility(texts, mistral, llama)
    _, of_qwen = fertility(texts, mistral, qwen)
    assert of_mistral > of_llama > of_qwen > 2
