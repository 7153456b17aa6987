"""What a machine's profile tells ``k = auto`` before the first round."""

from __future__ import annotations

from pathlib import Path

from decoder.cost import Setup
from decoder.errors import ProfileUsageError
from decoder.policy import KnownCosts
from decoder.profile import Profile, read


def known_costs(
    profile: Profile | str | Path, draft: str | None = None, context: int | None = None
) -> KnownCosts:
    """The costs of the profile's draft ``draft``, or of its only one whatever it is called there.

    Without a draft the target's costs alone. ``context`` is in target tokens (None: the middle one measured).

    Raises:
        ProfileError: the file cannot be read or is no profile.
        ProfileUsageError: it has several drafts and none of this name, or no draft at all.
    """
    found = profile if isinstance(profile, Profile) else read(Path(profile))
    if draft is None:
        verify = {n: found.verify_s(n, context) for n in found.verify_curve.ns}
        trim = found.trim.median if found.trim is not None else None
        return KnownCosts(verify, {}, found.plain_s(context), trim)
    names = [d.model.name for d in found.drafts]
    if draft not in names and len(names) != 1:
        has = f"it has: {', '.join(names)}" if names else "it has none"
        raise ProfileUsageError(
            f"the profile has no costs of the draft {draft!r} ({has}); measure them with `decoder calibrate`."
        )
    return KnownCosts(**Setup(found, draft if draft in names else names[0], context).known())
