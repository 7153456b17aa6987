"""Tokenizers: loading them, their id → bytes tables, and where each token of a text ends in bytes."""

from tokalign.tokenizers.catalogue import ALIASES
from tokalign.tokenizers.segmentation import Segmentation, Segmentations, Unaligned
from tokalign.tokenizers.sources import load
from tokalign.tokenizers.tokenizer import Source, Tokenizer
from tokalign.tokenizers.vocabulary import WORD_START, Vocabulary

__all__ = [
    "ALIASES",
    "WORD_START",
    "Segmentation",
    "Segmentations",
    "Source",
    "Tokenizer",
    "Unaligned",
    "Vocabulary",
    "load",
]
