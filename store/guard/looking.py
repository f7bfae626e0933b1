"""One look at all guarded files: what changed since the last one is kept, and told in moments."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from store.config.configuration import Config
from store.guard import files, versions
from store.guard.database import KeptVersions, opened
from store.guard.files import Guarded, NotNow, present, stamp
from store.sources.source import Machine, Trouble

GAP_MS = 600_000  # between two changes of one moment


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
    troubles: list[Trouble] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What is known of a file: its number, the stamp and the version that were seen last."""

    number: int
    file: Guarded
    stamp: str
    version: int | None


@dataclass(frozen=True, slots=True)
class Difference:
    """A file that is not as it was: `raw` is None where it is gone; `at` is when, in milliseconds."""

    file: Guarded
    known: KnownFile | None
    raw: bytes | None
    mode: int
    stamp: str
    at: int


def look(config: Config, machine: Machine, now: int, databases: bool = True) -> LookResult:
    """Look at every guarded file, at the moment `now` in milliseconds; without `databases` these are left for another
    time. Raise as `database.opened` does."""
    files.tidy()
    with opened(config) as kept:
        settle(kept, now)
        return look_with(kept, config, machine, now, databases)


def look_with(kept: KeptVersions, config: Config, machine: Machine, now: int, databases: bool = True) -> LookResult:
    """Look with an open database; nothing may be pending."""
    found = LookResult(first=not kept.get("looked"))
    databases = databases or found.first
    seen = known(kept)
    here = {one.path: one for one in files.guarded(machine, config["guard.paths"])}
    wanted = here | {path: one.file for path, one in seen.items() if one.version is not None and path not in here}
    since, differences, touched = kept.get("looked"), list[Difference](), list[tuple[str, int]]()
    for path, file in wanted.items():
        if file.database and not databases:
            continue
        try:
            one = _difference(kept, file, seen.get(path), since, now)
        except NotNow as error:
            found.troubles.append(Trouble(path, 0, str(error)))
            continue
        if isinstance(one, Difference):
            differences.append(one)
        elif one:
            touched.append((one, seen[path].number))
    with kept.connection:
        _write(kept, found, differences)
        kept.connection.executemany("UPDATE files SET stamp = ? WHERE id = ?", touched)
        if databases:
            kept.put("looked", now)
        found.dropped = versions.prune(kept, config["guard.days"], config["guard.megabytes"] << 20, now)
        found.bytes = versions.size(kept)
    if found.bytes > config["guard.megabytes"] << 20:
        says = f"{found.bytes >> 20:,} MB are kept, more than guard.megabytes: the files of now and of the last day"
        found.troubles.append(Trouble("", 0, says))
    present_now = [one for one in wanted.values() if one.path in here]
    found.files, found.tools = len(present_now), len({one.tool for one in present_now})
    return found


def known(kept: KeptVersions) -> dict[str, KnownFile]:
    """Return every file that was seen once, by its path."""
    found = {}
    for number, tool, digest, sealed, last, version in kept.rows(
        "SELECT id, tool, digest, path, stamp, version FROM files"
    ):
        path = versions.path_of(kept, digest, sealed)
        found[path] = KnownFile(number, Guarded(tool, path), last, version)
    return found


def _difference(kept: KeptVersions, file: Guarded, before: KnownFile | None, since: int, now: int) -> Difference | str:
    """Return how a file differs from what is known of it; if it does not, its new stamp, empty where that is the same.
    Raise NotNow."""
    seen = stamp(file)
    if before is not None and before.version is not None and seen == before.stamp:
        return ""
    found = present(file)
    if found is None:
        if before is None or before.version is None:
            return ""
        return Difference(file, before, None, 0, "", _gone_at(file.path, since, now))
    if before is not None and versions.same(kept, before.version, found.raw):
        return found.stamp
    at = int(os.lstat(file.path).st_mtime_ns) // 1_000_000 if seen else now
    return Difference(file, before, found.raw, found.mode, found.stamp, at if since < at <= now else now)


