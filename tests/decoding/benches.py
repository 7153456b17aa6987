"""Rows of benches that were never run, and a result of tokalign to stand beside them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

from decoder.bench.grouping import Bench
from decoder.bench.identity import Identity, ModelIdentity
from decoder.bench.rows import FIELDS, full_row

RATES = {  # tokens of ten rounds, by draft and translation
    "polski": {"naive": 11, "counted:5": 12, "context:5 no-heal": 20, "anchored": 32, "intersection": 15},
    "ogólny": {"naive": 11, "counted:5": 16, "context:5 no-heal": 20, "anchored": 22, "intersection": 24},
}


def row(draft: str, translation: str, tokens: int, prompt: str, **more) -> dict:
    made = {name: kind() for name, kind in FIELDS.items()}
    made |= {"draft": draft, "translation": translation, "k": 4, "group": "proza", "prompt": prompt}
    made |= {
        "tokens": tokens,
        "rounds": 10,
        "accepted": tokens - 10,
        "identical": True,
        "energy_reason": "no meter",
    }
    made |= {"drafted": 40, "proposed": 80 if draft == "polski" else 50, "lost_translation": 3, "lost_cut": 1}
    made |= {"seconds": 2.0, "first_tokens": 1, "plain_tokens": tokens, "plain_seconds": 3.0, "joules": None}
    return full_row(made | {"top2_gap": None, "diverges_at": None} | more)


def made_rows() -> list[dict]:
    return [
        row(draft, translation, tokens + n % 2, f"p{n}", group=("proza", "prawo")[n % 2], lost_disagreement=n)
        for draft, rates in RATES.items()
        for translation, tokens in rates.items()
        for n in range(6)
    ]


def made_bench(rows: Sequence[dict] | None = None, **vocabularies: str) -> Bench:
    rows = made_rows() if rows is None else rows
    drafts = {
        r["draft"]: ModelIdentity(r["draft"], None, vocabularies.get(r["draft"], r["draft"])) for r in rows
    }
    return Bench(
        rows, Identity(ModelIdentity("cel", "f" * 64, "cel"), "e" * 64, 6, 32, True, "cpu", "0.1", 8, drafts)
    )


def made_result(path: Path) -> Path:
    columns = dict.fromkeys(("metric", "slice_kind"), "text") | {"value": "number"}
    pairs = [
        {"draft": d, "corpus": c, "metrics": {"columns": columns, "rows": [["boundary_jaccard", "overall", v],
         ["boundary_f1", "inside_words", None], ["boundary_jaccard", "diacritic", 0.9]]}}
        for d, c, v in (("x", "prawo.jsonl", 0.5), ("x", "wiki", 0.7), ("y", "prawo.jsonl", 0.9))
    ]  # fmt: skip
    content = {
        "schema": "tokalign-result/1",
        "drafts": [{"name": "x", "fingerprint": "polski"}, {"name": "y", "fingerprint": "ogólny"}],
        "corpora": [{"name": "prawo.jsonl", "documents": 3}, {"name": "wiki", "documents": 2}],
        "pairs": pairs,
    }
    path.write_bytes(gzip.compress(json.dumps(content).encode()))
    return path
