"""Moments: what changed together in the files of one tool, and which files those are."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from store.base.clock import format_local_time, from_ms, utc_now
from store.base.errors import Busy, InvalidInput, NotFound
from store.base.models import select_fields
from store.config.configuration import Config
from store.text.display import format_count
from store.tools.guard_database import (
    DATABASE_ENDINGS,
    GUARDED_SUFFIX,
    GuardedFile,
    KeptVersions,
    UnreadableNow,
    file_number,
    guarded_tool_title,
    is_same_content,
    keep_version,
    kept_bytes,
    list_guarded_files,
    list_watched_folders,
    nearest_folder,
    note_version,
    open_guard,
    prune_versions,
    read_guarded_file,
    stamp_guarded_file,
    tidy_guard_copies,
    unseal_path,
)
from store.tools.source import DATABASE_PARTS, Machine, ReadTrouble, Troubles

# One look at all guarded files: what changed since the last one is kept, and told in moments.

MOMENT_GAP_MS = 600_000  # between two changes of one moment


@dataclass(slots=True)
class LookResult:
    """What a look found: whether it was the `first` one, how many `files` there are and of how many `tools`, the bytes
    kept of them, the `moments` that are new, how many old ones were `dropped`, and what could not be read, or, without
    a path, what else a person should know."""

    first: bool = False
    files: int = 0
    tools: int = 0
    bytes: int = 0
    dropped: int = 0
    moments: list[int] = field(default_factory=list)
    troubles: Troubles = field(default_factory=list)

    def describe_files(self) -> str:
        """Return how many files there are, and of how many tools."""
        return f"{format_count(self.files, 'file')} of {format_count(self.tools, 'tool')}"

    def describe_first(self) -> str:
        """Return what the first look found."""
        if not self.files:
            return "No memory file of another tool was found on this machine."
        return f"Kept {self.describe_files()}. From now on every change is kept."

    def as_dict(self, moments: Sequence[GuardMoment]) -> dict[str, object]:
        return {
            **select_fields(self, "first", "files", "bytes"),
            "moments": [one.as_dict() for one in moments],
            "troubles": [one.as_dict() for one in self.troubles],
        }


class KnownFile(NamedTuple):
    """What is known of a file: its number, the stamp and the version that were seen last."""

    number: int
    file: GuardedFile
    stamp: str
    version: int | None


class FileDifference(NamedTuple):
    """A file that is not as it was: `raw` is None where it is gone; `at` is when, in milliseconds."""

    file: GuardedFile
    known: KnownFile | None
    raw: bytes | None
    mode: int
    stamp: str
    at: int


def look_at_files(config: Config, machine: Machine, now: int, databases: bool = True) -> LookResult:
    """Look at every guarded file, at the moment `now` in milliseconds; without `databases` these are left for another
    time. Raise as `database.opened` does."""
    tidy_guard_copies()
    with open_guard(config) as kept:
        settle_restores(kept, now)
        return look_with_guard(kept, config, machine, now, databases)


def look_with_guard(
    kept: KeptVersions, config: Config, machine: Machine, now: int, databases: bool = True
) -> LookResult:
    """Look with an open database; nothing may be pending."""
    found = LookResult(first=not kept.get_number("looked"))
    databases = databases or found.first
    seen = known_files(kept)
    here = {one.path: one for one in list_guarded_files(machine, config["guard.paths"])}
    wanted = here | {path: one.file for path, one in seen.items() if one.version is not None and path not in here}
    since, differences, touched = kept.get_number("looked"), list[FileDifference](), list[tuple[str, int]]()
    for path, file in wanted.items():
        if file.is_database and not databases:
            continue
        try:
            one = _find_difference(kept, file, seen.get(path), since, now)
        except UnreadableNow as error:
            found.troubles.append(ReadTrouble(path, 0, str(error)))
            continue
        if isinstance(one, FileDifference):
            differences.append(one)
        elif one:
            touched.append((one, seen[path].number))
    with kept.connection:
        _store_differences(kept, found, differences)
        kept.connection.executemany("UPDATE files SET stamp = ? WHERE id = ?", touched)
        if databases:
            kept.set_value("looked", now)
        found.dropped = prune_versions(kept, config["guard.days"], config["guard.megabytes"] << 20, now)
        found.bytes = kept_bytes(kept)
    if found.bytes > config["guard.megabytes"] << 20:
        says = (
            f"{found.bytes >> 20:,} MB are kept, more than guard.megabytes: the files of now and of the last day"
        )
        found.troubles.append(ReadTrouble("", 0, says))
    present_now = [one for one in wanted.values() if one.path in here]
    found.files, found.tools = len(present_now), len({one.tool for one in present_now})
    return found


def known_files(kept: KeptVersions) -> dict[str, KnownFile]:
    """Return every file that was seen once, by its path."""
    found = {}
    for number, tool, digest, sealed, last, version in kept.query(
        "SELECT id, tool, digest, path, stamp, version FROM files"
    ):
        path = unseal_path(kept, digest, sealed)
        found[path] = KnownFile(number, GuardedFile(tool, path), last, version)
    return found


def _find_difference(
    kept: KeptVersions, file: GuardedFile, before: KnownFile | None, since: int, now: int
) -> FileDifference | str:
    """Return how a file differs from what is known of it; if it does not, its new stamp, empty where that is the same.
    Raise NotNow."""
    seen = stamp_guarded_file(file)
    if before is not None and before.version is not None and seen == before.stamp:
        return ""
    found = read_guarded_file(file)
    if found is None:
        if before is None or before.version is None:
            return ""
        return FileDifference(file, before, None, 0, "", _removal_time(file.path, since, now))
    if before is not None and is_same_content(kept, before.version, found.raw):
        return found.stamp
    at = int(os.lstat(file.path).st_mtime_ns) // 1_000_000 if seen else now
    return FileDifference(file, before, found.raw, found.mode, found.stamp, at if since < at <= now else now)


def _removal_time(path: str, since: int, now: int) -> int:
    """Return when a file was removed, as its folder tells; `now` where it does not."""
    try:
        at = os.stat(nearest_folder(os.path.dirname(path))).st_mtime_ns // 1_000_000
    except OSError:
        return now
    return at if since < at <= now else now


def _store_differences(kept: KeptVersions, found: LookResult, differences: Sequence[FileDifference]) -> None:
    """Store the new versions; unless it is the first look, also record them as changes of moments."""
    for one in sorted(differences, key=lambda one: one.at):
        number = one.known.number if one.known else file_number(kept, one.file.tool, one.file.path)
        before = one.known.version if one.known else None
        after = None if one.raw is None else keep_version(kept, number, one.raw, one.mode)
        note_version(kept, number, after, one.stamp)
        if not found.first:
            moment = _find_moment(kept, one.file.tool, one.at)
            kept.connection.execute(
                "INSERT INTO changes(moment, file, before, after, at) VALUES (?, ?, ?, ?, ?)",
                (moment, number, before, after, one.at),
            )
            if moment not in found.moments:
                found.moments.append(moment)


def _find_moment(kept: KeptVersions, tool: str, at: int) -> int:
    """Return the moment that a change belongs to: the last one of its tool, if it was just before and nobody was told
    of it yet."""
    last = kept.query_row(
        "SELECT id, first_at, last_at FROM moments WHERE tool = ? AND restores IS NULL AND id > ? ORDER BY id DESC"
        " LIMIT 1",
        (tool, kept.get_number("told")),
    )
    if last and last[1] - MOMENT_GAP_MS <= at <= last[2] + MOMENT_GAP_MS:
        kept.connection.execute(
            "UPDATE moments SET first_at = min(first_at, ?), last_at = max(last_at, ?) WHERE id = ?",
            (at, at, last[0]),
        )
        return int(last[0])
    kept.connection.execute("INSERT INTO moments(tool, first_at, last_at) VALUES (?, ?, ?)", (tool, at, at))
    return kept.connection.last_insert_rowid()


def settle_restores(kept: KeptVersions, now: int) -> None:
    """Finish what a restore began: note which files it put back, and forget the rest of it. After a kill too."""
    for moment, _ in kept.query("SELECT id, tool FROM moments WHERE pending"):
        changes = kept.query(
            "SELECT c.id, c.file, c.after, f.tool, f.digest, f.path FROM changes c JOIN files f ON f.id = c.file"
            " WHERE c.moment = ?",
            (moment,),
        )
        with kept.connection:
            for change, number, after, tool, digest, sealed in changes:
                file = GuardedFile(tool, unseal_path(kept, digest, sealed))
                found, done = None, False
                try:
                    found = read_guarded_file(file)
                    done = is_same_content(kept, after, found.raw if found else None)
                except UnreadableNow:
                    pass  # the next look tells what became of it
                if done:
                    note_version(kept, number, after, found.stamp if found else "")
                else:
                    kept.connection.execute("DELETE FROM changes WHERE id = ?", (change,))
            kept.connection.execute(
                "UPDATE moments SET pending = 0, last_at = max(last_at, ?) WHERE id = ?", (now, moment)
            )
            kept.connection.execute(
                "DELETE FROM moments WHERE id = ? AND id NOT IN (SELECT moment FROM changes)", (moment,)
            )


def note_restored_database(kept: KeptVersions, moment: int, number: int, file: GuardedFile) -> None:
    """Note what a database became when a version was copied into it: its header is not the version's own."""
    try:
        found = read_guarded_file(file)
    except UnreadableNow:  # the next look tells it
        return
    if found is not None:
        with kept.connection:
            after = keep_version(kept, number, found.raw, found.mode)
            kept.connection.execute(
                "UPDATE changes SET after = ? WHERE moment = ? AND file = ?", (after, moment, number)
            )


