"""Results that tests of the report make: a small real one, and one whose every text tries to break a page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import makers
import polars as pl

from tokalign.compare import compare
from tokalign.job import Job
from tokalign.result import Pair, Result

HOSTILE = "</script><script>alert(1)</script><!-- \" ' & <b>"


def small(folder: Path, drafts: int = 1) -> Result:
    """A trained target with one or two drafts on a few documents of the bundled sample."""
    texts = makers.polish_texts(10)
    cel = makers.saved(makers.trained(texts, 900), folder / "cel.json")
    szkic = makers.saved(makers.trained(texts, 700, "byte-level"), folder / "szkic.json")
    bajty = makers.saved(makers.byte_level(), folder / "bajty.json")
    lines = [json.dumps({"text": text}, ensure_ascii=False) for text in texts]
    (folder / "texts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    names = (str(szkic), str(bajty))[:drafts]
    command = ("tokalign", "compare", "cel", "szkic")
    return compare(Job(str(cel), names, (str(folder / "texts.jsonl"),), cuts=30, offline=True, command=command))


def hostile(result: Result) -> Result:
    """The same figures under names, notices, samples and reasons that spell markup."""
    spelled = {"label": HOSTILE, "detail": HOSTILE, "notice": HOSTILE}
    draft = replace(result.drafts[0], name=HOSTILE + "2", provisional=True, **spelled)
    corpus = replace(result.corpora[0], name=HOSTILE, source=HOSTILE, notice=HOSTILE, fallback=True)
    return replace(
        result,
        target=replace(result.target, name=HOSTILE, **spelled),
        drafts=(draft,),
        corpora=(corpus,),
        pairs=(_hostile(result.pairs[0]),),
        settings=(),
        command=(HOSTILE,),
    )


def _hostile(pair: Pair) -> Pair:
    size = len(HOSTILE.encode())
    sample = pair.samples.head(1).with_columns(
        pl.lit(HOSTILE).alias("text"),
        pl.lit(HOSTILE).alias("document"),
        pl.Series("ends_target", [[9, size]], dtype=pl.List(pl.Int64)),
        pl.Series("ends_draft", [[1, 9, size]], dtype=pl.List(pl.Int64)),
    )
    excluded = pl.DataFrame([(HOSTILE, None, HOSTILE)], schema=pair.excluded.schema, orient="row")
    spelled = pl.when(pl.col("slice_kind") == "pos").then(pl.lit(HOSTILE)).otherwise(pl.col("slice"))
    metrics = pair.metrics.with_columns(spelled.alias("slice"))
    names = {"target": HOSTILE, "draft": HOSTILE + "2", "corpus": HOSTILE}
    return replace(pair, **names, samples=sample, excluded=excluded, metrics=metrics)
