"""Waiting for what another thread or process does."""

import time
from collections.abc import Callable

SECONDS = 30.0  # longer than a busy machine takes


def until(holds: Callable[[], object]) -> None:
    """Wait until `holds` returns true. Raise AssertionError after SECONDS."""
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.005)
