"""Put back what changed: a moment, a file of it, or lines of it. Each restore is a moment too, and can be undone."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from store.base.errors import Conflict, InvalidInput, NotFound
from store.config.configuration import Config
from store.guard import comparing, looking, moments, versions
from store.guard.comparing import DiffLine
from store.guard.database import KeptVersions, opened
from store.guard.moments import EDIT, GuardedChange, Moment
from store.guard.swapping import refused, swap
from store.sources.source import Machine

_TARGET = re.compile(r"(?P<name>.+):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?")
QUIET_MS = 2_000  # since the last change of a file, before it is replaced
MODE = 0o600  # of a file that lines are put into and that is gone


@dataclass(frozen=True, slots=True)
class PutBack:
    """One file of a plan: the version `shown`, which it has now, and `wanted`, what it becomes; None is no file.
    `again` is whether it changed after the moment that is put back, `difference` what would change."""

    change: GuardedChange
    shown: int | None
    wanted: bytes | None
    again: bool
    difference: tuple[DiffLine, ...]

    @property
    def what(self) -> str:
        return "removed" if self.wanted is None else "put back" if self.shown is None else "rewritten"


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """What a restore would do; `stay` are files that it leaves as they are, each with the reason."""

    moment: Moment
    files: tuple[PutBack, ...]
    stay: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a file as it was before a moment, counted from 1."""

    first: int
    last: int


def target(text: str) -> tuple[str, Lines | None]:
    """Parse `FILE`, `FILE:3` or `FILE:3-8` to a name and lines."""
    found = _TARGET.fullmatch(text)
    if found is None:
        return text, None
    return found["name"], Lines(int(found["first"]), int(found["last"] or found["first"]))


def plan(
    config: Config,
    machine: Machine,
    now: int,
    number: int | None = None,
    name: str = "",
    lines: Lines | None = None,
    context: int = comparing.CONTEXT,
) -> RestorePlan:
    """Return what puts back a moment, or only the file of it that is called `name`, or only `lines` of that; without a
    number what undoes the last restore. Differences have `context` lines around them. All files are looked at first, so
    that what is there now is kept. Raise NotFound, InvalidInput."""
    with opened(config) as kept:
        looking.settle(kept, now)
        looking.look_with(kept, config, machine, now)
        moment = moments.last_restore(kept) if number is None else moments.get(kept, number)
        chosen = moments.named(moment, name)
        found, stay = list[PutBack](), list[tuple[str, str]]()
        for one in chosen:
            current = kept.row("SELECT version FROM files WHERE id = ?", (one.number,))
            shown = current[0] if current else None
            if one.file.database and one.before is None and shown is not None:
                stay.append((one.file.path, "a database is never deleted"))
                continue
            if not name and any(
                version is not None and versions.erased(kept, version) for version in (one.before, shown)
            ):
                stay.append((one.file.path, "its version was erased with what was purged"))
                continue
            put = _one(kept, one, shown, lines, context)
            if put is not None:
                found.append(put)
        return RestorePlan(moment, tuple(found), tuple(stay))


def run(config: Config, machine: Machine, now: int, chosen: RestorePlan) -> int:
    """Do what a plan says; return the number of the moment that it is. Raise Conflict where a file is not as it was
    shown, was changed less than two seconds ago, or is locked: nothing is changed then."""
    with opened(config) as kept:
        looking.settle(kept, now)
        looking.look_with(kept, config, machine, now, any(one.change.file.database for one in chosen.files))
        for one in chosen.files:
            current = kept.row("SELECT version FROM files WHERE id = ?", (one.change.number,))
            if (current[0] if current else None) != one.shown:
                raise refused(one.change.file, "it changed since it was shown")
        for one in chosen.files:
            require_quiet(kept, one.change.file.path, now)
        moment = _begun(kept, chosen, now)
        done = 0
        try:
            for one in chosen.files:
                before = None if one.shown is None else versions.content(kept, one.shown)
                swap(one.change.file, before, one.wanted, _mode(kept, one.change.before))
                done += 1
                if one.change.file.database:
                    looking.note_database(kept, moment, one.change.number, one.change.file)
        except Conflict as error:
            if done:
                undo = "memoranda guest undo" if chosen.moment.number == EDIT else "memoranda guard undo"
                error.next = f"{done} of {len(chosen.files)} files are changed; {undo} takes that back."
            raise
        finally:
            ended(kept, moment, now)
        return moment


