"""What a corpus specification asks for."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

from corpora.files import SUPPORTED, format_of, is_pattern
from corpora.hub import HubData
from corpora.manifest import NamedCorpus, named_corpora
from tokalign.errors import CorpusUsageError

HUB_FORM = "hf:owner/name[:config][:split][:column]"


@dataclass(frozen=True)
class Sample:
    """The bundled sample of a named corpus, asked for by ``sample:name`` or ``name:sample``."""

    entry: NamedCorpus


@dataclass(frozen=True)
class FromHub:
    """A data set by its address; ``column`` None for its default column."""

    data: HubData
    column: str | None


@dataclass(frozen=True)
class Local:
    """A file or a folder that exists."""

    path: Path


@dataclass(frozen=True)
class Pattern:
    """A glob."""

    text: str


@dataclass(frozen=True)
class StandardInput:
    """``-``."""


Request = NamedCorpus | Sample | FromHub | Local | Pattern | StandardInput


def parse(spec: str) -> Request:
    """The request behind ``spec``. Names win over files of the same name (write ./name for the file).

    CorpusUsageError for an unknown name (with near names), a missing file, or a malformed hub address.
    """
    entries = named_corpora()
    if spec == "-":
        return StandardInput()
    if spec in entries:
        return entries[spec]
    if spec.startswith("hf:"):
        return _hub(spec)
    for name in (spec.removeprefix("sample:"), spec.removesuffix(":sample")):
        if name != spec and not Path(spec).exists():
            if name in entries:
                return Sample(entries[name])
            raise _unknown(name)
    path = Path(spec).expanduser()
    if spec and path.exists():
        if path.is_file() and format_of(path) is None:
            raise CorpusUsageError(f"{spec} has no supported format: give {SUPPORTED}")
        return Local(path)
    if is_pattern(spec):
        return Pattern(str(path))
    if format_of(path) or "/" in spec or "\\" in spec:
        hint = f"; for a data set on the hub write hf:{spec}" if re.fullmatch(r"[\w-]+/[\w.-]+", spec) else ""
        raise CorpusUsageError(f"there is no file or folder {spec!r} here: check the path{hint}")
    raise _unknown(spec)


def _hub(spec: str) -> FromHub:
    repo, *rest = spec.removeprefix("hf:").split(":", 3)
    config, split, column = (*rest, "", "", "")[:3]
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo) or ":" in column:
        raise CorpusUsageError(
            f"{spec!r} is no hub address: write {HUB_FORM}, a part left empty for its default"
        )
    return FromHub(HubData(repo, config or None, split or "train"), column or None)


def _unknown(name: str) -> CorpusUsageError:
    known = list(named_corpora())
    near = difflib.get_close_matches(name.lower(), known, n=2, cutoff=0.5)
    meant = f", perhaps {' or '.join(near)} is meant" if near else ""
    return CorpusUsageError(
        f"no corpus is named {name!r}{meant}: give one of {', '.join(known)}, a file, a folder, a glob, "
        f"- for standard input, or {HUB_FORM}"
    )
