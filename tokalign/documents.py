"""What is counted of a document whether or not it lies in a word: characters, letters, tokens, chunks.

Every byte of a document has a code: its class, whether a run of that class begins there, which sides cut
there, and whether it is inside a character. All counts of characters are sums over how often each code occurs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokalign.boundaries import BOTH, DRAFT, TARGET, Ints, Marks, near_misses
from tokalign.grid import COLUMN, FIRST
from tokalign.words import CLASSES, DIACRITICS, LETTER, WHITESPACE, Laid

_BEGINS, _CUT, _INSIDE = 4, 3, 32  # bit of a run's first byte, shift of the cuts, bit of a continuation byte
_CODES = 128
_LETTERS = (len(DIACRITICS) + 1) * 4  # each letter, and all others of several bytes, by the sides that cut it
_SINGLE = ("near", "space_words", "chunks", "one_to_one", "tokens_target", "tokens_draft")
WIDTH = _CODES + _LETTERS + len(_SINGLE)
_LETTER_OF = np.full(0x110000, len(DIACRITICS), dtype=np.uint8)
_LETTER_OF[[ord(c) for c in DIACRITICS]] = np.arange(len(DIACRITICS))


def document_rows(found: Laid, marks: Marks, one_to_one: Ints) -> NDArray[np.int64]:
    """Counts per document, int64 of shape (d, ``WIDTH``), to be added up and given to :func:`fill`.

    ``one_to_one``: where the chunks of one token on both sides end, ascending.
    """
    rows = np.zeros((found.base.size - 1, WIDTH), dtype=np.int64)
    codes = _codes(found, marks)
    for i, (start, end) in enumerate(zip(found.base[:-1].tolist(), (found.base[1:] - 1).tolist(), strict=True)):
        rows[i, :_CODES] = np.bincount(codes[start:end], minlength=_CODES)
    rows[:, _CODES : _CODES + _LETTERS] = _letters(found, marks)
    near = near_misses(marks.cuts)
    tokens = (np.diff(side.offsets) for side in (marks.target, marks.draft))
    single = (near, None, marks.chunk_ends, one_to_one)
    for i, places in enumerate(single):
        rows[:, _CODES + _LETTERS + i] = _space_words(found, rows) if places is None else marks.per_text(places)
    for i, count in enumerate(tokens, len(single)):
        rows[:, _CODES + _LETTERS + i] = count
    return rows


def fill(grid: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    """Put the counts of units (int64 of shape (u, ``WIDTH``)) into their grids, of shape (u, *``SHAPE``)."""
    code = np.arange(_CODES)
    kind, cuts = code & 3, (code >> _CUT) & BOTH
    begins, inside = (code & _BEGINS) > 0, (code & _INSIDE) > 0
    sides = {"target": (cuts & TARGET) > 0, "draft": (cuts & DRAFT) > 0, "shared": cuts == BOTH}

    def total(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        return rows[:, :_CODES][:, chosen].sum(axis=1)

    def put(row: int, name: str, values: NDArray[np.int64]) -> None:
        grid[:, row, COLUMN[name]] = values

    overall, letters = FIRST["overall"], FIRST["inside_letters"]
    put(overall, "bytes", total(code >= 0))
    put(overall, "chars", total(~inside))
    for side, cut in sides.items():
        put(overall, f"boundaries_{side}", total(cut))
        put(letters, f"boundaries_{side}", total(cut & inside & (kind == LETTER)))
    for i in range(len(CLASSES)):
        row, own = FIRST["characters"] + i, kind == i
        put(row, "runs", total(own & begins))
        put(row, "bytes", total(own))
        put(row, "chars", total(own & ~inside))
        for side, cut in sides.items():
            put(row, f"boundaries_{side}", total(own & cut))
            if side != "shared":
                put(row, f"tokens_{side}", total(own & begins) + total(own & cut & ~begins))
    names = ("boundaries_near", *_SINGLE[1:3], "chunks_one_to_one", *_SINGLE[4:])
    for i, name in enumerate(names):
        put(overall, name, rows[:, _CODES + _LETTERS + i])
    _fill_letters(grid, rows[:, _CODES : _CODES + _LETTERS].reshape(len(rows), -1, 4))


def _fill_letters(grid: NDArray[np.int64], letters: NDArray[np.int64]) -> None:
    """``letters``: int64 of shape (u, letter, sides that cut it)."""
    own = letters[:, : len(DIACRITICS)]
    begin = FIRST["diacritic"]
    rows = (
        (slice(FIRST["overall"], FIRST["overall"] + 1), own.sum(axis=1, keepdims=True)),
        (slice(FIRST["inside_letters"], FIRST["inside_letters"] + 1), letters.sum(axis=1, keepdims=True)),
        (slice(begin, begin + len(DIACRITICS)), own),
    )
    for row, found in rows:
        grid[:, row, COLUMN["letters"]] = found.sum(axis=2)
        grid[:, row, COLUMN["letters_cut_target"]] = found[:, :, TARGET] + found[:, :, BOTH]
        grid[:, row, COLUMN["letters_cut_draft"]] = found[:, :, DRAFT] + found[:, :, BOTH]
        grid[:, row, COLUMN["letters_cut_both"]] = found[:, :, BOTH]


def _codes(found: Laid, marks: Marks) -> NDArray[np.uint8]:
    codes: NDArray[np.uint8] = np.left_shift(marks.cuts, _CUT, dtype=np.uint8)
    codes |= found.classes
    codes[0] |= _BEGINS
    codes[1:] |= (found.classes[1:] != found.classes[:-1]).view(np.uint8) << 2
    codes |= ((found.data & 0xC0) == 0x80).view(np.uint8) << 5
    return codes


def _letters(found: Laid, marks: Marks) -> NDArray[np.int64]:
    """Letters of several bytes by document, letter and the sides that cut inside: (d, ``_LETTERS``)."""
    letter = found.classes[found.wide] == LETTER
    at, codes = found.wide[letter], found.codes[letter]
    cut = marks.cuts[at + 1]
    for extra, least in ((2, 0x800), (3, 0x10000)):
        some = np.flatnonzero(codes >= least)
        cut[some] |= marks.cuts[at[some] + extra]
    key = _LETTER_OF[codes].astype(np.int64) * 4 + cut
    documents = found.base.size - 1
    key += np.repeat(np.arange(0, documents * _LETTERS, _LETTERS), marks.per_text(at))
    return np.bincount(key, minlength=documents * _LETTERS).reshape(documents, _LETTERS)


def _space_words(found: Laid, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """What white space separates: one more than its runs, less those at the edges of the text."""
    code = np.arange(_CODES)
    white = rows[:, :_CODES][:, ((code & 3) == WHITESPACE) & ((code & _BEGINS) > 0)].sum(axis=1)
    held = found.sizes > 0
    first, last = (found.classes[np.where(held, at, 0)] for at in (found.base[:-1], found.base[1:] - 2))
    return np.where(held, white + (first != WHITESPACE) - (last == WHITESPACE), 0)
