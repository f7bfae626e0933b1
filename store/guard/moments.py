"""Moments: what changed together in the files of one tool, and which files those are."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from store.base.errors import InvalidInput, NotFound
from store.guard import files, versions
from store.guard.database import KeptVersions
from store.guard.files import Guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ADDED, REMOVED, REWRITTEN, PASSING = "added", "removed", "rewritten", "changed and changed back"
EDIT = 0  # as what a moment restores: it is a person's own change of a text
WHAT = (REMOVED, REWRITTEN, ADDED, PASSING)  # in the order of a sentence
_SELECT = "SELECT id, tool, first_at, last_at, restores FROM moments"


@dataclass(frozen=True, slots=True)
class GuardedChange:
    """What became of one file in a moment: its versions `before` and `after`, None where there was no file."""

    number: int
    file: Guarded
    before: int | None
    after: int | None

    @property
    def what(self) -> str:
        if self.before == self.after:
            return PASSING
        return ADDED if self.before is None else REMOVED if self.after is None else REWRITTEN


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment; times are in milliseconds, `restores` is the one that it put back, or EDIT."""

    number: int
    tool: str
    first_at: int
    last_at: int
    restores: int | None
    files: tuple[GuardedChange, ...]

    @property
    def name(self) -> str:
        return f"M#{self.number}"

    @property
    def title(self) -> str:
        """The name of its tool."""
        return files.title(self.tool)

    @property
    def edited(self) -> bool:
        """Whether a person corrected or deleted texts in it."""
        return self.restores == EDIT

    @property
    def counts(self) -> dict[str, int]:
        """How many files were removed, rewritten, added; without those that are none."""
        found = {what: sum(one.what == what for one in self.files) for what in WHAT}
        return {what: number for what, number in found.items() if number}


def number_of(text: str) -> int:
    """Parse `M#3`, `M3` or `3`. Raise InvalidInput."""
    number = text.upper().removeprefix("M").removeprefix("#")
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        raise InvalidInput("That is no moment.", "They are called M#3; memoranda guard list shows them.")
    return int(number)


def recent(kept: KeptVersions, limit: int) -> list[Moment]:
    """List moments, the newest first."""
    rows = kept.rows(f"{_SELECT} WHERE NOT pending ORDER BY last_at DESC, id DESC LIMIT ?", (limit,))
    return [_read(kept, row) for row in rows]


def untold(kept: KeptVersions) -> list[Moment]:
    """List the moments that a person was not told of yet, the oldest first."""
    rows = kept.rows(f"{_SELECT} WHERE NOT pending AND id > ? ORDER BY last_at, id", (kept.get("told"),))
    return [_read(kept, row) for row in rows]


def get(kept: KeptVersions, number: int) -> Moment:
    """Return a moment. Raise NotFound."""
    row = kept.row(f"{_SELECT} WHERE id = ?", (number,))
    if row is None:
        raise NotFound(f"There is no moment M#{number}.", "memoranda guard list shows those that are kept.")
    return _read(kept, row)


def last_restore(kept: KeptVersions) -> Moment:
    """Return the last restore that was not taken back. Raise NotFound."""
    row = kept.row(
        "SELECT id FROM moments m WHERE restores > 0 AND NOT pending"
        " AND NOT EXISTS (SELECT 1 FROM moments o WHERE o.restores = m.id)"
        " AND NOT EXISTS (SELECT 1 FROM moments o WHERE o.id = m.restores AND o.restores IS NOT NULL)"
        " ORDER BY id DESC LIMIT 1"
    )
    if row is None:
        raise NotFound("Nothing was put back, or all of it was undone.", "memoranda guard list shows what changed.")
    return get(kept, int(row[0]))


def last_edit(kept: KeptVersions) -> Moment | None:
    """Return the last change of a text that was not taken back."""
    row = kept.row(
        "SELECT id FROM moments m WHERE restores = ? AND NOT pending"
        " AND NOT EXISTS (SELECT 1 FROM moments o WHERE o.restores = m.id) ORDER BY id DESC LIMIT 1",
        (EDIT,),
    )
    return get(kept, int(row[0])) if row else None


def named(moment: Moment, name: str) -> list[GuardedChange]:
    """Return the files of a moment with this path, or this end of one; all without a name. Raise NotFound or
    InvalidInput."""
    wanted = os.path.expanduser(name)
    found = [one for one in moment.files if not name or one.file.path == wanted or one.file.path.endswith(f"/{wanted}")]
    if not found:
        raise NotFound(f"No such file changed in {moment.name}.", f"memoranda guard show {moment.name} names them.")
    if name and len(found) > 1:
        raise InvalidInput("Several files are called so.", f"Name one of: {', '.join(one.file.path for one in found)}")
    return found


def tell(kept: KeptVersions, several: Sequence[Moment]) -> None:
    """Note that a person was told of these: what changes from now on is another moment."""
    newest = max((one.number for one in several), default=0)
    if newest > kept.get("told"):
        with kept.connection:
            kept.put("told", newest)


def _read(kept: KeptVersions, row: "tuple[Any, ...]") -> Moment:
    found: dict[int, GuardedChange] = {}
    for number, tool, digest, sealed, before, after in kept.rows(
        "SELECT f.id, f.tool, f.digest, f.path, c.before, c.after FROM changes c JOIN files f ON f.id = c.file"
        " WHERE c.moment = ? ORDER BY c.id",
        (row[0],),
    ):
        earlier = found.get(number)
        file = earlier.file if earlier else Guarded(tool, versions.path_of(kept, digest, sealed))
        found[number] = GuardedChange(number, file, earlier.before if earlier else before, after)
    files = sorted(found.values(), key=lambda one: (WHAT.index(one.what), one.file.path))
    number, tool, first, last, restores = row
    return Moment(number, tool, first, last, restores, tuple(files))