def current_ms() -> int:
    """Return this moment in milliseconds, as files are stamped."""
    return time.time_ns() // 1_000_000


ADDED, REMOVED, REWRITTEN, PASSING = "added", "removed", "rewritten", "changed and changed back"
# as what a moment restores: it is a person's own change of a text
TEXT_EDIT = 0
# in the order of a sentence
EFFECT_ORDER = (REMOVED, REWRITTEN, ADDED, PASSING)
_SELECT_MOMENTS = "SELECT id, tool, first_at, last_at, restores FROM moments"


class GuardedChange(NamedTuple):
    """What became of one file in a moment: its versions `before` and `after`, None where there was no file."""

    number: int
    file: GuardedFile
    before: int | None
    after: int | None

    @property
    def effect(self) -> str:
        """What became of the file: added, removed, rewritten, or changed and changed back."""
        if self.before == self.after:
            return PASSING
        return ADDED if self.before is None else REMOVED if self.after is None else REWRITTEN


class GuardMoment(NamedTuple):
    """A moment; times are in milliseconds, `restores` is the one that it put back, or TEXT_EDIT."""

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
        return guarded_tool_title(self.tool)

    @property
    def is_edit(self) -> bool:
        """Whether a person corrected or deleted texts in it."""
        return self.restores == TEXT_EDIT

    @property
    def effect_counts(self) -> dict[str, int]:
        """How many files were removed, rewritten, added; without those that are none."""
        found = {what: sum(one.effect == what for one in self.files) for what in EFFECT_ORDER}
        return {what: number for what, number in found.items() if number}

    def describe(self) -> str:
        """Return the moment in a sentence, as in `M#3  23 files of …`."""
        number = len(self.files)
        many = format_count(number, "file")
        today = format_local_time(utc_now()).rpartition(" ")[0]
        first, last = (format_local_time(from_ms(at)) for at in (self.first_at, self.last_at))
        when = first.removeprefix(f"{today} ")
        last = last.removeprefix(f"{first.rpartition(' ')[0]} ") if last != first else ""
        when = f"between {when} and {last}" if last else f"at {when}"
        what = ", ".join(f"{n:,} {word}" if number > 1 else word for word, n in self.effect_counts.items())
        whose = self.title if self.title.startswith("your") else f"{self.title}'s memory"
        said = f"{many} of {whose} changed {when}"
        if self.restores is not None:
            said = f"You put {many} back to before M#{self.restores} {when}"
        if self.is_edit:
            said = f"You changed {many} of {self.title}'s memory {when}"
        return f"{self.name}  {said}: {what}"

    def as_dict(self) -> dict[str, object]:
        return {
            "moment": self.name,
            "tool": self.tool,
            "first_at": from_ms(self.first_at),
            "last_at": from_ms(self.last_at),
            "edited": self.is_edit,
            "restores": f"M#{self.restores}" if self.restores else None,
            "files": [{"path": one.file.path, "change": one.effect} for one in self.files],
        }


