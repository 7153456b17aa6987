"""The choice of p: what each translation and window gets out of a perfect draft, and which one to set."""

from tokalign.tune.choice import RECOMMENDED_K, Choice, choose, same_vocabulary_choice
from tokalign.tune.curve import CUTS, KS, SCHEMA, Curve, pool, tune

__all__ = [
    "CUTS",
    "KS",
    "RECOMMENDED_K",
    "SCHEMA",
    "Choice",
    "Curve",
    "choose",
    "pool",
    "same_vocabulary_choice",
    "tune",
]
