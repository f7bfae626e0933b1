"""Correct or delete one text of another tool, and take that back: each is first shown, backed up by the guard, and done
only to what was shown. Each is a moment of the guard too."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher

from store.base.clock import from_ms
from store.base.errors import Conflict, InvalidInput, NotFound
from store.config.configuration import Config
from store.guard import moments
from store.guard.database import (
    KeptVersions,
    file_number,
    has_kept_versions,
    keep_version,
    open_guard,
    version_content,
)
from store.guard.files import GuardedFile, PresentFile, UnreadableNow, read_guarded_file
from store.guard.moments import (
    TEXT_EDIT,
    GuardedChange,
    GuardMoment,
    find_last_edit,
    look_with_guard,
    settle_restores,
)
from store.guard.restoring import (
    DiffLine,
    FileRestore,
    GuardRestorePlan,
    begin_guard_restore,
    compare_lines,
    content_lines,
    end_guard_restore,
    plan_guard_restore,
    require_quiet_file,
    run_guard_restore,
    unchanged_error,
)
from store.guests.texts import (
    DELETED_COLUMN,
    ENGRAM_TOOL,
    TEXT_COLUMN,
    EngramCell,
    GuestText,
    NotEditable,
    cells_to_undo,
    correct_text,
    list_guest_files,
    read_guest_texts,
    read_markdown_texts,
    remove_index_link,
    remove_text,
    write_engram_cells,
)
from store.redaction import REDACTION_MARKER
from store.redaction.redactor import find_secrets, replace_findings
from store.sources.claude_code import MEMORY_INDEX
from store.sources.source import Machine

# A text as it is shown, with its secrets cut, and back: what a person makes of the shown form is written with the
# secrets that were cut, never with the cuts.

_SECRET_MARK = re.compile(re.escape(REDACTION_MARKER) + r"\w+\]")
_TEXT_PART = re.compile(rf"({_SECRET_MARK.pattern}|\s+)")
EDITOR_HINT = "Change the file itself in your editor, or leave them where they are."


def cut_secrets(text: str) -> str:
    """Return the text with each secret cut."""
    return replace_findings(text, find_secrets(text))


def restore_secrets(original: str, text: str) -> str:
    """Return what to write for `text`, which a person made of the shown form of `original`. Raise InvalidInput if
    it is not clear which secret a cut stands for, or the text has a secret of its own."""
    held = _cut_values(original)
    parts = _TEXT_PART.split(text)
    if any(_SECRET_MARK.fullmatch(part) for part in parts):
        parts = _fill_cuts(_TEXT_PART.split(cut_secrets(original)), parts, held)
    written = "".join(parts)
    known = [original[cut.start : cut.end] for cut in find_secrets(original)]
    for cut in find_secrets(written):
        value = written[cut.start : cut.end]
        if not any(value in one or one in value for one in known):
            raise InvalidInput(f"The new text holds a secret ({cut.label}).", "Leave it out: agents read this file.")
    return written


def _cut_values(original: str) -> list[str]:
    """Return what each cut of the shown form stands for, in order; a cut that the text itself has stands for itself."""
    secrets = {cut.start: original[cut.start : cut.end] for cut in find_secrets(original)}
    own = {found.start(): found[0] for found in _SECRET_MARK.finditer(original)}
    return [value for _, value in sorted((own | secrets).items())]


def _fill_cuts(old: list[str], new: list[str], held: list[str]) -> list[str]:
    """Put what the cuts stand for into the parts of a new text."""
    place = {
        at: number for number, at in enumerate(at for at, part in enumerate(old) if _SECRET_MARK.fullmatch(part))
    }
    found: dict[int, str] = {}
    for first, start, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        for at in range(size):
            if first + at in place and _word_before(old, first + at) == _word_before(new, start + at):
                found[start + at] = held[place[first + at]]
    for at, part in enumerate(new):
        if _SECRET_MARK.fullmatch(part) and at not in found:
            same = {held[number] for other, number in place.items() if old[other] == part}
            if len(same) != 1 or new.count(part) > old.count(part):
                raise InvalidInput(f"It is not clear what {part} stands for where it is now.", EDITOR_HINT)
            found[at] = same.pop()
    return [found.get(at, part) for at, part in enumerate(new)]


def _word_before(parts: list[str], place: int) -> str:
    return next((part for part in reversed(parts[:place]) if part.strip()), "")


GUEST_CONTEXT_LINES = 0  # lines around a change: it is one text, and is to be seen at once
_CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class GuestPlan:
    """What a change would do: to whole files, or to `cells` of the one database. `undoes` is the moment that it takes
    back, 0 for a new change."""

    files: tuple[FileRestore, ...]
    cells: tuple[EngramCell, ...] = ()
    undoes: int = 0

    def effect_on(self, one: FileRestore) -> str:
        """Return what becomes of a file."""
        return "rewritten" if self.cells else one.effect


def plan_guest_correction(config: Config, machine: Machine, now: int, one: GuestText, text: str) -> GuestPlan:
    """Return what gives a text other words; `text` is what a person made of its shown form. Raise InvalidInput,
    Conflict."""
    said = text.replace("\r\n", "\n").strip()
    if not said:
        raise InvalidInput("There is no text.", f"memoranda guest delete {one.short} deletes what is there.")
    if _CONTROL_CHARACTER.search(said):
        raise InvalidInput("The text has control characters.", "Leave them out.")
    if said == cut_secrets(one.text):
        raise InvalidInput("That is what it says.", "Give it other words.")
    new = restore_secrets(one.text, said)
    if one.tool == ENGRAM_TOOL:
        return _plan_in_database(config, machine, now, one, EngramCell(one.line, TEXT_COLUMN, one.text, new), new)
    return _plan_in_files(config, machine, now, one, lambda raw, here: correct_text(raw, here, new))


def plan_guest_deletion(config: Config, machine: Machine, now: int, one: GuestText) -> GuestPlan:
    """Return what deletes a text: with a file that is it the line of Claude Code's index that leads there; in Engram as
    Engram does, by the time of it. Raise Conflict."""
    if one.tool == ENGRAM_TOOL:
        at = from_ms(now)[:19].replace("T", " ")
        return _plan_in_database(config, machine, now, one, EngramCell(one.line, DELETED_COLUMN, None, at), "")
    return _plan_in_files(config, machine, now, one, remove_text)


def plan_guest_undo(config: Config, machine: Machine, now: int) -> GuestPlan:
    """Plan to undo the last change. Raise NotFound, or Conflict if the file changed again."""
    nothing = NotFound(
        "Nothing was changed here, or all of it was undone.", "memoranda guard list shows what changed."
    )
    if not has_kept_versions():
        raise nothing
    with open_guard(config) as kept:
        settle_restores(kept, now)
        moment = find_last_edit(kept)
        if moment is None:
            raise nothing
        first = moment.files[0]
        if first.file.is_database and first.before is not None and first.after is not None:
            cells = cells_to_undo(version_content(kept, first.before), version_content(kept, first.after))
            if not cells:
                raise nothing
            put = FileRestore(first, first.after, None, False, _compare_cells(cells))
            return GuestPlan((put,), cells, moment.number)
    plan = plan_guard_restore(config, machine, now, moment.number, context=GUEST_CONTEXT_LINES)
    if again := [one for one in plan.files if one.again]:
        raise Conflict(
            f"{again[0].change.file.path} changed again after {moment.name}; nothing was undone.",
            f"memoranda guard restore {moment.name} shows what would be lost, and asks.",
        )
    return GuestPlan(plan.files, (), moment.number)


def run_guest_plan(config: Config, machine: Machine, now: int, plan: GuestPlan) -> int:
    """Do what a plan says; return the number of the moment that it is. Raise Conflict where something is not as it was
    shown, was changed less than two seconds ago, or is locked: nothing is changed then."""
    if plan.cells:
        return _run_cell_plan(config, machine, now, plan)
    if any(one.change.file.is_database for one in plan.files):
        raise InvalidInput("Nothing would be changed.", "A database is changed a column at a time.")
    tool = plan.files[0].change.file.tool
    moment = GuardMoment(plan.undoes or TEXT_EDIT, tool, now, now, None, ())
    return run_guard_restore(config, machine, now, GuardRestorePlan(moment, plan.files))


# files


def _plan_in_files(
    config: Config, machine: Machine, now: int, one: GuestText, changed: Callable[[bytes, GuestText], bytes | None]
) -> GuestPlan:
    """Plan to change the file of a text, after a backup of what it has now."""
    file = GuardedFile(one.tool, one.path)
    with open_guard(config) as kept:
        settle_restores(kept, now)
        found, shown = _back_up(kept, config, machine, now, file)
        try:
            texts = read_markdown_texts(one.tool, one.path, found.raw)
        except NotEditable as error:
            raise unchanged_error(file, str(error)) from None
        here = next((other for other in texts if other.name == one.name), None)
        if here is None:
            raise unchanged_error(file, "the text changed since it was shown")
        wanted = changed(found.raw, here)
        files = [_plan_file_change(kept, file, shown, found.raw, wanted)]
        if wanted is None and one.tool == "claude-code":
            files += _plan_index_removal(kept, config, machine, now, one.path)
        return GuestPlan(tuple(files))


def _plan_index_removal(
    kept: KeptVersions, config: Config, machine: Machine, now: int, path: str
) -> list[FileRestore]:
    """Plan to take the line that leads to a file out of Claude Code's index."""
    folder, _, name = path.rpartition("/")
    index = GuardedFile("claude-code", f"{folder}/{MEMORY_INDEX}")
    if index not in list_guest_files(machine, (index.tool,)):
        return []
    try:
        found, shown = _back_up(kept, config, machine, now, index)
        wanted = remove_index_link(found.raw, name)
    except (Conflict, NotEditable):
        return []  # the line stays, and leads nowhere; the scan says so
    return [_plan_file_change(kept, index, shown, found.raw, wanted)] if wanted != found.raw else []


