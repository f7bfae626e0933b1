"""The tour of the demo: five things to do, and a file beside the memory that says which is next, so that it can be left
and resumed."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass

FILE = "tour"
LEFT = " left"


@dataclass(frozen=True, slots=True)
class Stop:
    """A step: how it is known to be done, why it is worth doing, and what to press. `{id}` in both is a key's id."""

    done: str
    why: str
    what: str


STOPS = (
    Stop(
        "stale",
        "Facts grow old; stale ones are not sent to agents any more.",
        "{list.filter} shows only the stale ones. {screen.leave} shows all again.",
    ),
    Stop(
        "correct",
        "The builds run on something else by now.",
        "On “Uses Jenkins”: {record.correct}, change the text, enter. The old one is kept.",
    ),
    Stop(
        "undo",
        "All changes, agents' too, can be undone, except {record.purge}.",
        "{memory.undo} undoes it. {pane.history} lists every change. {record.purge} erases for good.",
    ),
    Stop(
        "answer",
        "Ask it: each sentence cites what it rests on.",
        "{pane.librarian}, type “why SQLite?”, enter. ↓ chooses a source, enter opens it.",
    ),
    Stop(
        "inbox",
        "What agents propose counts once you accept it.",
        "{pane.inbox}, read the evidence, then {record.confirm} accepts, {record.forget} rejects.",
    ),
)
END = Stop(
    "",
    "That was all. In your project, memoranda starts your own.",
    "{help.open} lists all keys, {more.open} agents and settings, {app.quit} quits.",
)


def stop(number: int) -> Stop:
    """Return a stop, from 0 on; the end after the last."""
    return STOPS[number] if number < len(STOPS) else END


def begin(memory: str) -> None:
    """Let the tour of this memory's file begin when it is opened."""
    keep(memory, 0, left=False)


def keep(memory: str, number: int, left: bool) -> None:
    """Keep which stop is next, and whether the tour was left; where it cannot be written, it is not kept."""
    with suppress(OSError), open(_path(memory), "w", encoding="utf-8") as file:
        file.write(f"{number}{LEFT if left else ''}\n")


def kept(memory: str) -> tuple[int, bool] | None:
    """Return (the stop that is next, whether the tour was left); None if this memory has no tour."""
    try:
        with open(_path(memory), encoding="utf-8") as file:
            text = file.read(20).strip()
    except (OSError, UnicodeDecodeError):
        return None
    number = text.removesuffix(LEFT)
    return (min(int(number), len(STOPS)), text.endswith(LEFT)) if number.isdecimal() else None


def _path(memory: str) -> str:
    return os.path.join(os.path.dirname(memory), FILE)
