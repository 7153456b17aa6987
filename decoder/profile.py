"""What decoding costs on one machine: measured times of a target and its drafts, and their file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path

from decoder.curves import Curve, Spread, Timing
from decoder.errors import ProfileError, ProfileUsageError
from decoder.records import RecordError, from_json
from tokalign.files import write_text

SCHEMA = "decoder-profile/1"


@dataclass(frozen=True)
class Machine:
    """Where it was measured. ``memory`` is in bytes, ``device`` is 'cpu' or 'gpu'."""

    platform: str
    chip: str | None
    cores: int | None
    memory: int | None
    device: str
    device_name: str | None


@dataclass(frozen=True)
class ModelCard:
    """A model as far as it decides the cost.

    ``bits`` and ``group_size`` are None without quantization. ``weight_bytes`` are all parameters,
    ``step_bytes`` those that a step reads (an input embedding that is not the output's too is left out, being
    read for one row only), ``kv_bytes`` the cache of one token. ``random`` says that the weights are.
    """

    name: str
    dtype: str | None
    bits: int | None
    group_size: int | None
    layers: int | None
    weight_bytes: int | None
    step_bytes: int | None
    kv_bytes: int | None
    random: bool


@dataclass(frozen=True)
class Roof:
    """One plain step against the memory: the bytes it must read, the seconds that takes at the measured
    bandwidth, and which fraction of the bandwidth the measured step reached."""

    context: int
    bytes: int
    seconds: float
    fraction: float


@dataclass(frozen=True)
class DraftCost:
    """A draft. Seconds throughout.

    ``steps``: k greedy steps enqueued and waited for once, the first of which feeds one token (n = k).
    ``unfused``: the same with the model as it was loaded (see ``fused``), None (with ``unfused_note``) where
    it was not measured or cannot be fused. ``feed``: feeding n tokens and waiting for the choice, as when the
    draft catches up. ``prefill``: reading a prompt of n tokens (context 0). ``translate`` is draft → target, ``follow``
    target → draft, for one round; None where it was not measured; ``translate_note`` says why, or on what it
    rests. ``trim``: taking tokens back from the draft's cache.
    """

    model: ModelCard
    steps: tuple[Timing, ...]
    unfused: tuple[Timing, ...] | None
    unfused_note: str | None
    feed: tuple[Timing, ...]
    prefill: tuple[Timing, ...]
    translate: Spread | None
    follow: Spread | None
    translate_note: str | None
    trim: Spread | None

    @cached_property
    def step_curve(self) -> Curve:
        """``steps`` over k."""
        return Curve(self.steps)

    @cached_property
    def feed_curve(self) -> Curve:
        """``feed`` over n."""
        return Curve(self.feed)


@dataclass(frozen=True)
class Profile:
    """A machine's costs. Seconds, bytes, and bytes per second.

    ``source`` is 'measured', or 'published' for one that was built from a paper's figures. ``plain``: a step
    of mlx-lm's own ``generate_step`` (n = 1). ``verify``: one pass of the target over n tokens with the
    choice at each of them. ``prefill``: reading a prompt of n tokens (context 0). ``trim``: taking tokens back
    from the target's cache. ``bandwidth``: a device copy, read and write counted.
    """

    source: str
    created: str
    note: str | None
    machine: Machine
    mlx: str | None
    mlx_lm: str | None
    bandwidth: Spread | None
    target: ModelCard
    plain: tuple[Timing, ...]
    verify: tuple[Timing, ...]
    prefill: tuple[Timing, ...]
    trim: Spread | None
    roofline: tuple[Roof, ...]
    drafts: tuple[DraftCost, ...]

    @cached_property
    def _plain(self) -> Curve:
        return Curve(self.plain)

    @cached_property
    def verify_curve(self) -> Curve:
        """``verify`` over n."""
        return Curve(self.verify)

    def plain_s(self, context: int | None = None) -> float:
        """Seconds of a plain step; without a context, at the middle one of those measured."""
        return self._plain.at(1, context)

    def verify_s(self, n: float, context: int | None = None) -> float:
        """Seconds for the target to verify ``n`` tokens: the pending one and n - 1 candidates."""
        return self.verify_curve.at(n, context)

    def draft_s(self, k: int, context: int | None = None, *, draft: str | None = None, feed: int = 1) -> float:
        """Seconds to draft ``k`` tokens when ``feed`` tokens go in first, 0 for k = 0."""
        if k == 0:
            return 0.0
        found = self.draft(draft)
        seconds = found.step_curve.at(k, context)
        if feed > 1 and found.feed:
            seconds += found.feed_curve.at(feed, context) - found.feed_curve.at(1, context)
        return seconds

    def translate_s(self, draft: str | None = None) -> float | None:
        """Seconds a round for translating both ways; None where it was not measured."""
        parts = [s.median for s in (self.draft(draft).translate, self.draft(draft).follow) if s is not None]
        return sum(parts) if parts else None

    def host_s(self, draft: str | None = None) -> float | None:
        """Seconds a round for taking tokens back from both caches; None where it was not measured."""
        parts = [s.median for s in (self.trim, self.draft(draft).trim) if s is not None]
        return sum(parts) if parts else None

    def draft(self, name: str | None = None) -> DraftCost:
        """A draft by name, the first without one.

        Raises:
            ProfileUsageError: the profile has none of this name.
        """
        for found in self.drafts:
            if name is None or found.model.name == name:
                return found
        known = ", ".join(d.model.name for d in self.drafts) or "none"
        raise ProfileUsageError(f"the profile has no draft {name or ''!r}; it has: {known}.")


def write(profile: Profile, path: Path) -> None:
    """Write the file, whole or not at all. Raises OSError."""
    write_text(path, dumps(profile))


def dumps(profile: Profile) -> str:
    """The file's text."""
    return json.dumps({"schema": SCHEMA, **asdict(profile)}, ensure_ascii=False, indent=1) + "\n"


