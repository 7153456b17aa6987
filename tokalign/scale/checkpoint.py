"""Finished shards on disk, so that an interrupted run can go on where it was."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from tokalign.files import cache_folder, replacing
from tokalign.scale.shards import Shard

_STALE = 30 * 24 * 3600  # seconds after which what an ended run left behind is removed


def folder() -> Path:
    """Where checkpoints are: ``tokalign/runs`` in the user's cache folder."""
    return cache_folder() / "runs"


class Checkpoint:
    """The finished shards of the run that ``identity`` (plain JSON values) describes.

    A block: left without an error it removes all, left by one it keeps all. ``resume`` takes what an earlier
    run of the same identity has kept, else that is removed. A shard's file is named by its number and the
    digest of its content, and holds the SHA-256 of what follows, so that neither a changed corpus nor half a
    file passes for a finished shard. Where the disk refuses, nothing is kept and the run goes on.
    """

    def __init__(self, identity: Mapping[str, Any], resume: bool) -> None:
        text = json.dumps(identity, sort_keys=True, ensure_ascii=False)
        self._folder = folder() / hashlib.sha256(text.encode()).hexdigest()[:32]
        self._resume = resume
        self.kept = self.taken = 0

    def __enter__(self) -> Checkpoint:
        _remove_stale()
        if not self._resume:
            self._remove()
        return self

    def take(self, shard: Shard) -> bytes | None:
        """The pickled result of a shard that is finished, or None."""
        try:
            data = self._file(shard).read_bytes()
        except OSError:
            return None
        if hashlib.sha256(data[32:]).digest() != data[:32]:
            return None
        self.taken += 1
        return data[32:]

    def keep(self, shard: Shard, result: bytes) -> None:
        """Keep a shard's result."""
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with replacing(self._file(shard)) as partial:
                partial.write_bytes(hashlib.sha256(result).digest() + result)
            self.kept += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None:
            self._remove()

    def _file(self, shard: Shard) -> Path:
        return self._folder / f"{shard.number:06}-{shard.digest}"

    def _remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            self._folder.parent.rmdir()


def _remove_stale() -> None:
    with contextlib.suppress(OSError):
        for left in folder().iterdir():
            if time.time() - left.stat().st_mtime > _STALE:
                shutil.rmtree(left, ignore_errors=True)
