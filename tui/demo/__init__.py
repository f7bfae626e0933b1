"""The demo, an invented project with a year of memory, generated on demand; and its tour: five things to do, and a file
beside the memory that says which is next, so that it can be left and resumed."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NamedTuple

TOUR_FILE = "tour"
LEFT_MARK = " left"


class TourStop(NamedTuple):
    """A step: how it is known to be done, why it is worth doing, and what to press. `{id}` in both is a key's id."""

    done: str
    why: str
    what: str


TOUR_STOPS = (
    TourStop(
        "stale",
        "Facts grow old; stale ones are not sent to agents any more.",
        "{pane.facts}, and {pane.facts} again: only the stale ones. {screen.leave} shows all again.",
    ),
    TourStop(
        "correct",
        "The builds run on something else by now.",
        "On “Uses Jenkins”: {record.correct}, change the text, enter. The old stays.",
    ),
    TourStop(
        "undo",
        "All changes, agents' too, can be undone, except {record.purge}.",
        "{memory.undo} undoes it. {pane.history} lists every change. {record.purge} erases for good.",
    ),
    TourStop(
        "answer",
        "Ask it: each sentence cites what it rests on.",
        "{search.open}, type “why SQLite?”, enter. ↓ goes to what it rests on.",
    ),
    TourStop(
        "inbox",
        "What agents propose counts once you accept it.",
        "{pane.today}, read the evidence, then {record.confirm} accepts, {record.forget} rejects.",
    ),
)
TOUR_END = TourStop(
    "",
    "That was all. In your project, memoranda starts your own.",
    "{help.open} lists all keys, {command.open} finds agents and settings, {app.quit} quits.",
)


def tour_stop(number: int) -> TourStop:
    """Return a stop, from 0 on; the end after the last."""
    return TOUR_STOPS[number] if number < len(TOUR_STOPS) else TOUR_END


def begin_tour(memory: str) -> None:
    """Let the tour of this memory's file begin when it is opened."""
    keep_tour(memory, 0, left=False)


def keep_tour(memory: str, number: int, left: bool) -> None:
    """Keep which stop is next, and whether the tour was left; where it cannot be written, it is not kept."""
    with suppress(OSError), open(_tour_path(memory), "w", encoding="utf-8") as file:
        file.write(f"{number}{LEFT_MARK if left else ''}\n")


def read_tour(memory: str) -> tuple[int, bool] | None:
    """Return (the stop that is next, whether the tour was left); None if this memory has no tour."""
    try:
        with open(_tour_path(memory), encoding="utf-8") as file:
            text = file.read(20).strip()
    except (OSError, UnicodeDecodeError):
        return None
    number = text.removesuffix(LEFT_MARK)
    return (min(int(number), len(TOUR_STOPS)), text.endswith(LEFT_MARK)) if number.isdecimal() else None


def _tour_path(memory: str) -> str:
    """Return the path of the file that keeps the state of the tour."""
    return os.path.join(os.path.dirname(memory), TOUR_FILE)
