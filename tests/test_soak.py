"""What the soak calls flat, and what it calls lost; the soak itself takes minutes: `python -m bench.soak`."""

from pathlib import Path

import pytest

from bench.soak import Soak, lost, verdicts
from store.memory import Memory


@pytest.mark.parametrize(
    ("name", "early", "late", "flat"),
    [
        ("application, MB", 100.0, 120.0, True),
        ("application, MB", 100.0, 140.0, False),
        ("server 1, handles", 10.0, 12.0, True),
        ("server 1, handles", 10.0, 30.0, False),
        ("sync --watch, threads", 1.0, 9.0, False),
        ("files beside it", 7.0, 70.0, False),
        ("its log, MB", 1.0, 90.0, False),
        ("memory.db, MB", 1.0, 90.0, None),
    ],
)
def test_what_is_flat(name: str, early: float, late: float, flat: bool | None) -> None:
    """The first quarter warms up and does not count; the memory's own file may grow."""
    samples = [{name: 500.0}, {name: early}, {name: early}, {name: late}]
    assert list(verdicts(samples)) == [(name, early, late, flat)]


def test_a_write_that_is_not_there_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    soak = Soak(str(tmp_path), 1.0)
    with Memory.open(soak.path, "cli") as memory:
        memory.facts.remember("It was written")
        memory.decisions.decide("It was decided", "so")
    soak.written = {"facts": ["It was written", "It was not"], "decisions": ["It was decided"]}
    soak.written |= {"turns": [], "lines": ["Nor this"]}
    assert lost(soak) == ["facts: It was not", "lines: Nor this"]
