"""What a run will take, told when its first part is measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """``read_bytes`` of UTF-8 text and ``read_documents`` were read when ``share`` of the source was; the
    first part, of ``part_bytes``, took ``seconds`` in one of ``workers``."""

    read_bytes: int
    read_documents: int
    share: float | None
    part_bytes: int
    seconds: float
    workers: int

    @property
    def n_bytes(self) -> float | None:
        """Text in the whole source, in bytes; None where its size is not known."""
        return self.read_bytes / self.share if self.share else None

    @property
    def total_seconds(self) -> float | None:
        """Time that the measuring takes in all."""
        if self.n_bytes is None:
            return None
        return self.n_bytes / self.part_bytes * self.seconds / self.workers

    def __str__(self) -> str:
        if not self.share or self.n_bytes is None or self.total_seconds is None:
            return f"the size of the corpus is not known; {self._speed}"
        documents = self.read_documents / self.share
        return (
            f"about {self.n_bytes / 1e6:,.0f} MB of text in {documents:,.0f} documents; {self._speed}, so "
            f"about {_duration(self.total_seconds)} in all"
        )

    @property
    def _speed(self) -> str:
        workers = f"{self.workers} workers measure" if self.workers > 1 else "one process measures"
        return f"{workers} {self.workers * self.part_bytes / 1e6 / max(self.seconds, 1e-9):,.1f} MB a second"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
