"""What the dictionary says of each distinct word form: its part of speech, and where its ending may start.

The one place that asks the morphology; everything about single words is joined to the corpus from here.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl

from tokalign.lexicon_file import LexiconFile
from tokalign.morphology import verdicts

NO_DIACRITIC = "none"
UNKNOWN = "unknown"
INFLECTION = ("ending", "zero", "ambiguous", "uninflected", UNKNOWN)
PARTS_OF_SPEECH = ("adj", "adv", "conj", "noun", "num", "other", "part", "prep", "pron", UNKNOWN, "verb")
LENGTHS = (*(str(n) for n in range(1, 10)), "10-12", "13-15", "16+")
LENGTH_OF = np.array([0, *range(9), *[9] * 3, *[10] * 3, 11])
"""Index into ``LENGTHS`` by characters, the last entry standing for all longer words."""

LEXICON_SCHEMA = pl.Schema(
    {
        "form": pl.String(),
        "inflection": pl.Enum(INFLECTION),
        "pos": pl.Enum(PARTS_OF_SPEECH),
        "offsets": pl.List(pl.Int64()),
    }
)
"""One row per form. ``offsets``: bytes into the form at which its ending may start, empty where the
dictionary tells none."""

_MOST = 4_000_000  # forms remembered; a form beyond is analysed each time it is asked for
_LONGEST = 255  # characters; no dictionary has longer words, and their readings are not looked for


class Lexicon:
    """Remembers the forms it was asked for, here and, with a file, from one run to the next."""

    def __init__(self, file: LexiconFile | None = None) -> None:
        self._file = file
        self._known = LEXICON_SCHEMA.to_frame() if file is None else file.read(LEXICON_SCHEMA)
        self._kept = self._known.height

    def of(self, forms: pl.Series) -> pl.DataFrame:
        """The rows (``LEXICON_SCHEMA``) of these forms, in their order."""
        asked = forms.rename("form").to_frame()
        found = asked.join(self._known, on="form", how="left", maintain_order="left")
        new = found.filter(pl.col("inflection").is_null())["form"].unique()
        if not new.len():
            return found
        known = pl.concat([self._known, describe(new.sort())])
        if known.height <= _MOST:
            self._known = known
        return asked.join(known, on="form", how="left", maintain_order="left")

    def keep(self) -> None:
        """Write what is new to the file, where there is enough of it to be worth the writing."""
        new = self._known.height - self._kept
        if self._file is not None and new * 50 > self._known.height:
            self._file.write(self._known)
            self._kept = self._known.height


@cache
def lexicon() -> Lexicon:
    """The one lexicon of the process, with the file of this machine."""
    return Lexicon(LexiconFile.here())


def describe(forms: pl.Series) -> pl.DataFrame:
    """Analyse distinct forms; the frame has ``LEXICON_SCHEMA``, one row per form in the order given."""
    given = forms.to_list()
    found = verdicts(form if len(form) <= _LONGEST else "" for form in given)
    offsets = [_bytes(form, at) if at else "" for form, (_, _, at) in zip(given, found, strict=True)]
    frame = pl.DataFrame(
        {
            "form": forms,
            "inflection": pl.Series([kind for kind, _, _ in found], dtype=pl.Enum(INFLECTION)),
            "pos": pl.Series([pos or UNKNOWN for _, pos, _ in found], dtype=pl.Enum(PARTS_OF_SPEECH)),
            "offsets": pl.Series(offsets, dtype=pl.String),
        }
    )
    return frame.with_columns(pl.col("offsets").str.extract_all(r"\d+")).cast(LEXICON_SCHEMA)


def _bytes(form: str, boundaries: tuple[int, ...]) -> str:
    """Boundaries in characters as boundaries in bytes, written one behind another."""
    return " ".join(str(len(form[:at].encode())) for at in boundaries)
