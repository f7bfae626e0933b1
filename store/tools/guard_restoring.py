"""Put back what changed: a moment, a file of it, or lines of it. Each restore is a moment too, and can be undone."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from difflib import SequenceMatcher
from hashlib import sha256
from typing import NamedTuple

import apsw

from store.base.errors import Conflict, InvalidInput, NotFound
from store.config.configuration import Config
from store.documents.files import (
    CHANGED_MEANWHILE,
    DocumentPath,
    Unreadable,
    create_file,
    decode_text,
    remove_file,
    replace_file,
)
from store.redaction import REDACTION_MARKER
from store.redaction.redactor import find_secrets
from store.text.display import home_path, visible
from store.tools import guard_moments
from store.tools.guard_database import (
    GUARD_COPY_PREFIX,
    LARGEST_GUARDED_FILE,
    GuardedFile,
    KeptVersions,
    is_version_erased,
    keep_version,
    open_guard,
    version_content,
)
from store.tools.guard_moments import (
    TEXT_EDIT,
    GuardedChange,
    GuardMoment,
    current_ms,
    find_changes,
    find_last_restore,
    get_moment,
    look_with_guard,
    settle_restores,
)
from store.tools.source import FoundMemory, Machine
from store.tools.source_import import get_source

# What a person sees of a change: lines with their numbers, and no secret.

DIFF_CONTEXT_LINES = 3  # lines around a change
ERASED_LINE = "(this version was erased with what was purged)"
LONGEST_DIFF = 20_000  # lines that are compared line by line


class DiffLine(NamedTuple):
    """A line of a difference: its `sign` ("-", "+", " " or "…" for lines left out), the number that it has `before`, 0
    where it was not there, and its text."""

    sign: str
    before: int
    text: str


class ShownChange(NamedTuple):
    """What becomes of a file, and the lines that differ."""

    path: str
    effect: str
    difference: Sequence[DiffLine]

    def describe(self, says: str = "") -> list[str]:
        """Return the file, what becomes of it as it `says`, and the lines that differ."""
        lines = [
            "       …" if one.sign == "…" else f"  {one.sign} {one.before or '':>4} {visible(one.text)}".rstrip()
            for one in self.difference
        ]
        return [f"{home_path(self.path)}  {says}{self.effect}", *lines]

    def as_dict(self) -> dict[str, object]:
        return {"path": self.path, "change": self.effect, "lines": list(map(list, self.difference))}


def preview_changes(several: Sequence[ShownChange]) -> list[str]:
    """Return what would become of files, each with an empty line after it."""
    return [line for one in several for line in (*one.describe("would be "), "")]


def show_change(kept: KeptVersions, one: GuardedChange) -> ShownChange:
    """Return what became of a file, with what differs between its versions before and after."""
    before, after = (version_lines(kept, one.file, at) for at in (one.before, one.after))
    return ShownChange(one.file.path, one.effect, compare_lines(before, after))


def version_lines(kept: KeptVersions, file: GuardedFile, version: int | None) -> list[str]:
    """Return the lines of a version without secrets; of a database the lines of its memories. No version has no
    lines."""
    if version is None:
        return []
    return (
        [ERASED_LINE] if is_version_erased(kept, version) else content_lines(file, version_content(kept, version))
    )


def content_lines(file: GuardedFile, raw: bytes) -> list[str]:
    """Return the lines of a file's content without secrets; of a database the lines of its memories."""
    if file.is_database:
        return _lines_without_secrets("\n".join(_database_lines(file, raw)))
    try:
        return _lines_without_secrets(decode_text(raw)[0])
    except Unreadable:
        return [f"{len(raw):,} bytes that are no text"]


def compare_lines(
    before: Sequence[str], after: Sequence[str], context: int = DIFF_CONTEXT_LINES
) -> list[DiffLine]:
    """Return what differs, with `context` lines around it."""
    found: list[DiffLine] = []
    if max(len(before), len(after)) > LONGEST_DIFF:
        kept, new = set(before), set(after)
        found = [DiffLine("-", number, line) for number, line in enumerate(before, 1) if line not in new]
        return [*found, *(DiffLine("+", 0, line) for line in after if line not in kept)]
    last = 0
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(context):
        if group[0][1] > last:
            found.append(DiffLine("…", 0, ""))
        last = group[-1][2]
        for kind, first, end, start, stop in group:
            if kind == "equal":
                found += [DiffLine(" ", number + 1, before[number]) for number in range(first, end)]
                continue
            found += [DiffLine("-", number + 1, before[number]) for number in range(first, end)]
            found += [DiffLine("+", 0, line) for line in after[start:stop]]
    if found and last < len(before):
        found.append(DiffLine("…", 0, ""))
    return found


