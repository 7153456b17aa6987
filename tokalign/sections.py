"""The parts of a report about one pair: what its metrics, chunks, samples and quality say, in order."""

from __future__ import annotations

import polars as pl

from tokalign import charts
from tokalign.evidence import curve
from tokalign.figures import MISSING, Cell, Table, cells, count, share, valued, words
from tokalign.lexicon import LENGTHS, NO_DIACRITIC
from tokalign.passages import aligned
from tokalign.quality import CHECKS
from tokalign.view import BETTER, Figure, Sample, Section, View, spelled
from tokalign.words import CLASSES, DIACRITICS

_SAMPLE_LETTERS = 500
_CHUNK_LIMIT = 6
_SLICES = (*DIACRITICS, NO_DIACRITIC, *LENGTHS, *CLASSES)  # slices with an order of their own
_POS = {"adj": "adjectives, participles", "noun": "nouns, gerunds", "verb": "verbs", "num": "numerals"}
_POS |= {"pron": "pronouns", "adv": "adverbs", "prep": "prepositions", "conj": "conjunctions"}
_POS |= {"part": "particles"}
_TEXTS = {
    "letters": "ą ć ę ł ń ó ś ź ż take two bytes each, and a tokenizer may cut between them: such a letter "
    "reaches the other vocabulary in pieces. The charts show how often each letter is cut inside, and how "
    "well the boundaries of both sides agree in the words that hold it, against words without any.",
    "endings": "Of the words whose stem and ending the dictionary tells (SGJP), the share that has a token "
    "boundary just before the ending.",
    "lengths": "Boundary F1 counts the boundaries inside words that both sides share; the share of words "
    "that both cut alike counts uncut words too, so it starts high for short ones.",
    "chunks": "Between two neighbouring shared boundaries lie n target tokens and m draft tokens over the "
    "same text. 1:1 is one token on both sides; the larger n and m, the longer the text without a common "
    "boundary.",
    "samples": "Sentences of the corpus, chosen by a digest of their text. Boxes are tokens; where both "
    "sides have a boundary, the boxes end together.",
    "quality": "What of the corpus changes its segmentation unseen or had to be handled apart; 0 means "
    "looked for and not found.",
}


def sections(view: View) -> list[Section]:
    """All parts, in the order in which they are read."""
    makers = (curve, metrics, letters, endings, lengths, chunks, samples, quality)
    return [found for maker in makers if (found := maker(view)) is not None]


def metrics(view: View) -> Section | None:
    """The tables of key metrics: over all text and inside words, of each side and of both together."""
    found = [
        _metric_table(view, rows, f"{scope}, {whose}", sides)
        for kind, scope in (("overall", "Over all the text"), ("inside_words", "Inside words only"))
        for whose, sides in (("each side", ("target", "draft")), ("both together", ("pair",)))
        for rows in [view.pair.metrics.filter((pl.col("slice_kind") == kind) & pl.col("side").is_in(sides))]
    ]
    tables = [t for t in found if t.rows]
    note = "Each value stands over its 95 % interval (bootstrap over documents). Names lead to definitions."
    return Section("metrics", "Key metrics", tables=tables, note=note) if tables else None


def _metric_table(view: View, rows: pl.DataFrame, caption: str, sides: tuple[str, ...]) -> Table:
    body = []
    for name in rows["metric"].unique(maintain_order=True):
        found = {r["side"]: r for r in rows.filter(pl.col("metric") == name).iter_rows(named=True)}
        first = next(iter(found.values()))
        better = BETTER.get(first["better"], "")
        unit = ", ".join(t for t in (first["unit"] or "", better) if t)
        title = view.definitions.get(name)
        named = Cell(spelled(name), small=unit or None, title=title, href=f"#def-{name}" if title else None)
        body.append([named, *(_metric_cell(found.get(side)) for side in sides), _samples_cell(found)])
    head = [view.sides[side] for side in sides] if len(sides) > 1 else ["value"]
    return Table(caption, cells("", *head, "n"), body)


def _metric_cell(row: dict | None) -> Cell:
    return Cell(MISSING) if row is None else valued(row["value"], row["low"], row["high"], row["unit"] or "")


