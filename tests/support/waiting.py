"""Waiting for what another thread or process does."""

import os
import time
from collections.abc import Callable
from pathlib import Path

SECONDS = 30.0  # longer than a busy machine takes


def until(holds: Callable[[], object], seconds: float = SECONDS) -> None:
    """Wait until `holds` returns true. Raise AssertionError after so many seconds."""
    end, pause = time.monotonic() + seconds, 0.005
    while not holds():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(pause)
        pause = min(1.5 * pause, 0.1)  # to look may cost more than what is waited for


def lined_up(path: str) -> int:
    """How many hold the queue's lock of a memory or wait for it, as Linux lists them."""
    place = f":{os.stat(os.path.dirname(path)).st_ino} "
    return sum(place in line for line in Path("/proc/locks").read_text().splitlines())
