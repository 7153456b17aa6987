"""What a worker needs to know to measure shards, and the measuring itself."""

from __future__ import annotations

import contextlib
import ctypes
import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tokalign.errors import TokalignError
from tokalign.measurement import Measurement
from tokalign.scale.shards import Shard
from tokalign.table import Progress, measure
from tokalign.tokenizers import Tokenizer, load


class Task(Protocol):
    """Something that can be sent to another process and does its work there, shard by shard."""

    def prepare(self) -> Callable[[Shard], Any]:
        """Make ready once, and return what is to be done with each shard."""
        ...


@dataclass(frozen=True)
class Recipe:
    """The tokenizers by name, as `tokenizers.load` knows them, with the fingerprints they must have, the
    target's first. ``sample`` are texts of the corpus on which a fast encoder is tried."""

    target: str
    drafts: tuple[str, ...]
    fingerprints: tuple[str, ...]
    offline: bool
    sample: tuple[str, ...] = ()

    def prepare(self) -> Callable[[Shard], tuple[Measurement, ...]]:
        """Load the tokenizers.

        Raises:
            TokalignError: one of them is not the one that the run began with.
        """
        names = (self.target, *self.drafts)
        loaded = {name: load(name, offline=self.offline) for name in dict.fromkeys(names)}
        for name, fingerprint in zip(names, self.fingerprints, strict=True):
            if loaded[name].fingerprint != fingerprint:
                raise TokalignError(
                    f"a worker found another vocabulary under the name {name!r} (fingerprint "
                    f"{loaded[name].fingerprint[:12]}…, not {fingerprint[:12]}…): give every worker the same files."
                )
        for tokenizer in loaded.values():
            tokenizer.accelerate(self.sample)
        target, *drafts = (loaded[name] for name in names)
        return lambda shard: measured(shard, target, drafts)


def measured(
    shard: Shard, target: Tokenizer, drafts: Sequence[Tokenizer], progress: Progress | None = None
) -> tuple[Measurement, ...]:
    """A shard's measurement with each draft."""
    return tuple(measure(shard.documents, target, draft, progress) for draft in drafts)


def give_back_memory() -> None:
    """Return to the system what loading vocabularies used and left: more than half of it."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # only the GNU C library has it
        ctypes.CDLL(None).malloc_trim(0)
