"""How long measuring takes beside what it cannot do without: reading the text and encoding it.

The encoders are timed batch by batch in one pass, in changing order, so that a machine that slows down or
speeds up treats them alike; passes and whole comparisons alternate.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from corpora import Reader, open_reader
from tokalign.errors import UsageError
from tokalign.job import Notify, Progress, ignore
from tokalign.processes import Cost, cost_of
from tokalign.provenance import machine, versions
from tokalign.records import to_json
from tokalign.result import Machine
from tokalign.tokenizers import Tokenizer, load

_BATCH = 1_000_000  # characters
READ, REFERENCE, GIGATOKEN, COMPARE, TWICE = "reading", "tokenizers", "gigatoken", "compare", "compare, twice"

Encode = Callable[[list[str]], object]


@dataclass(frozen=True)
class Spread:
    """A figure over the repeats."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Median, least and largest of at least one value."""
        return cls(median(values), min(values), max(values))


@dataclass(frozen=True)
class Stage:
    """One thing that was timed: seconds, processor seconds, and bytes of resident memory of the process tree
    (None for stages that run inside this process)."""

    name: str
    wall: Spread
    cpu: Spread
    peak: Spread | None


@dataclass(frozen=True)
class Ratio:
    """One stage's time over another's, each pair from one repeat."""

    above: str
    below: str
    wall: Spread
    cpu: Spread
    peak: Spread | None


@dataclass(frozen=True)
class Bench:
    """All that was measured. ``skipped`` says why a stage is missing."""

    target: str
    draft: str
    corpus: str
    documents: int
    bytes: int
    repeats: int
    workers: int | None
    machine: Machine
    versions: dict[str, str]
    stages: tuple[Stage, ...]
    ratios: tuple[Ratio, ...]
    skipped: tuple[str, ...]

    def json(self) -> dict[str, Any]:
        """For ``--json``."""
        return to_json(self)


def bench(
    target: str,
    draft: str,
    corpus: Path,
    *,
    repeats: int = 3,
    workers: int | None = None,
    offline: bool = False,
    column: str | None = None,
    progress: Progress = ignore,
    notify: Notify = ignore,
) -> Bench:
    """Time reading, encoding and the whole comparison of a file, once and given twice.

    Raises:
        UsageError: the corpus is no file.
        TokalignError: a comparison fails, or a tokenizer or the corpus cannot be used.
    """
    if not corpus.is_file():
        raise UsageError(f"the corpus {corpus} is no file, which alone can be measured twice: give one.")
    pair = [load(name, offline=offline) for name in (target, draft)]
    encoders = {REFERENCE: [_reference(t) for t in pair]}
    skipped = []
    try:
        encoders[GIGATOKEN] = [_gigatoken(t) for t in pair]
    except Exception as error:  # absent, or of another interface: the bench does without
        skipped.append(f"{GIGATOKEN} was not measured ({type(error).__name__}: {error})")
        notify(skipped[-1])
    found: dict[str, list[Cost]] = {}
    options = [*(["--offline"] if offline else []), *(["--column", column] if column else [])]
    options += [] if workers is None else ["--workers", str(workers)]
    with (
        tempfile.TemporaryDirectory(prefix="tokalign-bench-") as place,
        closing(open_reader(str(corpus), column=column, offline=offline)) as reader,
    ):
        folder = Path(place)
        for step in range(3 * repeats):
            repeat, part = divmod(step, 3)
            name = (READ, COMPARE, TWICE)[(part + repeat) % 3]  # in another order each time
            what = "reading and encoding" if name == READ else name
            progress(f"{what}, {repeat + 1} of {repeats}", step / (3 * repeats))
            if name == READ:
                costs = _encoding(reader, encoders)
            else:
                given = corpus if name == COMPARE else _twice(corpus, folder)
                command = ["compare", target, draft, "--corpus", str(given), *options]
                costs = {name: _comparison(command, folder)}
            for stage, cost in costs.items():
                found.setdefault(stage, []).append(cost)
    order = [name for name in (READ, REFERENCE, GIGATOKEN, COMPARE, TWICE) if name in found]
    return Bench(
        target=target,
        draft=draft,
        corpus=str(corpus),
        documents=reader.corpus.n_documents,
        bytes=reader.corpus.n_bytes,
        repeats=repeats,
        workers=workers,
        machine=machine(),
        versions=versions(),
        stages=tuple(_stage(name, found[name]) for name in order),
        ratios=tuple(
            _ratio(above, below, found[above], found[below])
            for above, below in [(COMPARE, n) for n in order if n not in (COMPARE, TWICE)] + [(TWICE, COMPARE)]
        ),
        skipped=tuple(skipped),
    )


def _reference(tokenizer: Tokenizer) -> Encode:
    encoder = tokenizer._document
    return lambda texts: encoder.encode_batch_fast(texts, add_special_tokens=False)


def _gigatoken(tokenizer: Tokenizer) -> Encode:
    import gigatoken

    encode: Encode = gigatoken.Tokenizer.from_json(tokenizer._document.to_str()).encode_batch
    encode(["Ala ma kota."])
    return encode


def _encoding(reader: Reader, encoders: dict[str, list[Encode]]) -> dict[str, Cost]:
    """One pass: seconds of reading, and of each kind of encoder, batch by batch."""
    spent = {name: [0.0, 0.0] for name in (READ, *encoders)}
    order = list(encoders)
    batches = _batches(reader)
    while True:
        batch = _timed(spent[READ], lambda: next(batches, None))
        if batch is None:
            return {name: Cost(times[0], times[1]) for name, times in spent.items()}
        for name in order:
            for encode in encoders[name]:
                _timed(spent[name], lambda encode=encode, batch=batch: encode(batch))  # type: ignore[misc]
        order.append(order.pop(0))


def _timed(spent: list[float], work: Callable[[], Any]) -> Any:
    begun = time.perf_counter(), time.process_time()
    found = work()
    spent[0] += time.perf_counter() - begun[0]
    spent[1] += time.process_time() - begun[1]
    return found


def _batches(reader: Reader) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for document in reader:
        batch.append(document.text)
        size += len(document.text)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _twice(corpus: Path, folder: Path) -> Path:
    """A folder in which the file stands under two names."""
    place = folder / "twice"
    if not place.exists():
        place.mkdir()
        for name in ("a", "b"):
            (place / f"{name}-{corpus.name}").symlink_to(corpus.resolve())
    return place


def _comparison(command: Sequence[str], folder: Path) -> Cost:
    files = ["--out", str(folder / "result.json.gz"), "--report", str(folder / "report.html")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p or os.curdir for p in sys.path)}
    return cost_of([sys.executable, "-m", "tokalign", *command, *files], environment)


def _stage(name: str, costs: Sequence[Cost]) -> Stage:
    peaks = [c.peak for c in costs if c.peak is not None]
    spread = Spread.of([c.wall for c in costs]), Spread.of([c.cpu for c in costs])
    return Stage(name, *spread, Spread.of(peaks) if peaks else None)


def _ratio(above: str, below: str, over: Sequence[Cost], under: Sequence[Cost]) -> Ratio:
    pairs = list(zip(over, under, strict=True))
    peaks = [a.peak / b.peak for a, b in pairs if a.peak and b.peak]
    return Ratio(
        above,
        below,
        Spread.of([a.wall / b.wall for a, b in pairs]),
        Spread.of([a.cpu / b.cpu for a, b in pairs]),
        Spread.of(peaks) if peaks else None,
    )
