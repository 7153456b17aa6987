"""What is known of each distinct word form: its ending, part of speech, length class, diacritics.

The one place that asks the morphology; everything about single words is joined to the corpus from here.
"""

from __future__ import annotations

import polars as pl

from reference.words import DIACRITICS
from tokalign.lexicon import NO_DIACRITIC, UNKNOWN
from tokalign.morphology import analyse_forms

LEXICON_SCHEMA = pl.Schema(
    {
        "form": pl.String(),
        "inflection": pl.String(),
        "pos": pl.String(),
        "word_length": pl.String(),
        "diacritic": pl.List(pl.String()),
        "offsets": pl.List(pl.Int64()),
    }
)
"""One row per form. ``diacritic``: the distinct letters of ``words.DIACRITICS`` in it, or ["none"].
``offsets``: bytes into the form at which its ending may start, empty where the dictionary tells none."""


class Lexicon:
    """Remembers every form it was asked for, so that each is analysed once."""

    def __init__(self) -> None:
        self._known = LEXICON_SCHEMA.to_frame()

    def of(self, forms: pl.Series) -> pl.DataFrame:
        """The rows (``LEXICON_SCHEMA``) of all forms met so far, those of ``forms`` among them."""
        new = forms.rename("form").unique().to_frame().join(self._known, on="form", how="anti")
        if new.height:
            self._known = pl.concat([self._known, describe(new["form"].sort())])
        return self._known


def describe(forms: pl.Series) -> pl.DataFrame:
    """Analyse distinct forms; the frame has ``LEXICON_SCHEMA``, one row per form."""
    found = analyse_forms(forms.to_list())
    form, chars = pl.col("form"), pl.col("form").str.len_chars()
    letters = [pl.when(form.str.contains(c, literal=True)).then(pl.lit(c)) for c in DIACRITICS]
    rows = found.select(
        form,
        pl.col("kind").alias("inflection"),
        pl.col("pos").fill_null(UNKNOWN),
        _length(chars).alias("word_length"),
        pl.concat_list(letters).list.drop_nulls().alias("diacritic"),
    ).with_columns(
        pl.when(pl.col("diacritic").list.len() == 0)
        .then(pl.lit([NO_DIACRITIC]))
        .otherwise(pl.col("diacritic"))
        .alias("diacritic")
    )
    rows = rows.join(_offsets(found), on="form", how="left", maintain_order="left")
    rows = rows.with_columns(pl.col("offsets").fill_null(pl.lit([], dtype=pl.List(pl.Int64))))
    return rows.select(pl.col(name).cast(kind) for name, kind in LEXICON_SCHEMA.items())


def _offsets(found: pl.DataFrame) -> pl.DataFrame:
    """Accepted offsets of the forms that have any, from characters to bytes."""
    places = found.select("form", "boundaries").filter(pl.col("boundaries").list.len() > 0)
    places = places.explode("boundaries")
    head = pl.col("form").str.slice(0, pl.col("boundaries"))
    return places.group_by("form").agg(head.str.len_bytes().cast(pl.Int64).unique().sort().alias("offsets"))


def _length(chars: pl.Expr) -> pl.Expr:
    name = pl.when(chars < 10).then(chars.cast(pl.String)).when(chars < 13).then(pl.lit("10-12"))
    return name.when(chars < 16).then(pl.lit("13-15")).otherwise(pl.lit("16+"))
