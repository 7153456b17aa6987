"""What a row of the bench holds: one run of one prompt, all figures flat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LOSSES = ("translation", "cut", "context", "disagreement", "unknown")
"""Why a token was lost; see :mod:`decoder.bench.losses`."""

KEYS = ("draft", "translation", "k")
"""What names a cell of the grid."""

FIELDS: Mapping[str, type] = {
    "draft": str,
    "translation": str,
    "k": int,
    "group": str,
    "prompt": str,
    "identical": bool,
    "diverges_at": int,
    "top2_gap": float,
    "tokens": int,
    "rounds": int,
    "drafted": int,
    "proposed": int,
    "accepted": int,
    "refused_in_translation": int,
    "refused_by_disagreement": int,
    "refused_unknown": int,
    "empty_rounds": int,
    "merges": int,
    "split_letters": int,
    **{f"lost_{kind}": int for kind in LOSSES},
    "never_proposed": int,
    "strayed_rounds": int,
    "inside_rounds": int,
    "inside_accepted": int,
    "barred_rounds": int,
    "barred_accepted": int,
    "seconds": float,
    "first_tokens": int,
    "plain_tokens": int,
    "plain_seconds": float,
    "draft_s": float,
    "translate_s": float,
    "verify_s": float,
    "host_s": float,
    "joules": float,
    "plain_joules": float,
    "energy_reason": str,
}
"""Columns with their types; every one but the first five and ``identical``, ``tokens``, ``rounds`` may be null.

``strayed_rounds``: the draft's context was not the committed text. ``inside_rounds``: the round began inside a
word; ``barred_rounds``: and the draft's own spelling of that word has no token boundary there; ``…_accepted``
are the tokens accepted in them. ``seconds`` are those after the first round, ``plain_seconds`` those of plain
decoding after its first token; joules are of the whole run, the prompt included.
"""

REQUIRED = ("draft", "translation", "k", "group", "prompt", "identical", "tokens", "rounds")


def full_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with every column, null where it has none; columns that are not known are left out.

    Raises:
        ValueError: a required column is missing or a value has the wrong type.
    """
    full = {name: row.get(name) for name in FIELDS}
    for name, kind in FIELDS.items():
        value = full[name]
        if value is None:
            if name in REQUIRED:
                raise ValueError(f"the column {name!r} is missing")
        elif kind is float and isinstance(value, int) and not isinstance(value, bool):
            full[name] = float(value)
        elif type(value) is not kind:
            raise ValueError(f"the column {name!r} is {value!r}, not {kind.__name__}")
    return full
