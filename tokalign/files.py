"""Writing files so that a reader never meets half of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary file beside ``path`` that takes its place when the block ends without an error.

    On any error, an interrupt included, the temporary file is removed and ``path`` stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        mask = os.umask(0)
        os.umask(mask)
        partial.chmod(0o666 & ~mask)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def cache_folder() -> Path:
    """The folder of this package in the user's cache: ``$TOKALIGN_CACHE``, else ``$XDG_CACHE_HOME/tokalign``.

    What is there can be made again.
    """
    if own := os.environ.get("TOKALIGN_CACHE"):
        return Path(own).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").expanduser() / "tokalign"


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text by way of a temporary file in the same folder."""
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8")
