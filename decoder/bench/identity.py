"""What a bench rests on: models, prompts, settings. Rows of one folder share it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from decoder.bench.prompts import BenchPrompt
from decoder.errors import BenchUsageError

SCHEMA = "decoder-bench/1"
BLOCKS, BLOCK = 64, 64 * 1024  # of a weight file: so many evenly spaced blocks of so many bytes


@dataclass(frozen=True)
class ModelIdentity:
    """A model. ``files`` is a SHA-256 over its configuration, its tokenizer and samples of its weights;
    ``vocabulary`` the fingerprint of its vocabulary, None until it was loaded."""

    name: str
    files: str | None
    vocabulary: str | None = None


@dataclass(frozen=True)
class Identity:
    """What every row rests on. ``drafts`` by their names in rows; ``note`` is free text, such as the machine.

    ``prompts`` is a SHA-256 over ids, groups and texts in order. None is not known.
    """

    target: ModelIdentity
    prompts: str | None
    count: int
    max_tokens: int | None
    float32: bool | None
    device: str | None
    mlx: str | None
    batch: int
    drafts: Mapping[str, ModelIdentity] = field(default_factory=dict)
    note: str | None = None

    def clash(self, other: Identity) -> tuple[str, object, object] | None:
        """The first thing in which ``other`` differs so that rows must not be mixed; None if nothing.

        Further drafts do no harm; a draft of the same name must be the same.
        """
        mine, theirs = _flat(self), _flat(other)
        for name in mine:
            if name in theirs and mine[name] != theirs[name]:
                return name, mine[name], theirs[name]
        return None

    def merged(self, other: Identity) -> Identity:
        """This one with the drafts of both."""
        return Identity(**{**_fields(self), "drafts": {**self.drafts, **other.drafts}})


def _fields(identity: Identity) -> dict[str, Any]:
    return {name: getattr(identity, name) for name in Identity.__dataclass_fields__}


def _flat(identity: Identity) -> dict[str, object]:
    plain: dict[str, object] = {
        "target": identity.target.files or identity.target.name,
        "prompts": identity.prompts,
        "length (--max-tokens)": identity.max_tokens,
        "arithmetic (--float32)": identity.float32,
        "device": identity.device,
        "mlx version": identity.mlx,
        "batch": identity.batch,
    }
    return plain | {f"draft {name!r}": d.files or d.name for name, d in identity.drafts.items()}


def identify(
    target: str,
    drafts: Mapping[str, str],
    prompts: Sequence[BenchPrompt],
    *,
    max_tokens: int,
    float32: bool,
    device: str,
    batch: int,
    note: str | None = None,
) -> Identity:
    """The identity of a bench before it runs. ``drafts``: model names by the names that rows have."""
    return Identity(
        ModelIdentity(target, fingerprint(target)),
        prompts_sha(prompts),
        len(prompts),
        max_tokens,
        float32,
        device,
        version("mlx"),
        batch,
        {label: ModelIdentity(name, fingerprint(name)) for label, name in drafts.items()},
        note,
    )


def prompts_sha(prompts: Sequence[BenchPrompt]) -> str:
    """SHA-256 over ids, groups and texts."""
    digest = hashlib.sha256()
    for p in prompts:
        digest.update(json.dumps([p.id, p.group, p.text]).encode())
    return digest.hexdigest()


def fingerprint(name: str) -> str | None:
    """SHA-256 over a model's files; None for one that is no folder here (it is then known by its name).

    Weights are sampled, every block of a small file and evenly spaced ones of a large: other weights differ
    everywhere.
    """
    folder = Path(name)
    if not folder.is_dir():
        return None
    digest = hashlib.sha256()
    for path in sorted((*folder.glob("*.safetensors"), *folder.glob("*.json"))):
        size = path.stat().st_size
        digest.update(f"{path.name} {size}\n".encode())
        with path.open("rb") as file:
            for n in range(BLOCKS):
                file.seek(max(0, size - BLOCK) * n // (BLOCKS - 1))
                digest.update(file.read(BLOCK))
                if size <= BLOCK:
                    break
    return digest.hexdigest()


def to_json(identity: Identity) -> str:
    """The file's text."""
    return json.dumps({"schema": SCHEMA, **asdict(identity)}, ensure_ascii=False, indent=1) + "\n"


def from_json(text: str, where: str) -> Identity:
    """The identity again.

    Raises:
        BenchUsageError: it is none, or of another schema.
    """
    try:
        content = json.loads(text)
        if content.pop("schema") != SCHEMA:
            raise ValueError("another schema")
        content["target"] = ModelIdentity(**content["target"])
        content["drafts"] = {name: ModelIdentity(**d) for name, d in content["drafts"].items()}
        return Identity(**content)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BenchUsageError(
            f"{where} does not describe a bench ({error}); choose another folder with --out."
        ) from error
