"""What the dictionary says of each distinct word form: its part of speech, and where its ending may start.

The one place that asks the morphology; everything about single words is joined to the corpus from here.
"""

from __future__ import annotations

import numpy as np
import polars as pl

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


class Lexicon:
    """Remembers every form it was asked for, so that each is analysed once."""

    def __init__(self) -> None:
        self._known = LEXICON_SCHEMA.to_frame()

    def of(self, forms: pl.Series) -> pl.DataFrame:
        """The rows (``LEXICON_SCHEMA``) of these forms, in their order."""
        asked = forms.rename("form").to_frame()
        new = asked.unique().join(self._known, on="form", how="anti")
        if new.height:
            self._known = pl.concat([self._known, describe(new["form"].sort())])
        return asked.join(self._known, on="form", how="left", maintain_order="left")


def describe(forms: pl.Series) -> pl.DataFrame:
    """Analyse distinct forms; the frame has ``LEXICON_SCHEMA``, one row per form in the order given."""
    given = forms.to_list()
    kinds, parts, offsets = zip(*verdicts(given), strict=True) if given else ((), (), ())
    return pl.DataFrame(
        {
            "form": given,
            "inflection": kinds,
            "pos": [UNKNOWN if part is None else part for part in parts],
            "offsets": [
                [len(form[:at].encode()) for at in found] if found else []
                for form, found in zip(given, offsets, strict=True)
            ],
        },
        schema=LEXICON_SCHEMA,
    )
