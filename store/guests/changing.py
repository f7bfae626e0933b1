"""Correct or delete one text of another tool, and take that back: each is first shown, backed up by the guard, and done
only to what was shown. Each is a moment of the guard too."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from store.base.clock import from_ms
from store.base.errors import Conflict, InvalidInput, NotFound
from store.config.configuration import Config
from store.guard import comparing, database, looking, moments, restoring, versions
from store.guard.comparing import DiffLine
from store.guard.database import KeptVersions
from store.guard.files import Guarded, NotNow, Present, present
from store.guard.moments import EDIT, GuardedChange, Moment
from store.guard.restoring import PutBack, RestorePlan
from store.guard.swapping import refused
from store.guests import engram, listing, markdown, secrets
from store.guests.engram import Cell
from store.guests.guest_text import GuestText, NotEditable
from store.sources.readers.claude_code import INDEX
from store.sources.source import Machine

CONTEXT = 0  # lines around a change: it is one text, and is to be seen at once
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class GuestPlan:
    """What a change would do: to whole files, or to `cells` of the one database. `undoes` is the moment that it takes
    back, 0 for a new change."""

    files: tuple[PutBack, ...]
    cells: tuple[Cell, ...] = ()
    undoes: int = 0

    def what(self, one: PutBack) -> str:
        """Return what becomes of a file."""
        return "rewritten" if self.cells else one.what


def plan_correction(config: Config, machine: Machine, now: int, one: GuestText, text: str) -> GuestPlan:
    """Return what gives a text other words; `text` is what a person made of its shown form. Raise InvalidInput,
    Conflict."""
    said = text.replace("\r\n", "\n").strip()
    if not said:
        raise InvalidInput("There is no text.", f"memoranda guest delete {one.short} deletes what is there.")
    if _CONTROL.search(said):
        raise InvalidInput("The text has control characters.", "Leave them out.")
    if said == secrets.shown(one.text):
        raise InvalidInput("That is what it says.", "Give it other words.")
    new = secrets.restored(one.text, said)
    if one.tool == engram.TOOL:
        return _in_database(config, machine, now, one, Cell(one.line, engram.TEXT, one.text, new), new)
    return _in_files(config, machine, now, one, lambda raw, here: markdown.corrected(raw, here, new))


def plan_deletion(config: Config, machine: Machine, now: int, one: GuestText) -> GuestPlan:
    """Return what deletes a text: with a file that is it the line of Claude Code's index that leads there; in Engram as
    Engram does, by the time of it. Raise Conflict."""
    if one.tool == engram.TOOL:
        at = from_ms(now)[:19].replace("T", " ")
        return _in_database(config, machine, now, one, Cell(one.line, engram.DELETED, None, at), "")
    return _in_files(config, machine, now, one, markdown.without)


def plan_undo(config: Config, machine: Machine, now: int) -> GuestPlan:
    """Return what takes the last change back. Raise NotFound, Conflict where the file changed again."""
    nothing = NotFound("Nothing was changed here, or all of it was undone.", "memoranda guard list shows what changed.")
    if not database.there():
        raise nothing
    with database.opened(config) as kept:
        looking.settle(kept, now)
        moment = moments.last_edit(kept)
        if moment is None:
            raise nothing
        first = moment.files[0]
        if first.file.database and first.before is not None and first.after is not None:
            cells = engram.undoing(versions.content(kept, first.before), versions.content(kept, first.after))
            if not cells:
                raise nothing
            put = PutBack(first, first.after, None, False, _cells_difference(cells))
            return GuestPlan((put,), cells, moment.number)
    plan = restoring.plan(config, machine, now, moment.number, context=CONTEXT)
    if again := [one for one in plan.files if one.again]:
        raise Conflict(
            f"{again[0].change.file.path} changed again after {moment.name}; nothing was undone.",
            f"memoranda guard restore {moment.name} shows what would be lost, and asks.",
        )
    return GuestPlan(plan.files, (), moment.number)


def run(config: Config, machine: Machine, now: int, plan: GuestPlan) -> int:
    """Do what a plan says; return the number of the moment that it is. Raise Conflict where something is not as it was
    shown, was changed less than two seconds ago, or is locked: nothing is changed then."""
    if plan.cells:
        return _change_cells(config, machine, now, plan)
    if any(one.change.file.database for one in plan.files):
        raise InvalidInput("Nothing would be changed.", "A database is changed a column at a time.")
    tool = plan.files[0].change.file.tool
    moment = Moment(plan.undoes or EDIT, tool, now, now, None, ())
    return restoring.run(config, machine, now, RestorePlan(moment, plan.files))


# files


def _in_files(
    config: Config, machine: Machine, now: int, one: GuestText, changed: Callable[[bytes, GuestText], bytes | None]
) -> GuestPlan:
    """Plan to change the file of a text, after a backup of what it has now."""
    file = Guarded(one.tool, one.path)
    with database.opened(config) as kept:
        looking.settle(kept, now)
        found, shown = _backed_up(kept, config, machine, now, file)
        try:
            texts = markdown.read(one.tool, one.path, found.raw)
        except NotEditable as error:
            raise refused(file, str(error)) from None
        here = next((other for other in texts if other.name == one.name), None)
        if here is None:
            raise refused(file, "the text changed since it was shown")
        wanted = changed(found.raw, here)
        files = [_put(kept, file, shown, found.raw, wanted)]
        if wanted is None and one.tool == "claude-code":
            files += _index_without(kept, config, machine, now, one.path)
        return GuestPlan(tuple(files))


def _index_without(kept: KeptVersions, config: Config, machine: Machine, now: int, path: str) -> list[PutBack]:
    """Plan to take the line that leads to a file out of Claude Code's index."""
    folder, _, name = path.rpartition("/")
    index = Guarded("claude-code", f"{folder}/{INDEX}")
    if index not in listing.guest_files(machine, (index.tool,)):
        return []
    try:
        found, shown = _backed_up(kept, config, machine, now, index)
        wanted = markdown.unlisted(found.raw, name)
    except (Conflict, NotEditable):
        return []  # the line stays, and leads nowhere; the scan says so
    return [_put(kept, index, shown, found.raw, wanted)] if wanted != found.raw else []


