"""The settings file: what the analysis found, in the form that the decoder runs with.

Identity is content: a file made for other vocabularies is refused, whatever their names.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from tokalign.errors import SettingsError
from tokalign.files import write_text
from tokalign.records import RecordError, from_json, to_json
from tokalign.tokenizers import Tokenizer

SCHEMA = "tokalign-settings/1"
_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Evidence:
    """One way to translate and what it reaches with a perfect draft. ``method`` is anchored, exact, length,
    counted, naive, or none (ids passed as they are); ``p`` the committed tokens in the window, None where
    the method has no such number; ``fidelity`` the share of the target tokens wholly inside the draft that
    come out right, with its 95 % interval ``low``–``high`` (None with fewer than two documents)."""

    method: str
    p: int | None
    fidelity: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class DraftLength:
    """What a draft of ``k`` tokens can bring. ``ceiling`` is the mean number of target tokens wholly inside
    it; ``fidelity`` the share of these that the chosen translation gets. Which k pays depends on the
    machine."""

    k: int
    ceiling: float
    fidelity: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Model:
    """One side of the pair. ``fingerprint`` is that of its vocabulary, SHA-256 in hex."""

    name: str
    fingerprint: str


@dataclass(frozen=True)
class CorpusIdentity:
    """A corpus that the choice rests on; ``fallback`` marks a bundled sample in place of the corpus
    itself."""

    name: str
    sha256: str
    documents: int
    bytes: int
    fallback: bool


@dataclass(frozen=True)
class Settings:
    """How to translate the drafts of one pair. ``created`` is ISO 8601 in UTC, ``tokalign`` the version
    that wrote.

    ``p`` is the context prefix length in committed target tokens; where ``anchored``, the window starts at
    the last word start instead. ``provisional`` (with ``reason``) marks figures that rest on a stand-in
    vocabulary.
    """

    created: str
    tokalign: str
    target: Model
    draft: Model
    same_vocabulary: bool
    p: int
    anchored: bool
    k: int
    lengths: tuple[DraftLength, ...]
    chosen: Evidence
    runner_up: Evidence
    corpora: tuple[CorpusIdentity, ...]
    provisional: bool
    reason: str | None
    verdict: str

    @property
    def window(self) -> int | None:
        """The ``p`` to build an `ExactTranslator` with: None for the anchored window."""
        return None if self.anchored else self.p


def write(settings: Settings, path: Path) -> None:
    """Write the file, whole or not at all. Raises OSError."""
    content = {"schema": SCHEMA, **to_json(settings)}
    write_text(path, json.dumps(content, ensure_ascii=False, indent=2) + "\n")


def read(path: Path) -> Settings:
    """Read and check a settings file.

    Raises:
        SettingsError: it cannot be read, is of another schema, or a field is missing, unknown or wrong.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"the settings file {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise SettingsError(
            f"{path} is no settings file: it is not JSON ({error}); make one with `tokalign tune --settings`."
        ) from error
    schema = content.pop("schema", None) if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise SettingsError(_foreign(path, schema))
    try:
        settings = from_json(Settings, content)
        _check_ranges(settings)
    except RecordError as error:
        raise SettingsError(f"the settings file {path} is damaged: {error}; {_remedy_of(content)}.") from None
    return settings


def check(settings: Settings, target: Tokenizer, draft: Tokenizer, *, allow_provisional: bool = False) -> None:
    """Refuse settings that were made for other vocabularies, or that rest on a stand-in.

    Raises:
        SettingsError: a fingerprint differs, or the settings are provisional and that is not allowed.
    """
    for role, model, tokenizer in (("target", settings.target, target), ("draft", settings.draft, draft)):
        if model.fingerprint != tokenizer.fingerprint:
            raise SettingsError(
                f"the settings were made for the {role} vocabulary {model.fingerprint[:12]} ({model.name}), "
                f"but {tokenizer.name} has {tokenizer.fingerprint[:12]}; make settings for these models with "
                f"`tokalign compare {target.name} {draft.name} --settings FILE`."
            )
    if settings.provisional and not allow_provisional:
        raise SettingsError(
            f"the settings are provisional ({settings.reason}); make them anew with the real vocabulary, "
            "or accept them with --allow-provisional."
        )


def _foreign(path: Path, schema: object) -> str:
    kind, _, version = str(schema).partition("/")
    if kind == SCHEMA.partition("/")[0] and version.isdigit():
        return f"the settings file {path} has the newer schema {schema!r}, not {SCHEMA!r}; upgrade tokalign."
    return (
        f"{path} is no settings file: its schema is {schema!r}, not {SCHEMA!r}; make one with "
        "`tokalign tune --settings`."
    )


def _remedy_of(content: object) -> str:
    names = [_name(content, side) for side in ("target", "draft")]
    return f"make it anew with `tokalign tune {' '.join(names)} --settings FILE`"


def _name(content: object, side: str) -> str:
    model = content.get(side) if isinstance(content, dict) else None
    name = model.get("name") if isinstance(model, dict) else None
    return name if isinstance(name, str) else side.upper()


def _check_ranges(settings: Settings) -> None:
    for side in ("target", "draft"):
        found = getattr(settings, side).fingerprint
        if not _HEX.fullmatch(found):
            raise RecordError(f"the field '{side}.fingerprint' is {found!r}, not 64 hexadecimal digits")
    if settings.p < 0:
        raise RecordError(f"the field 'p' is {settings.p}, less than 0")
    if not any(each.k == settings.k for each in settings.lengths):
        raise RecordError(f"the field 'k' is {settings.k}, which is not among 'lengths'")
    for name, of in [("chosen", settings.chosen), ("runner_up", settings.runner_up)]:
        _check_share(f"{name}.fidelity", of.fidelity)
    for i, each in enumerate(settings.lengths):
        if each.k < 1:
            raise RecordError(f"the field 'lengths[{i}].k' is {each.k}, less than 1")
        _check_share(f"lengths[{i}].fidelity", each.fidelity)
    if settings.provisional and not settings.reason:
        raise RecordError("the field 'reason' is empty although 'provisional' is true")
    same = settings.target.fingerprint == settings.draft.fingerprint
    if settings.same_vocabulary != same:
        raise RecordError(
            f"the field 'same_vocabulary' is {settings.same_vocabulary}, which the fingerprints deny"
        )


def _check_share(field: str, value: float | None) -> None:
    if value is not None and not 0 <= value <= 1:
        raise RecordError(f"the field {field!r} is {value}, not a share from 0 to 1")