def _lines_without_secrets(text: str) -> list[str]:
    """Return the lines of a text with each secret replaced; there are as many as before."""
    parts, last = [], 0
    for cut in find_secrets(text):
        parts += [
            text[last : cut.start],
            f"{REDACTION_MARKER}{cut.label}]",
            "\n" * text.count("\n", cut.start, cut.end),
        ]
        last = cut.end
    lines = "".join([*parts, text[last:]]).split("\n")
    return [line.removesuffix("\r") for line in (lines[:-1] if not lines[-1] else lines)]


def _database_lines(file: GuardedFile, raw: bytes) -> Iterator[str]:
    """Yield the lines of the memories in a database, as the tool's reader reads them."""
    folder = tempfile.mkdtemp(prefix=GUARD_COPY_PREFIX)
    try:
        path = os.path.join(folder, os.path.basename(file.path))
        with open(path, "xb") as copy:
            copy.write(raw)
        for one in get_source(file.tool).read(path, []):
            if isinstance(one, FoundMemory):
                chosen = f"\n{one.decision.chosen}" if one.decision else ""
                yield from f"{one.id or one.line}: {one.text}{chosen}".split("\n")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# Put bytes where a guarded file is, if it still has those that a person was shown: the last step of a restore.

DATABASE_LOCKED = "it is locked: its tool is at work"
LOOK_AGAIN = "Nothing of it was changed. Look again: memoranda files keep"
LOG_ENDINGS = ("-wal", "-journal")


def swap_content(file: GuardedFile, shown: bytes | None, wanted: bytes | None, mode: int) -> None:
    """Replace the content `shown` of a file by the one that is `wanted`; None is no file. Raise Conflict where it has
    another one by now, or cannot be written; it is then unchanged."""
    folder, name = os.path.split(file.path)
    try:
        if os.path.realpath(folder) != folder:
            raise Unreadable("a folder on the way to it is a symbolic link now")
        if file.is_database and shown is not None and wanted is not None and _is_readable_database(file.path):
            _copy_into_database(file, shown, wanted)
            return
        if file.is_database and (left := [end for end in LOG_ENDINGS if os.path.lexists(file.path + end)]):
            raise Unreadable(f"its {left[0]} is still there, and belongs to other content")
        place = DocumentPath(folder, (name,), file.path)
        if wanted is None and shown is not None:
            remove_file(place, sha256(shown).digest(), LARGEST_GUARDED_FILE)
        elif shown is None and wanted is not None:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            create_file(place, wanted, mode)
        elif shown is not None and wanted is not None:
            replace_file(place, sha256(shown).digest(), wanted, max(LARGEST_GUARDED_FILE, len(shown)))
    except OSError as error:
        raise unchanged_error(file, (error.strerror or type(error).__name__).lower()) from None
    except Unreadable as error:
        raise unchanged_error(file, str(error)) from None


def unchanged_error(file: GuardedFile, why: str) -> Conflict:
    """Return the error that says why a file was not changed."""
    return Conflict(f"{file.path} was not changed: {why}.", LOOK_AGAIN)


def _is_readable_database(path: str) -> bool:
    """Tell whether SQLite can read a file; a damaged database is replaced like any other file."""
    with closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        try:
            connection.pragma("schema_version")
        except (apsw.NotADBError, apsw.CorruptError):
            return False
        except apsw.Error:
            pass  # locked, which is told below
    return True


def _copy_into_database(file: GuardedFile, shown: bytes, wanted: bytes) -> None:
    """Copy the pages of a kept version into a database, in one transaction of SQLite: programs that have it open see
    the one or the other. Raise Unreadable."""
    try:
        with (
            closing(apsw.Connection(file.path, flags=apsw.SQLITE_OPEN_READWRITE)) as target,
            closing(apsw.Connection(":memory:")) as source,
        ):
            target.set_busy_timeout(0)
            # its log is folded in
            source.deserialize("main", wanted[:18] + b"\1\1" + wanted[20:])
            target.execute("BEGIN EXCLUSIVE")
            # not by a handle of ours: closing one would drop SQLite's locks
            found = target.serialize("main")
            target.execute("ROLLBACK")
            if found != shown:
                raise Unreadable(CHANGED_MEANWHILE)
            with target.backup("main", source, "main") as copying:
                copying.step()
                if not copying.done:
                    raise Unreadable(DATABASE_LOCKED)
    except (apsw.BusyError, apsw.LockedError):
        raise Unreadable(DATABASE_LOCKED) from None
    except apsw.Error as error:
        raise Unreadable(f"SQLite refused ({type(error).__name__})") from None


