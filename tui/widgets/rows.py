"""What a list shows: the snapshot that it asks for rows, and which of them the cursor can select."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from typing import Protocol

HEADINGS = 8  # headings in a row to skip at most, so that a key never walks a million rows

NEAR = 20  # rows below one that is gone among which the next is looked for

WALK = 20_000  # rows that are searched for a heading at most, which takes 20 ms

Pairs = Sequence[tuple[str, str]]


class Rows(Protocol):
    """A snapshot of a list's contents. It loads its own pages; the list asks only for lines at or near the visible
    ones."""

    def __len__(self) -> int:
        """Return the number of rows, including headings."""

    def lines(self, index: int, width: int) -> Sequence[Pairs]:
        """Render one row as lines of at most `width` cells, each of (text, look) pairs; the looks are those of
        `tui.theme.styles`, or "" for none."""

    def selectable(self, index: int) -> bool:
        """Return whether the cursor can select the row; False for headings."""

    def key(self, index: int) -> Hashable:
        """Return a key that identifies the row in later snapshots too; never None."""

    def index_of(self, key: Hashable) -> int | None:
        """Return the index of the row of `key` in this snapshot, None if it is not in it."""

    def among(self, keys: Set[Hashable]) -> frozenset[Hashable]:
        """Return those of the keys that are in this snapshot."""


def selectable_keys(rows: Rows | None, first: int, end: int) -> list[Hashable]:
    """Return the keys of the selectable rows of a range."""
    return [rows.key(index) for index in range(first, end) if rows.selectable(index)] if rows else []


def selectable_from(rows: Rows | None, index: int, step: int) -> int | None:
    """Return the selectable row at `index` or the next one in the direction of `step`, else in the other."""
    if not rows:
        return None
    index = max(0, min(index, len(rows) - 1))
    for direction in (step, -step):
        for candidate in range(index, index + direction * HEADINGS, direction):
            if 0 <= candidate < len(rows) and rows.selectable(candidate):
                return candidate
    return None


def first_of_group(rows: Rows, index: int, step: int) -> int | None:
    """Return the first row below the next heading in the direction of `step`, from `index` on; None if there is none
    near."""
    for candidate in range(index + step, index + step * WALK, step):
        if not 0 <= candidate < len(rows):
            return None
        if rows.selectable(candidate) and (candidate == 0 or not rows.selectable(candidate - 1)):
            return candidate
    return None


class CursorKeeper:
    """Where the cursor goes when the rows change: with its record, also with one that was gone for a while."""

    def __init__(self) -> None:
        self._gone: Hashable | None = None

    def moved(self) -> None:
        """Note that the user chose another record."""
        self._gone = None

    def place(self, old: Rows, rows: Rows, index: int, narrowed: bool, returns: bool) -> tuple[int, bool]:
        """Return where in `rows` the cursor goes that was at `index` of `old`, and whether its record is there. For one
        that is gone it is the next that is still there; the first, where the user `narrowed` the list. With `returns`
        it goes back to one that was gone: not in a list that is used, where a key would act on another record."""
        if self._gone is not None and (found := rows.index_of(self._gone)) is not None:
            self._gone = None
            if returns:
                return found, True
        if (found := rows.index_of(old.key(index))) is not None:
            return found, True
        if narrowed:
            return 0, False
        self._gone = self._gone or old.key(index)
        for near in range(index + 1, min(len(old), index + NEAR)):
            if old.selectable(near) and (found := rows.index_of(old.key(near))) is not None:
                return found, False
        return min(index, len(rows) - 1), False
