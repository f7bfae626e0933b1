"""Rows of the guard: moments, each with its files below, and the lines of a difference."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from store.guard.comparing import DiffLine as GuardLine
from store.guard.moments import GuardedChange
from store.guard.moments import Moment as GuardMoment
from tui.commands.files.guard import home_path, moment_title
from tui.lists.numbered_rows import NumberedRows
from tui.lists.wrapping import Pairs, row
from tui.render.field_diff import Line
from tui.theme.escape import visible

MOST = 200  # files of one moment that are listed
LOOKS = {"+": "added", "-": "removed", "…": "hunk", " ": "plain"}
SIGNS = {"removed": ("− ", "removed"), "added": ("+ ", "added")}


class Entry(NamedTuple):
    """A moment, or one file of it."""

    moment: GuardMoment
    file: GuardedChange | None

    @property
    def key(self) -> tuple[int, int]:
        return self.moment.number, self.file.number if self.file else 0


class GuardRows(NumberedRows):
    """Moments, the newest first, and below each its files."""

    def __init__(self, moments: Iterable[GuardMoment]) -> None:
        self.entries = [
            entry
            for moment in moments
            for entry in (Entry(moment, None), *(Entry(moment, file) for file in moment.files[:MOST]))
        ]

    def __len__(self) -> int:
        return len(self.entries)

    def key(self, index: int) -> Hashable:
        return self.entries[index].key

    def index_of(self, key: Hashable) -> int | None:
        return next((index for index, entry in enumerate(self.entries) if entry.key == key), None)

    def lines(self, index: int, width: int) -> list[Pairs]:
        moment, file = self.entries[index]
        if file is None:
            name, _, title = moment_title(moment).partition("  ")
            return row([(f"{name:<6} ", "cite")], visible(title), "bold", [], width)
        sign, look = SIGNS.get(file.what, ("~ ", "dim"))
        return row([("       ", ""), (sign, look)], home_path(file.file.path), "", [(file.what, "dim")], width)


def difference_lines(title: str, lines: Sequence[GuardLine]) -> list[Line]:
    """Return a file's name and what differs in it."""
    shown: list[Line] = [[(title, "title")]]
    for line in lines:
        look, number = LOOKS[line.sign], str(line.before or "")
        shown.append([(f"{line.sign} {number:>4} {visible(line.text)}", look)])
    return [*shown, []]
