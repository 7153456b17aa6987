"""What is calibrated: models by name, or published shapes with random weights."""

from __future__ import annotations

from decoder.calibrate import Subject
from decoder.models import load_model
from decoder.shapes import build
from tokalign.errors import TokalignError
from tokalign.tokenizers import ALIASES, load


def from_model(name: str, role: str) -> Subject:
    """A model by path, hub id or alias. Raises ModelError."""
    loaded = load_model(name, role)
    return Subject(name, loaded.model, loaded.tokenizer)


def from_shape(name: str, bits: int) -> Subject:
    """A published architecture with random weights, and its vocabulary where it can be had offline."""
    model = build(name, bits)
    if name not in ALIASES:
        return Subject(name, model, None, True, f"the shape {name} has no vocabulary")
    try:
        tokenizer = load(name, offline=True)
    except TokalignError as error:
        return Subject(name, model, None, True, f"its vocabulary cannot be had offline: {error}")
    standin = tokenizer.source.kind == "stand-in"
    return Subject(name, model, tokenizer, True, f"{name} with a stand-in vocabulary" if standin else None)