def parse_moment_number(text: str) -> int:
    """Parse `M#3`, `M3` or `3`. Raise InvalidInput."""
    number = text.upper().removeprefix("M").removeprefix("#")
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        raise InvalidInput("That is no moment.", "They are called M#3; memoranda files versions shows them.")
    return int(number)


def recent_moments(kept: KeptVersions, limit: int) -> list[GuardMoment]:
    """List moments, the newest first."""
    rows = kept.query(f"{_SELECT_MOMENTS} WHERE NOT pending ORDER BY last_at DESC, id DESC LIMIT ?", (limit,))
    return [_read_moment(kept, row) for row in rows]


def untold_moments(kept: KeptVersions) -> list[GuardMoment]:
    """List the moments that the person was not told of yet, the oldest first."""
    rows = kept.query(
        f"{_SELECT_MOMENTS} WHERE NOT pending AND id > ? ORDER BY last_at, id", (kept.get_number("told"),)
    )
    return [_read_moment(kept, row) for row in rows]


def get_moment(kept: KeptVersions, number: int) -> GuardMoment:
    """Return a moment. Raise NotFound."""
    row = kept.query_row(f"{_SELECT_MOMENTS} WHERE id = ?", (number,))
    if row is None:
        raise NotFound(f"There is no moment M#{number}.", "memoranda files versions shows those that are kept.")
    return _read_moment(kept, row)


