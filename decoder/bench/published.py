"""What the published study reports, to stand beside what was measured.

K. Fonal, arXiv 2604.16368, 2026: Bielik 11B (8 bits) on an Apple M2 Pro, drafts of three families, 50 prompts a
condition. The figures were taken from summaries of the paper, so check them there before quoting.
"""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = "arXiv 2604.16368"


@dataclass(frozen=True)
class Cell:
    """One published figure; ``high`` is the upper end of a range. ``measure`` is named as in our summary."""

    draft: str
    corpus: str
    translation: str
    k: int
    measure: str
    value: float
    high: float | None = None


_ACCEPTANCE = {
    "Bielik 1.5B": (0.311, 0.239, 0.222),
    "Llama-3.2-1B": (0.420, 0.360, 0.365),
    "Qwen2.5-1.5B": (0.446, 0.410, 0.427),
}
_CORPORA = ("Wikipedia", "pl_alpaca", "questions")
_SPEED = {"Bielik 1.5B": 0.87, "Llama-3.2-1B": 1.06, "Qwen2.5-1.5B": 1.06}
AWARE = "context-aware, p=5"

CELLS: tuple[Cell, ...] = (
    *(
        Cell(draft, corpus, AWARE, 2, "acceptance", value)
        for draft, values in _ACCEPTANCE.items()
        for corpus, value in zip(_CORPORA, values, strict=True)
    ),
    *(Cell(draft, "Wikipedia", AWARE, 2, "speedup", value) for draft, value in _SPEED.items()),
    Cell("Qwen2.5-1.5B", "Wikipedia", "naive", 2, "acceptance", 0.105),
    Cell("all", "structured text", AWARE, 2, "speedup", 1.7),
    Cell("all", "all", AWARE, 4, "speedup", 0.59, 0.70),
    Cell("all", "all", AWARE, 6, "speedup", 0.40),
    Cell("all", "all", AWARE, 2, "joules_per_token", 2.0, 2.7),
)
POLISH = "Bielik 1.5B"
"""The study's draft with a Polish vocabulary; the others' are general ones."""
