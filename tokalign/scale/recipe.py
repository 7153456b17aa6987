"""What a worker needs to know to measure shards, and the measuring itself."""

from __future__ import annotations

import contextlib
import ctypes
import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tokalign.measurement import Measurement
from tokalign.scale.shards import Shard
from tokalign.table import Progress, measure
from tokalign.tokenizers import Tokenizer


class Task(Protocol):
    """Something that can be sent to another process and does its work there, shard by shard."""

    def prepare(self) -> Callable[[Shard], Any]:
        """Make ready once, and return what is to be done with each shard."""
        ...


@dataclass(frozen=True)
class Recipe:
    """The tokenizers, as they are: what is sent is their content, whatever lies under their names elsewhere.

    ``sample`` are texts of the corpus on which a fast encoder is tried again, where the worker is on another
    machine; empty where what was found in this process holds.
    """

    target: Tokenizer
    drafts: tuple[Tokenizer, ...]
    sample: tuple[str, ...] = ()

    def prepare(self) -> Callable[[Shard], tuple[Measurement, ...]]:
        """Make the tokenizers ready."""
        if self.sample:
            for tokenizer in dict.fromkeys((self.target, *self.drafts)):
                tokenizer.accelerate(self.sample)
        return lambda shard: measured(shard, self.target, self.drafts)


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
