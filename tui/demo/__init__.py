"""The demo, an invented project with a year of memory, generated on demand; and its tour: five things to do, and a file
beside the memory that says which is next, so that it can be left and resumed."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NamedTuple

TOUR_FILE = "tour"
LEFT_MARK = " left"


class TourStop(NamedTuple):
    """A step, a line of tour.txt: how it is known to be done, why it is worth doing, and what to press. `{id}` in both
    is a key's id."""

    done: str
    why: str
    what: str


with open(os.path.join(os.path.dirname(__file__), "tour.txt"), encoding="utf-8") as _file:
    *TOUR_STOPS, TOUR_END = (TourStop(*line.rstrip("\n").split("\t")) for line in _file)


def tour_stop(number: int) -> TourStop:
    """Return a stop, from 0 on; the end after the last."""
    return TOUR_STOPS[number] if number < len(TOUR_STOPS) else TOUR_END


def keep_tour(memory: str, number: int, left: bool) -> None:
    """Keep which stop of the tour of this memory's file is next, 0 to begin it, and whether it was left; where that
    cannot be written, it is not kept."""
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
