"""Data sets that `datasets` has prepared on this disk before, read without it and without a network."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from corpora.hub import HubData


def cache_folder() -> Path:
    """Where `datasets` keeps prepared data: HF_DATASETS_CACHE, else HF_HOME/datasets, else its default."""
    if own := os.environ.get("HF_DATASETS_CACHE"):
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return Path(os.environ.get("HF_HOME", f"{base}/huggingface")).expanduser() / "datasets"


def cached_files(data: HubData) -> list[Path]:
    """The Arrow files of a split in order, of the newest prepared version; empty when it is not there whole.

    The layout is owner___name/config/version/hash/name-split[-00000-of-00012].arrow. Without a
    configuration the only one is taken, else "default".
    """
    owner, name = data.repo.split("/")
    name = re.sub(r"([a-z\d])([A-Z])", r"\1_\2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)).lower()
    root = cache_folder() / f"{owner}___{name}"
    try:
        configs = sorted(path.name for path in root.iterdir() if path.is_dir())
        config = data.config or (configs[0] if len(configs) == 1 else "default")
        versions = sorted((root / config).glob("*/*/dataset_info.json"), key=lambda path: path.stat().st_mtime)
    except OSError:
        return []
    for info in reversed(versions):
        if files := _whole_split(info.parent, f"{name}-{data.split}"):
            return files
    return []


def _whole_split(folder: Path, stem: str) -> list[Path]:
    single = folder / f"{stem}.arrow"
    if single.exists():
        return [single]
    shards = sorted(folder.glob(f"{stem}-?????-of-?????.arrow"))
    return shards if shards and len(shards) == int(shards[0].stem.rpartition("-")[2]) else []


class DamagedCacheError(Exception):
    """A cached Arrow file that cannot be read to its end."""


def cached_rows(files: list[Path]) -> Iterator[dict[str, object]]:
    """Rows of Arrow stream files in order, strings as undecoded bytes. Raises DamagedCacheError."""
    import pyarrow as pa

    from corpora.arrow_tables import arrow_rows

    for path in files:
        try:
            with pa.memory_map(str(path)) as source, pa.ipc.open_stream(source) as reader:
                for batch in reader:
                    yield from arrow_rows(batch)
        except (pa.ArrowException, OSError) as error:
            raise DamagedCacheError(str(path)) from error
