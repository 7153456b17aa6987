"""The named corpora: `manifest.toml` as frozen values, and their bundled samples."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from tokalign.errors import CorpusError

HERE = Path(__file__).parent


@dataclass(frozen=True)
class NamedCorpus:
    """One table of the manifest. ``hub`` None: the sample is the corpus itself."""

    name: str
    description: str
    columns: tuple[str, ...]
    licence: str
    sample: str
    sample_sha256: str
    sample_licence: str
    sample_description: str
    hub: str | None = None
    config: str | None = None
    split: str = "train"

    @property
    def sample_path(self) -> Path:
        return HERE / "samples" / self.sample


@cache
def named_corpora() -> Mapping[str, NamedCorpus]:
    """Name → entry, in the order of the manifest."""
    tables = tomllib.loads((HERE / "manifest.toml").read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            name: NamedCorpus(name=name, **{**table, "columns": tuple(table["columns"])})
            for name, table in tables.items()
        }
    )


def checked_sample(entry: NamedCorpus) -> Path:
    """The sample's path, its bytes having the SHA-256 of the manifest; CorpusError otherwise."""
    path = entry.sample_path
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CorpusError(
            f"the bundled sample of {entry.name!r} is missing ({path}: {error.strerror}): reinstall the package"
        ) from error
    found = hashlib.sha256(data).hexdigest()
    if found != entry.sample_sha256:
        raise CorpusError(
            f"the bundled sample of {entry.name!r} was altered ({path}: SHA-256 {found[:12]}…; the "
            f"manifest says {entry.sample_sha256[:12]}…): reinstall the package, or open the file by its path"
        )
    return path
