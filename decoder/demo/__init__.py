"""The demo pair: a small target and a smaller draft inside the package, for a machine without a network.

``train.py`` made them from the data of ``prepare.py``; ``CARD.md`` says from what, and how good they are.
"""

from __future__ import annotations

import contextlib
import hashlib
import lzma
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from decoder.errors import ModelError

if TYPE_CHECKING:
    from decoder.generation import Pair

PACKAGE = Path(__file__).parent
CARD = "decoder/demo/CARD.md"
ROLES = ("target", "draft")
WEIGHTS = "model.safetensors"
NAMES = ("demo-target", "demo-draft")
_PACKED = "tokenizer.json.xz"
_PARTS = ("config.json", WEIGHTS, "tokenizer_config.json", _PACKED)


def demo_pair() -> tuple[Path, Path]:
    """The folders of the target and the draft, as mlx-lm loads them.

    They lie in tokalign's cache folder; the first call unpacks them there from the package's data.

    Raises:
        ModelError: the package came without its data, or the cache folder cannot be written.
    """
    target, draft = (_unpacked(role) for role in ROLES)
    return target, draft


def load_demo(*, draft: bool = True, float32: bool = False, **options: Any) -> Pair:
    """The demo pair loaded, or with ``draft`` False its target alone; ``options`` as of `decoder.load_pair`.

    It computes in float32 on a CPU even where that is not asked for; see :func:`wants_float32`.

    Raises:
        ModelError: as :func:`demo_pair`; and what `decoder.load_pair` raises.
    """
    from dataclasses import replace

    from decoder.generation import load_pair

    folders = demo_pair()
    drafting = str(folders[1]) if draft else None
    pair = load_pair(str(folders[0]), drafting, float32=float32 or wants_float32(), **options)
    named = None if pair.draft is None else replace(pair.draft, name=NAMES[1])
    return replace(pair, target=replace(pair.target, name=NAMES[0]), draft=named)


def wants_float32() -> bool:
    """Whether the demo models are faster dequantized: MLX multiplies quantized matrices slowly on a CPU."""
    import mlx.core as mx

    return mx.default_device().type == mx.DeviceType.cpu


def notice(*, draft: bool = True) -> str:
    """What a user is to know of the models before their output."""
    text = f"the demo models only show how decoding works; what they write is not to be relied on ({CARD})."
    if not draft:
        return text
    return f"the demo draft's vocabulary is the stand-in for APT4, not APT4; {text}"


def unpack(packed: Path, folder: Path) -> Path:
    """Copy a model as it is packed here into ``folder``, its tokenizer decompressed; returns ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _PARTS:
        if name == _PACKED:
            (folder / "tokenizer.json").write_bytes(lzma.decompress((packed / name).read_bytes()))
        else:
            shutil.copyfile(packed / name, folder / name)
    return folder


def _unpacked(role: str) -> Path:
    from tokalign.files import cache_folder

    packed = PACKAGE / role
    absent = [name for name in _PARTS if not (packed / name).is_file()]
    if absent:
        raise ModelError(
            f"the demo's {role} model is not in this installation ({packed / absent[0]} is missing); "
            "reinstall tokalign-decoder, or name a target and a draft of your own."
        )
    digest = hashlib.sha256()
    for name in _PARTS:
        digest.update((packed / name).read_bytes())
    folder = cache_folder() / f"demo-{role}-{digest.hexdigest()[:16]}"
    if not _complete(packed, folder):
        _place(packed, folder)
    return folder


def _complete(packed: Path, folder: Path) -> bool:
    weights = folder / WEIGHTS
    present = all((folder / name.removesuffix(".xz")).is_file() for name in _PARTS)
    return present and weights.stat().st_size == (packed / WEIGHTS).stat().st_size


def _place(packed: Path, folder: Path) -> None:
    """Unpack beside ``folder`` and rename, so that nobody meets half a model."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as temporary:
            made = unpack(packed, Path(temporary) / "model")
            if folder.exists():
                shutil.rmtree(folder)
            with contextlib.suppress(FileExistsError):
                made.rename(folder)
    except OSError as error:
        if _complete(packed, folder):  # another process was faster
            return
        raise ModelError(
            f"the demo models cannot be unpacked into {folder.parent}: {error.strerror}; "
            "set TOKALIGN_CACHE to a folder that can be written."
        ) from error
