"""Analysed word forms kept from one run to the next: one file for each dictionary and set of rules."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from tokalign import morphology
from tokalign.files import cache_folder, replacing
from tokalign.morphology.dictionary import version

VARIABLE = "TOKALIGN_LEXICON"
"""Names the folder in place of the cache's, or is "off"."""


@dataclass(frozen=True)
class LexiconFile:
    """A file of forms that can be lost without loss: whatever is wrong with it, its forms are analysed anew.

    Several processes may write it at once. Each writes all it knows together with what the file held just
    before, and the last one wins; what another wrote meanwhile is analysed again by who needs it.
    """

    path: Path

    @classmethod
    def here(cls) -> LexiconFile | None:
        """The file of this dictionary and these rules in the user's cache; None where it is switched off."""
        named = os.environ.get(VARIABLE)
        if named == "off":
            return None
        folder = Path(named).expanduser() if named else cache_folder()
        return cls(folder / f"lexicon-{rules()[:32]}.parquet")

    def read(self, schema: pl.Schema) -> pl.DataFrame:
        """What the file holds; no rows where there is none, or it is damaged or of another schema."""
        try:
            found = pl.read_parquet(self.path.read_bytes())
            return found if found.schema == schema else schema.to_frame()
        except (OSError, pl.exceptions.PolarsError):
            return schema.to_frame()

    def write(self, frame: pl.DataFrame) -> None:
        """Add rows to the file, or leave it as it is where it cannot be written."""
        frame = pl.concat([frame, self.read(frame.schema)]).unique("form", keep="first").sort("form")
        with suppress(OSError, pl.exceptions.PolarsError), replacing(self.path) as partial:
            frame.write_parquet(partial, compression="zstd", compression_level=1)


def rules() -> str:
    """SHA-256 (hex) of what an analysis depends on: the dictionary, the program, and the rules of this package."""
    digest = hashlib.sha256(version().encode())
    sources = [*Path(morphology.__file__).parent.glob("*.py"), Path(__file__).with_name("lexicon.py")]
    for path in sorted(sources):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
