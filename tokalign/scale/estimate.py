"""What a run will take, told when its first parts are measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """``read_bytes`` of UTF-8 text and ``read_documents`` were read when ``share`` of the source was (None:
    its size is not known); ``workers`` together measure ``speed`` bytes a second."""

    read_bytes: int
    read_documents: int
    share: float | None
    speed: float
    workers: int

    def __str__(self) -> str:
        who = f"{self.workers} workers measure" if self.workers > 1 else "one process measures"
        pace = f"{who} {self.speed / 1e6:,.2f} MB a second"
        if not self.share:
            return f"the size of the corpus is not known; {pace}"
        text, documents = self.read_bytes / self.share, self.read_documents / self.share
        return (
            f"about {text / 1e6:,.0f} MB of text in {documents:,.0f} documents; {pace}, so about "
            f"{_duration(text / self.speed)} in all"
        )


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