def _samples_cell(found: dict[str, dict]) -> Cell:
    distinct = dict.fromkeys((count(r["n"]), r["n_unit"] or "") for r in found.values())
    units = dict.fromkeys(unit for _, unit in distinct)
    return Cell(" / ".join(n for n, _ in distinct), small=" / ".join(units))


def letters(view: View) -> Section | None:
    """Letters cut inside, and agreement in the words that hold each letter."""
    cut = _sliced(view, "diacritic", {("letters_cut", side): name for side, name in view.series.items()})
    cut = cut.filter(pl.col("category") != NO_DIACRITIC)
    agree = _sliced(view, "diacritic", {("boundary_f1", "pair"): "boundary F1"})
    agree = agree.with_columns(pl.col("category").replace(NO_DIACRITIC, "no such letter"))
    figures = [
        _dots(view, "cut", "Letters cut inside, share of all occurrences of the letter", cut),
        _dots(view, "agree", "Boundary F1 in words with the letter", agree, whole=True),
    ]
    return _section("letters", "Diacritics", figures)


def endings(view: View) -> Section | None:
    """Recall at the boundary of stem and ending, by part of speech."""
    columns = {("inflection_recall", side): name for side, name in view.series.items()}
    rows = pl.concat([_sliced(view, kind, columns) for kind in ("inside_words", "pos")])
    order = rows.group_by("category").agg(pl.col("n").max()).sort("n", "category", descending=[True, False])
    rows = order.select("category").join(rows, on="category", how="left", maintain_order="left_right")
    known = {"all": "all words"} | _POS
    rows = rows.filter(pl.col("n") > 0).with_columns(pl.col("category").replace(known))
    return _section(
        "endings", "Inflection", [_dots(view, "endings", "Recall at the stem/ending boundary", rows, True)]
    )


def lengths(view: View) -> Section | None:
    """Boundary agreement over the length of words, and by class of characters."""
    measures = {("boundary_f1", "pair"): "boundary F1", ("same_words", "pair"): "words cut alike"}
    rows = _sliced(view, "word_length", measures)
    if rows["value"].is_null().all():
        return None
    caption = "Agreement inside words over the length of the word in letters"
    spec = charts.trend_chart(rows, "agreement", "word length, letters")
    figure = Figure(f"{view.id}-lengths-chart", caption + ".", spec, _table(caption, rows))
    classes = _sliced(view, "characters", {("boundary_f1", "pair"): "boundary F1"})
    tables = [_table("Boundary agreement by the class of the character after the boundary", classes)]
    return Section(
        "lengths", "Agreement by word length", _TEXTS["lengths"], [figure], [t for t in tables if t.rows]
    )


def _section(name: str, title: str, figures: list[Figure]) -> Section | None:
    """A section of charts, or none where none of them has a figure to show."""
    found = [f for f in figures if f.table is not None and f.table.rows]
    return Section(name, title, _TEXTS[name], found) if found else None


def _sliced(view: View, kind: str, wanted: dict[tuple[str, str], str]) -> pl.DataFrame:
    """Metrics by slice as rows of a chart; ``wanted``: metric and side → name of the series."""
    names = list(wanted)
    key = pl.struct("metric", "side").map_elements(lambda k: names.index((k["metric"], k["side"])), pl.Int64)
    place = {name: i for i, name in enumerate(_SLICES)}
    wanted_rows = pl.any_horizontal(*((pl.col("metric") == m) & (pl.col("side") == s) for m, s in names))
    rows = view.pair.metrics.filter((pl.col("slice_kind") == kind) & wanted_rows)
    rows = rows.with_columns(
        key.alias("order"), pl.col("slice").replace_strict(place, default=0).alias("place")
    )
    rows = rows.sort("place", "slice", "order", maintain_order=True)
    series = pl.col("order").replace_strict(dict(enumerate(wanted.values())), return_dtype=pl.String)
    return rows.select(
        pl.col("slice").alias("category"), series.alias("series"), "value", "low", "high", "n", "n_unit"
    )


