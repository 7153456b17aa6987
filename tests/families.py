"""One tokenizer of every supported family, for tests that hold for all of them."""

from __future__ import annotations

import json
from functools import cache

from makers import polish_texts, trained

from tokalign.errors import TokalignError
from tokalign.tokenizers import Source, Tokenizer, load

MADE = ("sentencepiece-first", "sentencepiece-prepend", "byte-level", "byte-level-nfc")
PUBLISHED = ("bielik-11b", "bielik-1.5b", "qwen2.5-1.5b", "llama3.2-1b")


@cache
def family(name: str) -> Tokenizer | None:
    """A made tokenizer or a published vocabulary; None where that is not installed."""
    if name in PUBLISHED:
        try:
            return load(name, offline=True)
        except TokalignError:
            return None
    if name.startswith("byte-level"):
        base = trained(polish_texts(), 900, "byte-level")
        extra = {"normalizer": {"type": "NFC"}} if name.endswith("nfc") else {}
    else:
        base = trained(polish_texts(), 900)
        extra = _prepended() if name.endswith("prepend") else {}
    spec = json.loads(base._document.to_str()) | extra
    return Tokenizer.from_json(json.dumps(spec), name, Source("memory", "made by a test"))


def _prepended() -> dict[str, object]:
    """The other spelling of the dummy prefix, as Llama 2 and Mistral publish it."""
    steps = [
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    ]
    return {"normalizer": {"type": "Sequence", "normalizers": steps}, "pre_tokenizer": None}