_TARGET = re.compile(r"(?P<name>.+):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?")
# since the last change of a file, before it is replaced
RESTORE_QUIET_MS = 2_000
NEW_FILE_MODE = 0o600  # of a file that lines are put into and that is gone


class FileRestore(NamedTuple):
    """One file of a plan: the version `shown`, which it has now, and `wanted`, what it becomes; None is no file.
    `again` is whether it changed after the moment that is put back, `difference` what would change."""

    change: GuardedChange
    shown: int | None
    wanted: bytes | None
    again: bool
    difference: tuple[DiffLine, ...]

    @property
    def effect(self) -> str:
        """What becomes of the file: removed, put back or rewritten."""
        return "removed" if self.wanted is None else "put back" if self.shown is None else "rewritten"

    def show(self, effect: str = "") -> ShownChange:
        """Return what would become of the file, or, where it is another, the `effect`."""
        return ShownChange(self.change.file.path, effect or self.effect, self.difference)


class GuardRestorePlan(NamedTuple):
    """What a restore would do; `stay` are files that it leaves as they are, each with the reason."""

    moment: GuardMoment
    files: tuple[FileRestore, ...]
    stay: tuple[tuple[str, str], ...] = ()

    @property
    def stay_lines(self) -> list[str]:
        """Why each file that stays does."""
        return [f"{home_path(path)} stays: {why}." for path, why in self.stay]

    def preview(self) -> list[str]:
        """Return what would become of the files, and which stay."""
        again = f", which changed again after {self.moment.name}"
        shown = [one.show(f"{one.effect}{again if one.again else ''}") for one in self.files]
        return [*preview_changes(shown), *self.stay_lines]

    def as_dict(self) -> dict[str, object]:
        return {
            "moment": self.moment.name,
            "restored": None,
            "files": [one.show().as_dict() | {"again": one.again} for one in self.files],
            "stay": [{"path": path, "why": why} for path, why in self.stay],
        }


class RestoredLines(NamedTuple):
    """Lines of a file as it was before a moment, counted from 1."""

    first: int
    last: int


def parse_restore_target(text: str) -> tuple[str, RestoredLines | None]:
    """Parse `FILE`, `FILE:3` or `FILE:3-8` to a name and lines."""
    found = _TARGET.fullmatch(text)
    if found is None:
        return text, None
    return found["name"], RestoredLines(int(found["first"]), int(found["last"] or found["first"]))


def plan_guard_restore(
    config: Config,
    machine: Machine,
    now: int,
    number: int | None = None,
    name: str = "",
    lines: RestoredLines | None = None,
    context: int = DIFF_CONTEXT_LINES,
) -> GuardRestorePlan:
    """Return what puts back a moment, or only the file of it that is called `name`, or only `lines` of that; without a
    number what undoes the last restore. Differences have `context` lines around them. All files are looked at first, so
    that what is there now is kept. Raise NotFound, InvalidInput."""
    with open_guard(config) as kept:
        settle_restores(kept, now)
        look_with_guard(kept, config, machine, now)
        moment = find_last_restore(kept) if number is None else get_moment(kept, number)
        chosen = find_changes(moment, name)
        found, stay = list[FileRestore](), list[tuple[str, str]]()
        for one in chosen:
            current = kept.query_row("SELECT version FROM files WHERE id = ?", (one.number,))
            shown = current[0] if current else None
            if one.file.is_database and one.before is None and shown is not None:
                stay.append((one.file.path, "a database is never deleted"))
                continue
            if not name and any(
                version is not None and is_version_erased(kept, version) for version in (one.before, shown)
            ):
                stay.append((one.file.path, "its version was erased with what was purged"))
                continue
            put = _plan_file(kept, one, shown, lines, context)
            if put is not None:
                found.append(put)
        return GuardRestorePlan(moment, tuple(found), tuple(stay))