def _gone_at(path: str, since: int, now: int) -> int:
    """Return when a file was removed, as its folder tells; `now` where it does not."""
    folder = os.path.dirname(path)
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    try:
        at = os.stat(folder).st_mtime_ns // 1_000_000
    except OSError:
        return now
    return at if since < at <= now else now


def _write(kept: KeptVersions, found: LookResult, differences: Sequence[Difference]) -> None:
    """Store the new versions; of all but the first look tell them in moments."""
    for one in sorted(differences, key=lambda one: one.at):
        number = one.known.number if one.known else versions.file_of(kept, one.file.tool, one.file.path)
        before = one.known.version if one.known else None
        after = None if one.raw is None else versions.keep(kept, number, one.raw, one.mode)
        kept.connection.execute("UPDATE files SET version = ?, stamp = ? WHERE id = ?", (after, one.stamp, number))
        if not found.first:
            moment = _moment(kept, one.file.tool, one.at)
            kept.connection.execute(
                "INSERT INTO changes(moment, file, before, after, at) VALUES (?, ?, ?, ?, ?)",
                (moment, number, before, after, one.at),
            )
            if moment not in found.moments:
                found.moments.append(moment)


def _moment(kept: KeptVersions, tool: str, at: int) -> int:
    """Return the moment that a change belongs to: the last one of its tool, if it was just before and nobody was told
    of it yet."""
    last = kept.row(
        "SELECT id, first_at, last_at FROM moments WHERE tool = ? AND restores IS NULL AND id > ? ORDER BY id DESC"
        " LIMIT 1",
        (tool, kept.get("told")),
    )
    if last and last[1] - GAP_MS <= at <= last[2] + GAP_MS:
        kept.connection.execute(
            "UPDATE moments SET first_at = min(first_at, ?), last_at = max(last_at, ?) WHERE id = ?", (at, at, last[0])
        )
        return int(last[0])
    kept.connection.execute("INSERT INTO moments(tool, first_at, last_at) VALUES (?, ?, ?)", (tool, at, at))
    return kept.connection.last_insert_rowid()


def settle(kept: KeptVersions, now: int) -> None:
    """Finish what a restore began: note which files it put back, and forget the rest of it. After a kill too."""
    for moment, _ in kept.rows("SELECT id, tool FROM moments WHERE pending"):
        changes = kept.rows(
            "SELECT c.id, c.file, c.after, f.tool, f.digest, f.path FROM changes c JOIN files f ON f.id = c.file"
            " WHERE c.moment = ?",
            (moment,),
        )
        with kept.connection:
            for change, number, after, tool, digest, sealed in changes:
                file = Guarded(tool, versions.path_of(kept, digest, sealed))
                found, done = None, False
                try:
                    found = present(file)
                    done = versions.same(kept, after, found.raw if found else None)
                except NotNow:
                    pass  # the next look tells what became of it
                if done:
                    kept.connection.execute(
                        "UPDATE files SET version = ?, stamp = ? WHERE id = ?",
                        (after, found.stamp if found else "", number),
                    )
                else:
                    kept.connection.execute("DELETE FROM changes WHERE id = ?", (change,))
            kept.connection.execute(
                "UPDATE moments SET pending = 0, last_at = max(last_at, ?) WHERE id = ?", (now, moment)
            )
            kept.connection.execute(
                "DELETE FROM moments WHERE id = ? AND id NOT IN (SELECT moment FROM changes)", (moment,)
            )


def note_database(kept: KeptVersions, moment: int, number: int, file: Guarded) -> None:
    """Note what a database became when a version was copied into it: its header is not the version's own."""
    try:
        found = present(file)
    except NotNow:  # the next look tells it
        return
    if found is not None:
        with kept.connection:
            after = versions.keep(kept, number, found.raw, found.mode)
            kept.connection.execute(
                "UPDATE changes SET after = ? WHERE moment = ? AND file = ?", (after, moment, number)
            )


def now_ms() -> int:
    """Return this moment in milliseconds, as files are stamped."""
    return time.time_ns() // 1_000_000