def _back_up(
    kept: KeptVersions, config: Config, machine: Machine, now: int, file: GuardedFile
) -> tuple[PresentFile, int]:
    """Keep what a file has now; return it and its version. Raise Conflict."""
    look_with_guard(kept, config, machine, now, databases=file.is_database)
    try:
        found = read_guarded_file(file)
    except UnreadableNow as error:
        raise unchanged_error(file, str(error)) from None
    if found is None:
        raise unchanged_error(file, "it is gone")
    with kept.connection:
        number = file_number(kept, file.tool, file.path)
        version = keep_version(kept, number, found.raw, found.mode)
        kept.connection.execute(
            "UPDATE files SET version = ?, stamp = ? WHERE id = ?", (version, found.stamp, number)
        )
    return found, version


def _plan_file_change(
    kept: KeptVersions, file: GuardedFile, shown: int, raw: bytes, wanted: bytes | None
) -> FileRestore:
    """Return the plan for one file: its version, and what it becomes."""
    number = file_number(kept, file.tool, file.path)
    difference = compare_lines(
        content_lines(file, raw), [] if wanted is None else content_lines(file, wanted), GUEST_CONTEXT_LINES
    )
    return FileRestore(GuardedChange(number, file, shown, shown), shown, wanted, False, tuple(difference))


