"""Check where a memory is: permissions, file system, free space, and the files beside it.

Run before the file is opened, since opening it restricts permissions that were too wide. Nothing here opens a file.
"""

import os
import stat
import time
from collections.abc import Iterator

from store.base.location import FOLDER
from store.database.files import NETWORK, file_system
from store.database.writing import disk_reserve
from store.health.finding import NOTE, OK, WRONG, Finding, named

LITTLE = 16 << 20  # bytes of free space below which a warning is shown
NONE = 1 << 18  # bytes of free space with which no write can be relied on to succeed
CUT = 3_600  # seconds after which an unfinished file is abandoned


def look(path: str, closes: bool = True) -> Iterator[Finding]:
    """Yield all findings that need no opening of the memory at `path`; `closes`: opening it will restrict its
    permissions."""
    folder = os.path.dirname(path)
    yield from _private(path, folder, closes)
    yield from _disk(path, folder)
    yield from _ballast(path)
    yield from _beside(folder)


def _private(path: str, folder: str, closes: bool) -> Iterator[Finding]:
    own = os.path.basename(folder) == FOLDER
    wide = [name for name, status, most in _files(path, folder, own) if stat.S_IMODE(status.st_mode) & ~most & 0o777]
    foreign = [
        name
        for name, status, _ in _files(path, folder, own)
        if stat.S_ISLNK(status.st_mode) or (hasattr(os, "getuid") and status.st_uid != os.getuid())
    ]
    if foreign:
        says = f"Not a plain file of yours: {named(foreign)}."
        yield Finding("private", WRONG, says, "Move it away: only your own plain files are used.")
    tightened = [name for name in wide if closes and name in (folder, path)]
    others = [name for name in wide if name not in tightened and name not in foreign]
    if tightened:
        yield Finding("private", NOTE, f"Others could read {named(tightened)}, until now: opening it closed it.")
    if others:
        modes = "chmod go= " + " ".join(others[:3])
        yield Finding("private", WRONG, f"Others can read {named(others)}.", f"{modes} closes it to them.")
    if not wide and not foreign:
        yield Finding("private", OK, "Nobody else can read it.")


def _files(path: str, folder: str, own: bool) -> Iterator[tuple[str, os.stat_result, int]]:
    """Yield (name, status, the most that its mode may allow) of the memory and all that is kept beside it."""
    names = [path, f"{path}-wal", f"{path}-shm"]
    if own:
        yield folder, os.lstat(folder), 0o700
        names = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name != ".gitignore"]
    for name in names:
        try:
            status = os.lstat(name)
        except FileNotFoundError:
            continue
        yield name, status, 0o700 if stat.S_ISDIR(status.st_mode) else 0o600


def _disk(path: str, folder: str) -> Iterator[Finding]:
    kind = file_system(folder)
    if kind in NETWORK:
        says = f"It is on a network file system ({kind}), where SQLite cannot keep a memory safe."
        yield Finding("disk", WRONG, says, "Move it to a local disk, and name it with --db PATH.")
        return
    if not os.access(folder, os.W_OK) or not os.access(path, os.W_OK):
        says = "The file, or its folder, may only be read: nothing can be remembered."
        yield Finding("disk", WRONG, says, f"Look at the permissions of {folder}.")
    try:
        disk = os.statvfs(folder)
    except (OSError, AttributeError):
        return
    room = disk.f_bavail * disk.f_frsize
    on = f" on {kind}" if kind else ""
    if disk.f_flag & os.ST_RDONLY:
        yield Finding("disk", WRONG, f"It lies{on}, which is mounted read-only.", "Mount it for writing.")
    if room < NONE or (disk.f_files and not disk.f_favail):
        says = "The disk is full: nothing can be remembered, and nothing was lost."
        yield Finding("disk", WRONG, says, "Free some space.")
    elif room < LITTLE + os.lstat(path).st_size:
        says = f"Only {_bytes(room)} are free{on}: a rebuild, a copy or a long run may not fit."
        yield Finding("disk", NOTE, says, "Free some space.")
    else:
        yield Finding("disk", OK, f"{_bytes(room)} free{on}.")


def _ballast(path: str) -> Iterator[Finding]:
    """Check the disk space reserved for forgetting."""
    why = disk_reserve.missing(path)
    if not why:
        yield Finding("ballast", OK, f"{disk_reserve.SIZE >> 10} KiB are kept, so that a full disk can still forget.")
    elif os.path.lexists(disk_reserve.path_of(path)):
        yield Finding("ballast", NOTE, why, "Move it away; the next command that reads makes it again.")
    else:
        yield Finding("ballast", NOTE, why, "With some room, the next command that reads makes it again.")


def _beside(folder: str) -> Iterator[Finding]:
    """Report what other processes left: unfinished files, lines that wait in the spool."""
    now = time.time()
    cut = [entry.path for entry in _entries(folder, ".part") if now - entry.stat().st_mtime > CUT]
    cut += [
        entry.path for entry in _entries(os.path.join(folder, "backups"), ".part") if now - entry.stat().st_mtime > CUT
    ]
    if cut:
        yield Finding("beside", NOTE, f"Left over from interrupted work: {named(cut)}.", "They may be deleted.")
    waiting = [entry.path for entry in _entries(os.path.join(folder, "spool")) if entry.stat().st_size]
    if waiting:
        says = f"{len(waiting)} file{'s' if len(waiting) > 1 else ''} of the spool wait to be read."
        yield Finding("beside", NOTE, says, "The next command that writes reads them.")


def _entries(folder: str, ending: str = "") -> "list[os.DirEntry[str]]":
    try:
        return sorted(
            (entry for entry in os.scandir(folder) if entry.name.endswith(ending) and entry.is_file()),
            key=lambda entry: entry.name,
        )
    except OSError:
        return []


def _bytes(size: float) -> str:
    for unit in ("bytes", "KB", "MB"):
        if size < 1_000:
            return f"{size:,.0f} {unit}"
        size /= 1_000
    return f"{size:,.0f} GB"