def _dots(view: View, name: str, caption: str, rows: pl.DataFrame, whole: bool = False) -> Figure:
    drawable = not rows["value"].is_null().all()
    spec = charts.dot_chart(rows, caption.partition(",")[0], whole) if drawable else None
    return Figure(f"{view.id}-{name}-chart", f"{caption}.{view.warning}", spec, _table(caption, rows))


def _table(caption: str, rows: pl.DataFrame) -> Table:
    """The rows of a chart as a table: a line per category, a column per series, and what they rest on."""
    series = rows["series"].unique(maintain_order=True).to_list()
    body = []
    for name in rows["category"].unique(maintain_order=True):
        found = {r["series"]: r for r in rows.filter(pl.col("category") == name).iter_rows(named=True)}
        values = [
            valued(r["value"], r["low"], r["high"], "share") if (r := found.get(s)) else words(None)
            for s in series
        ]
        body.append([Cell(name), *values, _samples_cell(found)])
    return Table(f"{caption}, with 95 % intervals", cells("", *series, "n"), body)


def chunks(view: View) -> Section | None:
    """How many tokens of each side lie between shared boundaries, as a heat table."""
    frame = view.pair.chunks
    total = int(frame["count"].sum())
    if not total:
        return None
    limit = _CHUNK_LIMIT
    capped = frame.with_columns(pl.col("n", "m").clip(upper_bound=limit))
    found = {(n, m): c for n, m, c in capped.group_by("n", "m").agg(pl.col("count").sum()).iter_rows()}
    steps = range(1, limit + 1)
    named = [str(i) if i < limit else f"{i} or more" for i in steps]
    largest = max(found.values())
    body = [
        [Cell(name), *(_heat(found.get((n, m), 0), total, largest) for m in steps)]
        for n, name in zip(steps, named, strict=True)
    ]
    head = cells("n ↓ m →", *named)
    caption = f"Types n:m, share of {count(total)} stretches between shared boundaries"
    return Section("chunks", "Chunk types", _TEXTS["chunks"], tables=[Table(caption, head, body)], kind="heat")


def _heat(found: int, total: int, largest: int) -> Cell:
    return Cell(share(found / total), title=None, heat=round((found / largest) ** 0.5, 3))


def samples(view: View) -> Section | None:
    """Sentences with both segmentations one over the other."""
    found = []
    for row in view.pair.samples.iter_rows(named=True):
        if len(row["text"]) > _SAMPLE_LETTERS:
            continue
        stretches = aligned(row["text"], row["ends_target"], row["ends_draft"])
        sizes = f"{len(row['ends_target'])} target tokens, {len(row['ends_draft'])} draft tokens"
        place = f"Document {row['document']}, from byte {count(row['start'])}."
        note = f"{sizes}, {len(stretches)} stretches. {place}"
        found.append(Sample(row["text"].strip(), stretches, note))
    return Section("samples", "Aligned sentences", _TEXTS["samples"], samples=found) if found else None


def quality(view: View) -> Section | None:
    """The text-quality lines, and the documents that were left out."""
    rows = view.pair.quality
    if rows.is_empty():
        return None
    order = {check: i for i, check in enumerate(CHECKS)}
    rows = rows.sort(pl.col("check").replace_strict(order, default=len(order)), pl.col("side") != "target")
    body = [
        [Cell(spelled(r["check"])), words(CHECKS.get(r["check"])), words(view.sides.get(r["side"], "text")),
         Cell(count(r["documents"])), Cell(count(r["occurrences"]))]
        for r in rows.iter_rows(named=True)
    ]  # fmt: skip
    head = [
        Cell("check"),
        Cell("what is counted", words=True),
        Cell("of", words=True),
        *cells("documents", "occurrences"),
    ]
    tables = [Table("Checks of the corpus", head, body)]
    left_out = view.pair.excluded.head(10)
    if left_out.height:
        excluded = [
            [Cell(d), words(view.sides.get(side, "both")), words(reason)]
            for d, side, reason in left_out.iter_rows()
        ]
        caption = f"Documents left out, {left_out.height} of {count(view.pair.excluded.height)}"
        tables.append(
            Table(caption, [Cell("document"), Cell("of", words=True), Cell("reason", words=True)], excluded)
        )
    return Section("quality", "Text quality", _TEXTS["quality"], tables=tables)
