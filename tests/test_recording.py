"""The recording: what a program wrote in a real terminal, and when, as asciinema reads it."""

import json
import sys
from itertools import pairwise

import pyte
import pytest

from bench.terminal import Silent
from screenshots.record import LONGEST, STEPS, record

ECHO = (
    "import sys, tty; tty.setraw(0); print('ready ñ日', end='', flush=True)\n"
    "while (key := sys.stdin.read(1)) != 'q': print(f'<{key}>', end='', flush=True)"
)
COMMAND = [sys.executable, "-c", ECHO]


def test_it_can_be_played_again() -> None:
    """A head of version 2, times that never go back nor stand still for long, and the same screen at its end."""
    steps = [("", "ready", 0), ("ab", "<b>", 0), ("q", "", 0)]
    head, *events = map(json.loads, record(COMMAND, steps, (40, 5)).splitlines())
    assert (head["version"], head["width"], head["height"]) == (2, 40, 5)
    times = [0.0, *(at for at, _, _ in events)]
    assert all(0 <= later - one <= LONGEST + 0.001 for one, later in pairwise(times))
    assert {kind for _, kind, _ in events} == {"o"}
    screen = pyte.Screen(40, 5)
    stream = pyte.Stream(screen)
    for _, _, text in events:
        stream.feed(text)
    assert screen.display[0].replace(" ", "") == "readyñ日<a><b>"


def test_what_does_not_come_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("screenshots.record.PATIENCE", 0.3)
    with pytest.raises(Silent, match="“never” did not come"):
        record(COMMAND, [("", "ready", 0), ("a", "never", 0)])


def test_it_ends_by_leaving_the_application() -> None:
    assert STEPS[-1][0] == "q" and all(text for _, text, _ in STEPS[:-1])
