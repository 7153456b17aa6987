"""How far the reading of files has come, in bytes on disk: exact for compressed files too."""

from __future__ import annotations

from typing import IO


class Meter:
    """The share of all files that is read. ``sizes`` in bytes, in the order in which they are read."""

    def __init__(self) -> None:
        self._sizes: list[int] = []
        self._before = 0
        self._number = -1
        self._raw: IO[bytes] | None = None
        self._within = 0.0

    def expect(self, sizes: list[int]) -> None:
        self._sizes = sizes

    def begin(self) -> None:
        """The next file begins."""
        if self._number >= 0:
            self._before += self._sizes[self._number]
        self._number += 1
        self._raw, self._within = None, 0.0

    def follow(self, raw: IO[bytes]) -> None:
        """``raw`` is the current file, read from its start."""
        self._raw = raw

    def reach(self, share: float) -> None:
        """This share of the current file is read, where it is not read from start to end."""
        self._within = share

    @property
    def share(self) -> float | None:
        """Bytes read over bytes of all files, 0 to 1; None where sizes are not known."""
        total = sum(self._sizes)
        if not total or self._number < 0:
            return None
        size = self._sizes[self._number]
        if self._raw is not None:
            if not self._raw.closed:
                self._within = min(1.0, self._raw.tell() / size) if size else 1.0
            else:
                self._within = 1.0
        return min(1.0, (self._before + self._within * size) / total)
