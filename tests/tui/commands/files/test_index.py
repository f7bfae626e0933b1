"""What `memoranda health --index` shows on a terminal while it works."""

import time
from types import SimpleNamespace

import pytest

from tui.commands.health import RATE_AFTER_SECONDS, show_progress


def test_progress_has_a_rest_and_a_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was embedded before it began is not counted; the line is cleared at the end."""
    clock, told = [100.0], list[str]()
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    show = show_progress(SimpleNamespace(wait=told.append), "embedding")
    for done, seconds in ((1_000, 0.0), (1_100, RATE_AFTER_SECONDS - 0.5), (1_200, 4.0), (5_000, 90.0)):
        clock[0] = 100.0 + seconds
        show(done, 5_000)
    assert told == [
        "embedding 1,000 of 5,000; ^C stops",
        "embedding 1,100 of 5,000; ^C stops",
        "embedding 1,200 of 5,000, 50 a second; ^C stops",
        "",
    ]
