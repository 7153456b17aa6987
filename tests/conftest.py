"""Shared settings of all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "here",
    max_examples=int(os.environ.get("TOKALIGN_EXAMPLES", "200")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("here")


@pytest.fixture(autouse=True, scope="session")
def offline() -> None:
    """No test asks a hub, or reads or writes word forms kept on this machine."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TOKALIGN_LEXICON"] = "off"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Material beside the checkout that some tests measure on and none needs."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip(f"no measuring material at {folder}")
    return folder