def read(path: Path) -> Profile:
    """Read and check a profile.

    Raises:
        ProfileError: it cannot be read, is of another schema, or a field is missing, unknown or wrong.
    """
    try:
        return loads(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise ProfileError(f"the profile {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ProfileError(f"{path} is no profile: it is not UTF-8; {_REMEDY}.") from error


def loads(text: str, name: str) -> Profile:
    """A profile from its text; ``name`` is for messages. Raises as :func:`read`."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise ProfileError(f"{name} is no profile: it is not JSON ({error}); {_REMEDY}.") from error
    schema = content.pop("schema", None) if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise ProfileError(f"{name} is no profile: its schema is {schema!r}, not {SCHEMA!r}; {_REMEDY}.")
    try:
        profile = from_json(Profile, content)
        _check(profile)
    except RecordError as error:
        raise ProfileError(f"the profile {name} is damaged: {error}; {_REMEDY}.") from None
    return profile


def shipped(name: str) -> Profile:
    """A profile that comes with the package.

    Raises:
        ProfileUsageError: there is none of this name.
    """
    folder = resources.files("decoder").joinpath("profiles")
    known = sorted(f.name.removesuffix(".json") for f in folder.iterdir() if f.name.endswith(".json"))
    if name not in known:
        raise ProfileUsageError(f"no profile {name!r} comes with decoder; there is: {', '.join(known)}.")
    return loads(folder.joinpath(f"{name}.json").read_text(encoding="utf-8"), name)


_REMEDY = "make one with `decoder calibrate`"


def _check(profile: Profile) -> None:
    if profile.source not in ("measured", "published"):
        raise RecordError(f"the field 'source' is {profile.source!r}, not 'measured' or 'published'")
    tables = {"plain": profile.plain, "verify": profile.verify}
    for i, draft in enumerate(profile.drafts):
        tables[f"drafts[{i}].steps"] = draft.steps
    for name, table in tables.items():
        if not table:
            raise RecordError(f"the field {name!r} is empty")
        for i, t in enumerate(table):
            if not 0 < t.low <= t.median <= t.high or t.n < 1 or t.context < 0:
                raise RecordError(f"the field '{name}[{i}]' is no timing: {t}")
