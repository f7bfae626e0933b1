"""What the tests of times share."""

import time
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def at_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The local time is that of Greenwich."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