# the database


def _plan_in_database(
    config: Config, machine: Machine, now: int, one: GuestText, cell: EngramCell, new: str
) -> GuestPlan:
    """Plan to change a column; a backup is taken when it is done, since the database may be at work."""
    file = GuardedFile(one.tool, one.path)
    here = next((other for other in read_guest_texts(file, []) if other.name == one.name), None)
    if here is None:
        raise unchanged_error(file, "the text changed since it was shown")
    old, lines = (cut_secrets(text).split("\n") if text else [] for text in (one.text, new))
    difference = tuple(compare_lines(old, lines, GUEST_CONTEXT_LINES))
    put = FileRestore(GuardedChange(0, file, None, None), None, None, False, difference)
    return GuestPlan((put,), (cell,))


def _compare_cells(cells: tuple[EngramCell, ...]) -> tuple[DiffLine, ...]:
    """Return the lines that differ between the cells before and after."""
    found = []
    for one in cells:
        if one.column == TEXT_COLUMN:
            before, after = (cut_secrets(text or "").split("\n") for text in (one.before, one.after))
            found += compare_lines(before, after, GUEST_CONTEXT_LINES)
        else:
            found.append(DiffLine("+", 0, f"observation {one.row}, which is not deleted any more"))
    return tuple(found)


def _run_cell_plan(config: Config, machine: Machine, now: int, plan: GuestPlan) -> int:
    """Change the columns of a database, and record it as a moment; return its number. Raise Conflict."""
    file = plan.files[0].change.file
    with open_guard(config) as kept:
        settle_restores(kept, now)
        require_quiet_file(kept, file.path, now)
        _, before = _back_up(kept, config, machine, now, file)
        number = file_number(kept, file.tool, file.path)
        moment = begin_guard_restore(kept, file.tool, now, plan.undoes or TEXT_EDIT, [(number, before, None)])
        try:
            write_engram_cells(file.path, plan.cells)
            moments.note_restored_database(kept, moment, number, file)
        except NotEditable as error:
            raise unchanged_error(file, str(error)) from None
        finally:
            end_guard_restore(kept, moment, now)
        return moment
