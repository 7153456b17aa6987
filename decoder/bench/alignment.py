"""How two vocabularies cut the same text, from a result that tokalign wrote, beside what a bench lost."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decoder.bench.comparison import spearman
from decoder.bench.identity import Identity
from decoder.errors import BenchError

SCHEMA = "tokalign-result/1"
MEASURES = ("boundary_jaccard", "boundary_f1")
SLICES = {"overall": "", "inside_words": "_inside_words"}


@dataclass(frozen=True)
class Aligned:
    """One pair on one corpus. Values are shares by measure, over all boundaries or those inside words;
    ``page`` is tokalign's report of the result, where it stands beside it."""

    draft: str
    fingerprint: str
    corpus: str
    documents: int
    values: Mapping[str, float]
    page: Path | None = None

    @property
    def name(self) -> str:
        """The draft; of a file its folder's name, which tells it apart."""
        path = Path(self.draft)
        return path.parent.name if path.name == "tokenizer.json" else path.name


@dataclass(frozen=True)
class Point:
    """A pair on one kind of text: how well boundaries agree, and what was lost there. ``own`` says that the
    text was measured itself; otherwise the pair's mean over all corpora stands in."""

    draft: str
    group: str
    agreement: float
    loss: float
    own: bool


def read_alignment(path: Path) -> list[Aligned]:
    """The pairs of a result, plain or gzipped.

    Raises:
        BenchError: it cannot be read or is none.
    """
    try:
        data = path.read_bytes()
        content = json.loads(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
        if content.get("schema") != SCHEMA:
            raise ValueError(f"its schema is {content.get('schema')!r}, not {SCHEMA!r}")
        page = path.with_name(path.name.partition(".")[0] + ".html")
        return list(_pairs(content, page if page.exists() else None))
    except OSError as error:
        raise BenchError(f"the result {path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError, AttributeError, EOFError) as error:
        raise BenchError(
            f"{path} is no result of tokalign ({error}); make one with `tokalign compare --out`."
        ) from error


def _pairs(content: Mapping[str, Any], page: Path | None) -> Iterator[Aligned]:
    prints = {d["name"]: d["fingerprint"] for d in content["drafts"]}
    sizes = {c["name"]: c["documents"] for c in content["corpora"]}
    for pair in content["pairs"]:
        names = list(pair["metrics"]["columns"])
        rows = [dict(zip(names, row, strict=True)) for row in pair["metrics"]["rows"]]
        values = {
            f"{r['metric']}{SLICES[r['slice_kind']]}": r["value"]
            for r in rows
            if r["slice_kind"] in SLICES and r["metric"] in MEASURES and r["value"] is not None
        }
        yield Aligned(pair["draft"], prints[pair["draft"]], pair["corpus"], sizes[pair["corpus"]], values, page)


def points(
    aligned: Sequence[Aligned],
    losses: Iterable[tuple[str, str, float]],
    identity: Identity,
    measure: str = "boundary_jaccard",
) -> list[Point]:
    """A point for every draft, group and loss.

    Drafts are found by their vocabulary, corpora by the group's name.
    """
    found = []
    for draft, group, loss in losses:
        vocabulary = getattr(identity.drafts.get(draft), "vocabulary", None)
        mine = [a for a in aligned if measure in a.values and _same(a, draft, vocabulary)]
        if not mine:
            continue
        own = next((a for a in mine if Path(a.corpus).stem == group), None)
        mean = sum(a.values[measure] for a in mine) / len(mine)
        found.append(Point(draft, group, own.values[measure] if own else mean, loss, own is not None))
    return found


def correlation(found: Sequence[Point]) -> float | None:
    """Spearman's correlation over the points."""
    return spearman([p.agreement for p in found], [p.loss for p in found])


def _same(aligned: Aligned, draft: str, vocabulary: str | None) -> bool:
    if vocabulary is not None:
        return aligned.fingerprint == vocabulary
    path = Path(aligned.draft)
    return draft in (aligned.draft, path.name, path.stem, path.parent.name)
