"""Ids of documents, unique in a corpus that is never held as a whole."""

from __future__ import annotations

import hashlib
import re


class Names:
    """Gives each document of one pass its id; ``label`` is the name of its file.

    Ids by position (``label:12``, or ``label`` where the file is one document) are unique by construction:
    an own id that has the form of one, or that came before, gains ``#2``, ``#3`` …. Of own ids 8 bytes of a
    digest are remembered, so that memory stays small; that two ids of a corpus of a hundred million fall
    together is less likely than one in three thousand, and would cost a ``#2``.
    """

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}

    def of(self, own: str | None, label: str, position: str | None) -> str:
        """The id of a document that calls itself ``own``, at ``position`` ("line 12") of ``label``."""
        if own is None:
            return plain_name(own, label, position)
        if own not in self and not _positional(own, label):
            self._seen[_key(own)] = 1
            return own
        number = max(self._seen.get(_key(own), 1), 1) + 1
        while (name := f"{own}#{number}") in self:
            number += 1
        self._seen[_key(own)] = number
        self._seen[_key(name)] = 1
        return name

    def __contains__(self, name: str) -> bool:
        return _key(name) in self._seen


def plain_name(own: str | None, label: str, position: str | None) -> str:
    """The id of a document where nothing is done for uniqueness."""
    if own is not None:
        return own
    return label if position is None else f"{label}:{position.rpartition(' ')[2]}"


def _key(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big")


def _positional(own: str, label: str) -> bool:
    """Whether a position could give this name, in this file or in another one."""
    return own == label or own.startswith(f"{label}:") or _FILE.search(own) is not None


_FILE = re.compile(r"\.(txt|jsonl?|csv|parquet)(\.gz|\.zst)?(:\d+)?$", re.IGNORECASE)
