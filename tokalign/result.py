"""The stored result of a comparison: everything a report shows, with what is needed to make it again."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import polars as pl

from tokalign import frames
from tokalign.errors import ResultError
from tokalign.files import replacing
from tokalign.records import RecordError, from_json, to_json
from tokalign.settings import Settings
from tokalign.tune import Choice

SCHEMA = "tokalign-result/1"
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Machine:
    """Where host times were measured; ``cores`` are logical ones."""

    platform: str
    cpu: str
    cores: int


@dataclass(frozen=True)
class TokenizerInfo:
    """A tokenizer with its origin (see `tokenizers.Source`). ``label`` is the name as it is to be shown,
    with the stand-in's warning; ``ids`` how many ids stand for text; ``fingerprint`` the vocabulary's
    identity; ``encoder`` one sentence on which encoder was used and why, None where nothing was chosen."""

    name: str
    label: str
    kind: str
    detail: str
    sha256: str | None
    provisional: bool
    notice: str | None
    fingerprint: str
    ids: int
    encoder: str | None = None


@dataclass(frozen=True)
class Skip:
    """``count`` things of one ``kind`` left out of ``where``."""

    kind: str
    where: str
    count: int


@dataclass(frozen=True)
class CurveTexts:
    """How many documents, and bytes of UTF-8 of them, the curve over p was measured on."""

    documents: int
    bytes: int


@dataclass(frozen=True)
class CorpusInfo:
    """A corpus as it was used (see `corpora.Corpus`); ``name`` is unique in a result. ``documents`` and
    ``bytes`` (UTF-8) are those used, ``total`` the documents of the source before sampling, None when
    unknown. ``curve`` is the sample that the curve over p rests on, None where it rests on all."""

    name: str
    spec: str
    source: str
    licence: str | None
    fallback: bool
    notice: str | None
    documents: int
    bytes: int
    sha256: str
    total: int | None
    skipped: tuple[Skip, ...]
    damage: tuple[str, ...] = ()
    curve: CurveTexts | None = None


@dataclass(frozen=True)
class Pair:
    """Target and one draft on one corpus, by their names in the result.

    Frames: ``metrics`` (long form of `metrics.evaluate`), ``chunks`` (n, m, count, bytes), ``quality``,
    ``excluded``, ``samples``, ``vocabulary`` (schemas in `measurement`), ``curve`` (`tune.SCHEMA`; no rows
    for a same-vocabulary pair). ``choice`` is None where the texts were too short to choose.
    """

    target: str
    draft: str
    corpus: str
    same_vocabulary: bool
    metrics: pl.DataFrame
    chunks: pl.DataFrame
    quality: pl.DataFrame
    excluded: pl.DataFrame
    samples: pl.DataFrame
    vocabulary: pl.DataFrame
    curve: pl.DataFrame
    choice: Choice | None


@dataclass(frozen=True)
class Result:
    """One run. ``created`` is ISO 8601 in UTC; ``command`` the command line, argument by argument;
    ``versions`` by package; ``sample`` the documents asked for per corpus (None: all). ``settings`` holds,
    for each draft, the choice over all corpora together, and lacks drafts whose texts were too short."""

    created: str
    command: tuple[str, ...]
    versions: Mapping[str, str]
    machine: Machine
    seed: int
    sample: int | None
    target: TokenizerInfo
    drafts: tuple[TokenizerInfo, ...]
    corpora: tuple[CorpusInfo, ...]
    pairs: tuple[Pair, ...]
    settings: tuple[Settings, ...]

    @property
    def provisional(self) -> bool:
        """Whether a stand-in took part."""
        return any(t.provisional for t in (self.target, *self.drafts))

    def pair(self, draft: str, corpus: str) -> Pair:
        """The pair of a draft and a corpus, by name."""
        return next(p for p in self.pairs if (p.draft, p.corpus) == (draft, corpus))


_FRAMES = ("metrics", "chunks", "quality", "excluded", "samples", "vocabulary", "curve")
_PLAIN = tuple(f.name for f in fields(Pair) if f.name not in (*_FRAMES, "choice"))


def dumps(result: Result) -> str:
    """The result as JSON text, one line for each of its parts; equal results give equal text."""
    head = {f.name: to_json(getattr(result, f.name)) for f in fields(Result) if f.name != "pairs"}
    content = {"schema": SCHEMA, **head, "pairs": [_pair_json(pair) for pair in result.pairs]}
    parts = [f"{json.dumps(name)}: {json.dumps(part, ensure_ascii=False)}" for name, part in content.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write(result: Result, path: Path) -> None:
    """Write the result, whole or not at all; gzip where the name ends in ``.gz``. Raises OSError."""
    data = dumps(result).encode()
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    with replacing(path) as partial:
        partial.write_bytes(data)


def read(path: Path) -> Result:
    """Read a result, gzip or plain, whatever its name.

    Raises:
        ResultError: it cannot be read, is of another schema, or a field is missing, unknown or wrong.
    """
    try:
        data = path.read_bytes()
        content = json.loads(gzip.decompress(data) if data.startswith(_GZIP) else data)
    except EOFError:
        raise ResultError(f"the result file {path} is cut off; copy it again.") from None
    except ValueError as error:
        raise ResultError(
            f"{path} is no result file: it is not JSON ({error}); make one with `tokalign compare --out`."
        ) from error
    except OSError as error:
        raise ResultError(f"the result file {path} cannot be read: {error.strerror or error}.") from error
    schema = content.pop("schema", None) if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise ResultError(_foreign(path, schema))
    try:
        return _result(content)
    except RecordError as error:
        raise ResultError(f"the result file {path} is damaged: {error}; run the comparison again.") from None


def _foreign(path: Path, schema: object) -> str:
    kind, _, version = str(schema).partition("/")
    if kind == SCHEMA.partition("/")[0] and version.isdigit():
        return (
            f"the result file {path} is of the newer schema {schema!r} (known: {SCHEMA!r}); upgrade tokalign."
        )
    return (
        f"{path} is no result file: its schema is {schema!r}, not {SCHEMA!r}; make one with "
        "`tokalign compare --out`."
    )


def _pair_json(pair: Pair) -> dict[str, Any]:
    tables = {name: frames.to_json(getattr(pair, name)) for name in _FRAMES}
    return {name: getattr(pair, name) for name in _PLAIN} | {"choice": to_json(pair.choice)} | tables


@dataclass(frozen=True)
class _PlainPair:
    """What of a stored pair is no frame; the frames are read apart."""

    target: str
    draft: str
    corpus: str
    same_vocabulary: bool
    choice: Choice | None


def _pair(value: object, field: str) -> Pair:
    if not isinstance(value, dict):
        raise RecordError(f"the field {field!r} is no object")
    missing = next((name for name in _FRAMES if name not in value), None)
    if missing:
        raise RecordError(f"the field '{field}.{missing}' is missing")
    plain = from_json(_PlainPair, {k: v for k, v in value.items() if k not in _FRAMES}, field)
    tables = {name: frames.from_json(value[name], f"{field}.{name}") for name in _FRAMES}
    parts: dict[str, Any] = {name: getattr(plain, name) for name in (*_PLAIN, "choice")}
    return Pair(**(parts | tables))


@dataclass(frozen=True)
class _PlainResult:
    """A stored result without its pairs."""

    created: str
    command: tuple[str, ...]
    versions: Mapping[str, str]
    machine: Machine
    seed: int
    sample: int | None
    target: TokenizerInfo
    drafts: tuple[TokenizerInfo, ...]
    corpora: tuple[CorpusInfo, ...]
    settings: tuple[Settings, ...]


def _result(content: dict[str, Any]) -> Result:
    pairs = content.pop("pairs", None)
    if not isinstance(pairs, list):
        raise RecordError("the field 'pairs' is missing" if pairs is None else "the field 'pairs' is no list")
    plain = from_json(_PlainResult, content)
    read_pairs = tuple(_pair(value, f"pairs[{i}]") for i, value in enumerate(pairs))
    known = {d.name for d in plain.drafts}, {c.name for c in plain.corpora}
    for i, pair in enumerate(read_pairs):
        if pair.target != plain.target.name or pair.draft not in known[0] or pair.corpus not in known[1]:
            raise RecordError(
                f"the field 'pairs[{i}]' names a tokenizer or corpus that the result does not have"
            )
    return Result(**{f.name: getattr(plain, f.name) for f in fields(_PlainResult)}, pairs=read_pairs)
