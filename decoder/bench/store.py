"""A bench's folder: one parquet part and one file of rounds for every unit, so that an interrupted run goes on.

``bench.json`` is the identity, ``plain.json`` plain decoding, ``part-*.parquet`` rows, ``traces-*.jsonl.gz``
rounds. A unit counts as stored when its parquet part is there, which is written last and whole.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from decoder.bench import identity as identities
from decoder.bench.cells import Reference
from decoder.bench.identity import Identity, ModelIdentity
from decoder.bench.rows import FIELDS, full_row
from decoder.errors import BenchError, BenchUsageError
from tokalign.files import replacing, write_text

if TYPE_CHECKING:
    import polars as pl

    from decoder.models import Loaded


class Store:
    """One folder of results; a :class:`decoder.bench.grid.Sink`."""

    def __init__(self, folder: Path, identity: Identity) -> None:
        self.folder, self.identity = folder, identity

    @classmethod
    def open(cls, folder: Path, identity: Identity, *, fresh: bool = False) -> Store:
        """The folder for a bench: empty, or one of the same identity, which then goes on.

        ``fresh`` removes what an earlier bench left there.

        Raises:
            BenchUsageError: it holds another bench.
        """
        there = folder / "bench.json"
        if fresh:
            for path in _ours(folder):
                path.unlink()
        elif there.exists():
            before = read_identity(folder)
            clash = before.clash(identity)
            if clash is not None:
                name, old, new = clash
                raise BenchUsageError(
                    f"{folder} holds a bench with another {name} ({_short(old)}, now {_short(new)}); choose "
                    "another --out, or --fresh to begin anew."
                )
            known = {n: _better(d, before.drafts.get(n)) for n, d in identity.drafts.items()}
            identity = replace(before, drafts={**before.drafts, **known})
        elif _ours(folder):
            raise BenchUsageError(f"{folder} has parts of a bench but no bench.json; choose another --out.")
        store = cls(folder, identity)
        store._save()
        return store

    @classmethod
    def read(cls, folder: Path) -> Store:
        """A folder that a bench has written."""
        if not (folder / "bench.json").exists():
            raise BenchUsageError(f"{folder} holds no bench; make one with `decoder bench --out {folder}`.")
        return cls(folder, read_identity(folder))

    def references(self) -> list[Reference] | None:
        """See :class:`~decoder.bench.grid.Sink`."""
        path = self.folder / "plain.json"
        if not path.exists():
            return None
        return [Reference(tuple(r["tokens"]), r["seconds"], r["joules"]) for r in json.loads(path.read_text())]

    def keep_references(self, references: Sequence[Reference]) -> None:
        """See :class:`~decoder.bench.grid.Sink`."""
        write_text(self.folder / "plain.json", json.dumps([asdict(r) for r in references]) + "\n")

    def has(self, stem: str) -> bool:
        """See :class:`~decoder.bench.grid.Sink`."""
        return self._part(stem).exists()

    def add(self, stem: str, rows: Iterable[dict[str, Any]], traces: Iterable[dict[str, Any]]) -> None:
        """See :class:`~decoder.bench.grid.Sink`. Rows may lack columns; of no rounds no file is made."""
        lines = "".join(json.dumps(t) + "\n" for t in traces)
        if lines:
            with replacing(self.folder / f"traces-{stem}.jsonl.gz") as partial:
                partial.write_bytes(gzip.compress(lines.encode(), mtime=0))
        with replacing(self._part(stem)) as partial:
            _frame([full_row(row) for row in rows]).write_parquet(partial)

    def learn(self, draft: str | None, loaded: Loaded) -> None:
        """See :class:`~decoder.bench.grid.Sink`."""
        self.identity = learnt(self.identity, draft, loaded)
        self._save()

    def rows(self, stems: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """Rows of the given units in that order, or of all."""
        import polars as pl

        if stems is None:
            paths = sorted(self.folder.glob("part-*.parquet"))
        else:
            paths = [self._part(s) for s in stems if self._part(s).exists()]
        found: list[dict[str, Any]] = []
        for path in paths:
            try:
                found += map(full_row, pl.read_parquet(path).to_dicts())
            except (OSError, ValueError, pl.exceptions.PolarsError) as error:
                raise BenchError(f"{path} is no part of a bench ({error}); remove it and run again.") from error
        return found

    def traces(self) -> Iterator[dict[str, Any]]:
        """All rounds."""
        for path in sorted(self.folder.glob("traces-*.jsonl.gz")):
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                yield from map(json.loads, lines)

    def _part(self, stem: str) -> Path:
        return self.folder / f"part-{stem}.parquet"

    def _save(self) -> None:
        write_text(self.folder / "bench.json", identities.to_json(self.identity))


def learnt(identity: Identity, draft: str | None, loaded: Loaded) -> Identity:
    """The identity with a model's vocabulary."""
    vocabulary = loaded.tokenizer.fingerprint
    if draft is None:
        return replace(identity, target=replace(identity.target, vocabulary=vocabulary))
    return replace(
        identity, drafts={**identity.drafts, draft: replace(identity.drafts[draft], vocabulary=vocabulary)}
    )


def read_identity(folder: Path) -> Identity:
    """The identity in a folder."""
    path = folder / "bench.json"
    return identities.from_json(path.read_text(encoding="utf-8"), str(path))


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    import polars as pl

    kinds = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}
    return pl.DataFrame(rows, schema={name: kinds[kind] for name, kind in FIELDS.items()}, orient="row")


def _better(new: ModelIdentity, old: ModelIdentity | None) -> ModelIdentity:
    return old if old is not None and old.vocabulary else new


def _ours(folder: Path) -> list[Path]:
    names = ("part-*.parquet", "traces-*.jsonl.gz", "bench.json", "plain.json", "summary.json")
    return [path for name in names for path in folder.glob(name)]


def _short(value: object) -> str:
    text = str(value)
    return text[:12] if len(text) == 64 else text