def find_last_restore(kept: KeptVersions) -> GuardMoment:
    """Return the last restore that was not taken back. Raise NotFound."""
    row = kept.query_row(
        "SELECT id FROM moments m WHERE restores > 0 AND NOT pending"
        " AND NOT EXISTS (SELECT 1 FROM moments o WHERE o.restores = m.id)"
        " AND NOT EXISTS (SELECT 1 FROM moments o WHERE o.id = m.restores AND o.restores IS NOT NULL)"
        " ORDER BY id DESC LIMIT 1"
    )
    if row is None:
        raise NotFound(
            "Nothing was put back, or all of it was undone.", "memoranda files versions shows what changed."
        )
    return get_moment(kept, int(row[0]))


def find_last_edit(kept: KeptVersions) -> GuardMoment | None:
    """Return the last change of a text that was not undone; None without one."""
    row = kept.query_row(
        "SELECT id FROM moments m WHERE restores = ? AND NOT pending"
        " AND NOT EXISTS (SELECT 1 FROM moments o WHERE o.restores = m.id) ORDER BY id DESC LIMIT 1",
        (TEXT_EDIT,),
    )
    return get_moment(kept, int(row[0])) if row else None


def find_changes(moment: GuardMoment, name: str) -> list[GuardedChange]:
    """Return the files of a moment with this path, or this end of one; all without a name. Raise NotFound or
    InvalidInput."""
    wanted = os.path.expanduser(name)
    found = [
        one for one in moment.files if not name or one.file.path == wanted or one.file.path.endswith(f"/{wanted}")
    ]
    if not found:
        raise NotFound(
            f"No such file changed in {moment.name}.", f"memoranda files versions {moment.name} names them."
        )
    if name and len(found) > 1:
        raise InvalidInput(
            "Several files are called so.", f"Name one of: {', '.join(one.file.path for one in found)}"
        )
    return found


def mark_told(kept: KeptVersions, several: Sequence[GuardMoment]) -> None:
    """Note that the person was told of these moments: what changes from now on is another moment."""
    newest = max((one.number for one in several), default=0)
    if newest > kept.get_number("told"):
        with kept.connection:
            kept.set_value("told", newest)


