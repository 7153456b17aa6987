"""Whether the Hugging Face hub can be asked at all, found out once and quickly.

The hub's client retries for half a minute before it gives up on a machine without a network; one connection
attempt tells the same in seconds.
"""

from __future__ import annotations

import os
import socket
from functools import cache
from urllib.parse import urlsplit

TIMEOUT_S = 3.0


def unavailable(offline: bool = False) -> str | None:
    """The reason why the hub must not or cannot be asked, or None when it answers."""
    if offline or os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "TRUE", "YES", "ON"}:
        return "the hub is off"
    return None if _reachable() else "the hub cannot be reached"


@cache
def _reachable() -> bool:
    if any(os.environ.get(v) for v in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")):
        return True  # only the proxy knows
    url = urlsplit(os.environ.get("HF_ENDPOINT", "https://huggingface.co"))
    try:
        port = url.port or (80 if url.scheme == "http" else 443)
        with socket.create_connection((url.hostname or "", port), TIMEOUT_S):
            return True
    except OSError:
        return False