def run_guard_restore(config: Config, machine: Machine, now: int, chosen: GuardRestorePlan) -> int:
    """Do what a plan says; return the number of the moment that it is. Raise Conflict where a file is not as it was
    shown, was changed less than two seconds ago, or is locked: nothing is changed then."""
    with open_guard(config) as kept:
        settle_restores(kept, now)
        look_with_guard(kept, config, machine, now, any(one.change.file.is_database for one in chosen.files))
        for one in chosen.files:
            current = kept.query_row("SELECT version FROM files WHERE id = ?", (one.change.number,))
            if (current[0] if current else None) != one.shown:
                raise unchanged_error(one.change.file, "it changed since it was shown")
        for one in chosen.files:
            require_quiet_file(kept, one.change.file.path, now)
        moment = _begin_plan(kept, chosen, now)
        done = 0
        try:
            for one in chosen.files:
                before = None if one.shown is None else version_content(kept, one.shown)
                swap_content(one.change.file, before, one.wanted, _file_mode(kept, one.change.before))
                done += 1
                if one.change.file.is_database:
                    guard_moments.note_restored_database(kept, moment, one.change.number, one.change.file)
        except Conflict as error:
            if done:
                undo = (
                    "memoranda files undo" if chosen.moment.number == TEXT_EDIT else "memoranda files undo restore"
                )
                error.next = f"{done} of {len(chosen.files)} files are changed; {undo} takes that back."
            raise
        finally:
            end_guard_restore(kept, moment, now)
        return moment


def _plan_file(
    kept: KeptVersions, one: GuardedChange, shown: int | None, lines: RestoredLines | None, context: int
) -> FileRestore | None:
    """Return how one file is put back; None if it is as it was."""
    before = None if one.before is None else version_content(kept, one.before)
    now = None if shown is None else version_content(kept, shown)
    wanted = before
    if lines is not None:
        if one.file.is_database:
            raise InvalidInput("A database has no lines.", "Put the whole file back.")
        if before is None:
            raise NotFound("The file was not there before.", "Put the moment back without a line: it goes again.")
        wanted = put_back_lines(before, now or b"", lines)
    if wanted == now:
        return None
    difference = compare_lines(
        version_lines(kept, one.file, shown),
        [] if wanted is None else content_lines(one.file, wanted),
        context,
    )
    return FileRestore(one, shown, wanted, shown != one.after, tuple(difference))


def put_back_lines(before: bytes, now: bytes, lines: RestoredLines) -> bytes:
    """Return the content `now` with these lines of the one `before`, where they were. A line that was reworded is
    replaced, if it is clear by which; else the new ones stay beside it. Raise InvalidInput."""
    old, new = before.split(b"\n"), now.split(b"\n")
    last = len(old) - (not old[-1])
    if not 1 <= lines.first <= lines.last <= last:
        raise InvalidInput(f"The file had {last:,} lines before.", "memoranda files versions numbers them.")
    if max(len(old), len(new)) > LONGEST_DIFF:
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


def _begin_plan(kept: KeptVersions, chosen: GuardRestorePlan, now: int) -> int:
    """Keep the versions that a plan needs, and note that it begins; return the moment's number."""
    changes = list[tuple[int, int | None, int | None]]()
    with kept.connection:
        for one in chosen.files:
            number, mode = one.change.number, _file_mode(kept, one.change.before)
            after = None if one.wanted is None else keep_version(kept, number, one.wanted, mode)
            changes.append((number, one.shown, after))
    return begin_guard_restore(kept, chosen.moment.tool, now, chosen.moment.number, changes)


def begin_guard_restore(
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


def end_guard_restore(kept: KeptVersions, moment: int, now: int) -> None:
    """Note what became of a moment that was begun: files changed now were changed by us, and the person was told."""
    settle_restores(kept, now)
    kept.set_value("restored", current_ms())
    kept.set_value("told", max(moment, kept.get_number("told")))


def _file_mode(kept: KeptVersions, version: int | None) -> int:
    """Return the mode of a version; that of a new file if it is unknown."""
    found = kept.query_row("SELECT mode FROM versions WHERE id = ?", (version,))
    return int(found[0]) if found else NEW_FILE_MODE


def require_quiet_file(kept: KeptVersions, path: str, now: int) -> None:
    """Raise Conflict for a file that, or where it is gone whose folder, was changed less than two seconds ago, and not
    by us."""
    try:
        at = os.lstat(path if os.path.lexists(path) else os.path.dirname(path)).st_mtime_ns // 1_000_000
    except OSError:
        return
    if abs(now - at) < RESTORE_QUIET_MS and at > kept.get_number("restored"):
        raise Conflict(
            f"{path} was changed less than {RESTORE_QUIET_MS // 1000} seconds ago.",
            "Its tool may be at work: wait a moment, then say it again.",
        )