def _read_moment(kept: KeptVersions, row: tuple[Any, ...]) -> GuardMoment:
    """Return the moment of a row, with the files that changed in it."""
    found: dict[int, GuardedChange] = {}
    for number, tool, digest, sealed, before, after in kept.query(
        "SELECT f.id, f.tool, f.digest, f.path, c.before, c.after FROM changes c JOIN files f ON f.id = c.file"
        " WHERE c.moment = ? ORDER BY c.id",
        (row[0],),
    ):
        earlier = found.get(number)
        file = earlier.file if earlier else GuardedFile(tool, unseal_path(kept, digest, sealed))
        found[number] = GuardedChange(number, file, earlier.before if earlier else before, after)
    files = sorted(found.values(), key=lambda one: (EFFECT_ORDER.index(one.effect), one.file.path))
    number, tool, first, last, restores = row
    return GuardMoment(number, tool, first, last, restores, tuple(files))


# Look whenever a guarded file changes. Only folders are watched, one by one: a whole tree would lead through links.

GATHER_MS = 1_500  # longest time for which changes are collected
# … or until nothing changed for this long; stopping takes no longer either
WATCH_QUIET_MS = 250
# a look at all, databases too, which are copied to be read
LOOK_EVERY_SECONDS = 60.0
WATCHED_ENDINGS = (GUARDED_SUFFIX, *(f"{name}{part}" for name in DATABASE_ENDINGS for part in DATABASE_PARTS))


def watch_guarded_files(config: Config, machine: Machine, stop: threading.Event) -> Iterator[LookResult]:
    """Look now and after each change, until `stop` is set or the person interrupts; yield what each look found. Where
    watching does not work that is a trouble of one look, and the next ones are LOOK_EVERY_SECONDS apart. Raise as a
    look does."""
    while not stop.is_set():
        last = time.monotonic()
        yield _look_unless_busy(config, machine)
        places = list_watched_folders(machine, config["guard.paths"])
        fresh = True  # changes before the watching began cause no notification
        try:
            for changed in _watch_changes(places, config, machine, stop):
                if stop.is_set():
                    return
                due = time.monotonic() - last >= LOOK_EVERY_SECONDS
                if changed or due or fresh:
                    fresh = False
                    yield _look_unless_busy(config, machine, databases=due)
                    last = time.monotonic() if due else last
                    if list_watched_folders(machine, config["guard.paths"]) != places:
                        break
        except (
            OSError,
            RuntimeError,
            ValueError,
        ) as error:  # the system reports refusals as errors of several kinds
            why = (
                "the files cannot be watched, and are looked at every "
                f"{LOOK_EVERY_SECONDS:g} s ({type(error).__name__})"
            )
            yield LookResult(troubles=[ReadTrouble("", 0, why)])
            while not stop.wait(LOOK_EVERY_SECONDS):
                yield _look_unless_busy(config, machine)


def _watch_changes(places: list[str], config: Config, machine: Machine, stop: threading.Event) -> Iterator[bool]:
    """Yield whether something may have changed, each time that it did or that nothing happened for a while."""
    from watchfiles import watch

    known = {one.path for one in list_guarded_files(machine, config["guard.paths"])}

    def wanted(_: object, path: str) -> bool:
        name = os.path.basename(path)
        return path in known or name.endswith(WATCHED_ENDINGS) or "." not in name

    for changes in watch(
        *places,
        watch_filter=wanted,
        debounce=GATHER_MS,
        step=WATCH_QUIET_MS,
        stop_event=stop,
        rust_timeout=2 * WATCH_QUIET_MS,
        yield_on_timeout=True,
        raise_interrupt=True,
        recursive=False,
        ignore_permission_denied=True,
    ):
        yield bool(changes)


def _look_unless_busy(config: Config, machine: Machine, databases: bool = True) -> LookResult:
    """Look at all files; return an empty result if another process is looking."""
    try:
        return look_at_files(config, machine, current_ms(), databases)
    except Busy:
        # another process looks, and the next change or minute is looked at here
        return LookResult()