def _one(
    kept: KeptVersions, one: GuardedChange, shown: int | None, lines: Lines | None, context: int
) -> PutBack | None:
    """Return how one file is put back; None if it is as it was."""
    before = None if one.before is None else versions.content(kept, one.before)
    now = None if shown is None else versions.content(kept, shown)
    wanted = before
    if lines is not None:
        if one.file.database:
            raise InvalidInput("A database has no lines.", "Put the whole file back.")
        if before is None:
            raise NotFound("The file was not there before.", "Put the moment back without a line: it goes again.")
        wanted = with_lines(before, now or b"", lines)
    if wanted == now:
        return None
    difference = comparing.difference(
        comparing.lines_of(kept, one.file, shown),
        [] if wanted is None else comparing.lines_in(one.file, wanted),
        context,
    )
    return PutBack(one, shown, wanted, shown != one.after, tuple(difference))


def with_lines(before: bytes, now: bytes, lines: Lines) -> bytes:
    """Return the content `now` with these lines of the one `before`, where they were. A line that was reworded is
    replaced, if it is clear by which; else the new ones stay beside it. Raise InvalidInput."""
    old, new = before.split(b"\n"), now.split(b"\n")
    last = len(old) - (not old[-1])
    if not 1 <= lines.first <= lines.last <= last:
        raise InvalidInput(f"The file had {last:,} lines before.", "guard show numbers them.")
    if max(len(old), len(new)) > comparing.LONGEST:
        raise InvalidInput("The file is too long to tell where a line was.", "Put the whole file back.")
    wanted = range(lines.first - 1, lines.last)
    result: list[bytes] = []
    for kind, first, end, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "replace" and end - first == stop - start:
            result += [old[at] if at in wanted else new[start + at - first] for at in range(first, end)]
            continue
        if kind in ("delete", "replace"):
            result += [old[at] for at in range(first, end) if at in wanted]
        if kind != "delete":
            result += new[start:stop]
    return b"\n".join(result)


def _begun(kept: KeptVersions, chosen: RestorePlan, now: int) -> int:
    changes = list[tuple[int, int | None, int | None]]()
    with kept.connection:
        for one in chosen.files:
            number, mode = one.change.number, _mode(kept, one.change.before)
            after = None if one.wanted is None else versions.keep(kept, number, one.wanted, mode)
            changes.append((number, one.shown, after))
    return begun(kept, chosen.moment.tool, now, chosen.moment.number, changes)


def begun(
    kept: KeptVersions, tool: str, now: int, restores: int, changes: Sequence[tuple[int, int | None, int | None]]
) -> int:
    """Note what is about to be done, with all that it needs, before a file is touched; return the moment's number. A
    change is the number of a file, its version before and after."""
    with kept.connection:
        kept.connection.execute(
            "INSERT INTO moments(tool, first_at, last_at, restores, pending) VALUES (?, ?, ?, ?, 1)",
            (tool, now, now, restores),
        )
        moment = kept.connection.last_insert_rowid()
        kept.connection.executemany(
            "INSERT INTO changes(moment, file, before, after, at) VALUES (?, ?, ?, ?, ?)",
            [(moment, number, before, after, now) for number, before, after in changes],
        )
    return moment


def ended(kept: KeptVersions, moment: int, now: int) -> None:
    """Note what became of a moment that was begun: files changed now were changed by us, and the person was told."""
    looking.settle(kept, now)
    kept.put("restored", looking.now_ms())
    kept.put("told", max(moment, kept.get("told")))


def _mode(kept: KeptVersions, version: int | None) -> int:
    found = kept.row("SELECT mode FROM versions WHERE id = ?", (version,))
    return int(found[0]) if found else MODE


def require_quiet(kept: KeptVersions, path: str, now: int) -> None:
    """Raise Conflict for a file that, or where it is gone whose folder, was changed less than two seconds ago, and not
    by us."""
    try:
        at = os.lstat(path if os.path.lexists(path) else os.path.dirname(path)).st_mtime_ns // 1_000_000
    except OSError:
        return
    if abs(now - at) < QUIET_MS and at > kept.get("restored"):
        raise Conflict(
            f"{path} was changed less than {QUIET_MS // 1000} seconds ago.",
            "Its tool may be at work: wait a moment, then say it again.",
        )
