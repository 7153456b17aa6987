"""Whether the Hugging Face hub can be asked at all, found out once and quickly.

The hub's client retries for half a minute before it gives up on a machine without a network; one request with
a short limit tells the same in seconds.
"""

from __future__ import annotations

import os
import threading
import time
from functools import lru_cache

PROBE_SECONDS = 5.0  # to find out whether the hub answers at all


def unavailable(offline: bool = False) -> str | None:
    """The reason why the hub must not or cannot be asked, or None when it answers."""
    if offline or os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "TRUE", "YES", "ON"}:
        return "the hub is off"
    endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    return "the hub cannot be reached" if probe(endpoint, int(time.monotonic() // 60)) else None


@lru_cache(maxsize=4)
def probe(endpoint: str, _minute: int) -> str | None:
    """Why ``endpoint`` cannot be used, None when it can; any answer below status 500 will do."""
    outcome: list[str | None] = []

    def ask() -> None:
        import urllib.error
        import urllib.request

        try:
            request = urllib.request.Request(endpoint, method="HEAD", headers={"User-Agent": "tokalign"})
            urllib.request.urlopen(request, timeout=PROBE_SECONDS).close()
            outcome.append(None)
        except urllib.error.HTTPError as error:
            error.close()
            outcome.append(None if error.code < 500 else f"{endpoint} answered with status {error.code}")
        except Exception as error:
            outcome.append(f"{endpoint} cannot be reached: {getattr(error, 'reason', error)}")

    thread = threading.Thread(target=ask, daemon=True, name="hub-probe")  # name lookup knows no timeout
    thread.start()
    thread.join(PROBE_SECONDS + 0.5)
    return outcome[0] if outcome else f"{endpoint} did not answer within {PROBE_SECONDS:.0f} seconds"