def _backed_up(kept: KeptVersions, config: Config, machine: Machine, now: int, file: Guarded) -> tuple[Present, int]:
    """Keep what a file has now; return it and its version. Raise Conflict."""
    looking.look_with(kept, config, machine, now, databases=file.database)
    try:
        found = present(file)
    except NotNow as error:
        raise refused(file, str(error)) from None
    if found is None:
        raise refused(file, "it is gone")
    with kept.connection:
        number = versions.file_of(kept, file.tool, file.path)
        version = versions.keep(kept, number, found.raw, found.mode)
        kept.connection.execute("UPDATE files SET version = ?, stamp = ? WHERE id = ?", (version, found.stamp, number))
    return found, version


def _put(kept: KeptVersions, file: Guarded, shown: int, raw: bytes, wanted: bytes | None) -> PutBack:
    number = versions.file_of(kept, file.tool, file.path)
    difference = comparing.difference(
        comparing.lines_in(file, raw), [] if wanted is None else comparing.lines_in(file, wanted), CONTEXT
    )
    return PutBack(GuardedChange(number, file, shown, shown), shown, wanted, False, tuple(difference))


# the database


def _in_database(config: Config, machine: Machine, now: int, one: GuestText, cell: Cell, new: str) -> GuestPlan:
    """Plan to change a column; a backup is taken when it is done, since the database may be at work."""
    file = Guarded(one.tool, one.path)
    here = next((other for other in listing.texts_of(file, []) if other.name == one.name), None)
    if here is None:
        raise refused(file, "the text changed since it was shown")
    old, lines = (secrets.shown(text).split("\n") if text else [] for text in (one.text, new))
    difference = tuple(comparing.difference(old, lines, CONTEXT))
    put = PutBack(GuardedChange(0, file, None, None), None, None, False, difference)
    return GuestPlan((put,), (cell,))


def _cells_difference(cells: tuple[Cell, ...]) -> tuple[DiffLine, ...]:
    found = []
    for one in cells:
        if one.column == engram.TEXT:
            before, after = (secrets.shown(text or "").split("\n") for text in (one.before, one.after))
            found += comparing.difference(before, after, CONTEXT)
        else:
            found.append(DiffLine("+", 0, f"observation {one.row}, which is not deleted any more"))
    return tuple(found)


def _change_cells(config: Config, machine: Machine, now: int, plan: GuestPlan) -> int:
    file = plan.files[0].change.file
    with database.opened(config) as kept:
        looking.settle(kept, now)
        restoring.require_quiet(kept, file.path, now)
        _, before = _backed_up(kept, config, machine, now, file)
        number = versions.file_of(kept, file.tool, file.path)
        moment = restoring.begun(kept, file.tool, now, plan.undoes or EDIT, [(number, before, None)])
        try:
            engram.write(file.path, plan.cells)
            looking.note_database(kept, moment, number, file)
        except NotEditable as error:
            raise refused(file, str(error)) from None
        finally:
            restoring.ended(kept, moment, now)
        return moment
