"""The file on disk: created private before its first byte, and refused where it would not be safe.

Nothing here opens an existing database for reading: closing such a handle would drop the locks that SQLite holds on it
in this process.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from shlex import quote
from typing import TypeVar

from store.base.errors import DamagedFile, DiskFull, StorageError, UnsafeFile
from store.base.location import MEMORANDA_FOLDER, is_project_folder, list_backup_files

# A reserve of 128 KiB beside a memory, freed when the disk is full, so that forgetting still works.
#
# SQLite needs space to delete: the pages it changes are written to the log first.

Result = TypeVar("Result")

RESERVE_BYTES = 128 << 10
# for each byte one that is in no UTF-8 text: a purged word of three letters was among random ones once in twenty times
WORDLESS_BYTES = ((b"\xc0\xc1" + bytes(range(0xF5, 0x100))) * 20)[:256]
# free space that must remain once it is made
MIN_SPARE_BYTES = 8 * RESERVE_BYTES


def reserve_path(path: str) -> str:
    """Return the path of the reserve of the memory at `path`."""
    return f"{path}-ballast"


def create_reserve(path: str) -> bool:
    """Create the reserve unless it exists, or the disk has little space; return whether it exists now."""
    ballast = reserve_path(path)
    if os.path.lexists(ballast):
        return True
    try:
        disk = os.statvfs(os.path.dirname(ballast) or ".")
        if disk.f_bavail * disk.f_frsize < RESERVE_BYTES + MIN_SPARE_BYTES:
            return False
        handle = os.open(ballast, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return True
    except OSError:
        return False
    try:
        # random: a compressing file system would reserve no space for a file of zeros
        whole = os.write(handle, os.urandom(RESERVE_BYTES).translate(WORDLESS_BYTES)) == RESERVE_BYTES
    except OSError:
        whole = False
    finally:
        os.close(handle)
    if not whole:
        free_reserve(path)
    return whole


def renew_reserve(path: str) -> None:
    """Replace the reserve, as an older version may have written a short word into it by chance."""
    if free_reserve(path):
        create_reserve(path)


def missing_reserve_reason(path: str) -> str:
    """Return why the reserve of the memory at `path` is missing, in a sentence; empty if it exists."""
    ballast = reserve_path(path)
    try:
        status = os.lstat(ballast)
        if stat.S_ISREG(status.st_mode) and status.st_size == RESERVE_BYTES:
            return ""
        return f"{ballast} is not the file that Memoranda keeps there."
    except OSError:
        pass
    folder = os.path.dirname(ballast) or "."
    try:
        disk = os.statvfs(folder)
        if disk.f_bavail * disk.f_frsize < RESERVE_BYTES + MIN_SPARE_BYTES:
            return "It is missing because the disk is nearly full: forgetting and purging may fail."
    except OSError:
        return "It is missing, and the free space is not known."
    if not os.access(folder, os.W_OK):
        return f"It is missing because {folder} cannot be written."
    return "It is missing: it was used up on a full disk, or removed."


def free_reserve(path: str) -> bool:
    """Delete the reserve; return whether there was one."""
    try:
        os.unlink(reserve_path(path))
    except OSError:
        return False
    return True


def run_with_reserve(path: str, work: Callable[[], Result]) -> Result:
    """Run work that only deletes; on a full disk run it once more, with the space of the reserve. Raise DiskFull."""
    try:
        return work()
    except DiskFull:
        if not free_reserve(path):
            raise
        return work()


# the first bytes of a database
SQLITE_HEADER = b"SQLite format 3\0"
NETWORK_FILE_SYSTEMS = (
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "afpfs",
    "webdav",
    "davfs",
    "fuse.sshfs",
    "glusterfs",
    "ceph",
    "lustre",
)


def prepare_file(path: str, create: bool, look: bool = False) -> list[str]:
    """Create or check the file at `path`; return warnings to show. Raise UnsafeFile, DamagedFile or StorageError.

    With `create` a missing file is created, empty and 0600, in a folder that is 0700. With `look` nothing is changed.
    """
    folder = os.path.dirname(path)
    warnings: list[str] = []
    refuse_lost_file(path)
    if create:
        _make_private_folder(folder)
    try:
        if is_project_folder(folder):
            _check_owner_and_kind(folder, stat.S_ISDIR, "folder")
            if not look:
                _remove_permissions(folder, 0o700, warnings)
        _refuse_network(folder)
        if create and not os.path.lexists(path):
            if os.path.basename(folder) == MEMORANDA_FOLDER:
                # before there is anything that git could see
                _write_gitignore(os.path.join(folder, ".gitignore"))
            _create_file(path)
            create_reserve(path)
            sync_folder(folder)
        _check_owner_and_kind(path, stat.S_ISREG, "file")
    except FileNotFoundError:
        raise StorageError(
            f"There is no memory at {path}.",
            "Run `memoranda open --new` in the project, or name a file with --db.",
        ) from None
    except OSError as error:
        raise StorageError(
            f"The memory {path} cannot be reached: {error.strerror}.", "Name another file with --db PATH."
        ) from None
    if not look:
        _remove_permissions(path, 0o600, warnings)
        _make_log_writable(path)
    return warnings


def refuse_lost_file(path: str) -> None:
    """Raise DamagedFile where a file is gone or empty while its backups are there: a new one in its place would
    hide that. A log that is left must be moved away first, as SQLite would apply it to the backup."""
    try:
        if os.stat(path).st_size:
            return
        how = "is empty"
    except FileNotFoundError:
        how = "is gone"
    except OSError:
        # whoever opens it says why
        return
    kept = list_backup_files(path)
    if kept:
        log = f"{path}-wal"
        aside = f"mv {quote(log)} {quote(f'{log}.old')}; " if os.path.exists(log) and os.path.getsize(log) else ""
        folder = os.path.dirname(kept[-1])
        raise DamagedFile(
            f"{path} {how}, and {len(kept):,} of its backups are in {folder}; no new memory was started.",
            f"Go back to the newest: `{aside}cp {quote(kept[-1])} {quote(path)}`."
            " To start anew, move that folder away.",
        )


def is_plain_name(name: object) -> bool:
    """Return whether a name from a memory is that of a file directly in its folder: not a path, nothing that leads out
    of it."""
    return (
        isinstance(name, str)
        and name not in ("", os.curdir, os.pardir)
        and not any(part in name for part in ("/", os.sep, os.altsep or os.sep, "\0"))
    )


def _make_private_folder(folder: str) -> None:
    """Create the folder of a memory, private, unless it exists. Raise StorageError."""
    if os.path.isdir(folder) or os.path.lexists(folder):
        return
    try:
        for one in (os.path.dirname(folder), folder):
            os.makedirs(one, mode=0o700, exist_ok=True)
        # a umask can only remove bits, but a default ACL can add them
        os.chmod(folder, 0o700)
        sync_folder(os.path.dirname(folder))
    except FileExistsError:
        # another process was first
        return
    except OSError as error:
        raise StorageError(
            f"The folder {folder} cannot be made: {error.strerror}.", "Name another file with --db PATH."
        ) from None


def _write_gitignore(path: str) -> None:
    """Exclude the folder from `git status`."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return
    try:
        os.write(handle, b"*\n")
    except OSError:
        # whole or not at all: the next start creates it again
        os.unlink(path)
        raise
    finally:
        os.close(handle)


def create_private_file(path: str) -> None:
    """Create an empty file that only its owner may read, through no link. Raise FileExistsError or another OSError."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))


def _create_file(path: str) -> None:
    """Create an empty private file before SQLite opens it: its -wal and -shm get its mode."""
    try:
        create_private_file(path)
    except FileExistsError:
        return
    except OSError as error:
        raise StorageError(
            f"The memory {path} cannot be made: {error.strerror}.", "Name another file with --db PATH."
        ) from None


def sync_folder(folder: str) -> None:
    """Make the names in a folder survive a power cut, where folders can be synced."""
    try:
        handle = os.open(folder or ".", os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        # some file systems refuse it for folders; the file itself is safe
        pass
    finally:
        os.close(handle)


def _check_owner_and_kind(path: str, kind: object, word: str) -> None:
    """Refuse what is not a plain file or folder of this person. Raise FileNotFoundError if it is missing."""
    status = os.lstat(path)
    move = "Move it away, or name another file with --db PATH."
    if stat.S_ISLNK(status.st_mode):
        raise UnsafeFile(f"{path} is a symbolic link, and a memory is never opened through one.", move)
    if not callable(kind) or not kind(status.st_mode):
        raise UnsafeFile(f"{path} is not a plain {word}.", move)
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        raise UnsafeFile(f"{path} belongs to another user of this machine.", move)


def _remove_permissions(path: str, mode: int, warnings: list[str]) -> None:
    """Remove the permissions of others; a file system without modes is a warning, not an error."""
    if os.name != "posix" or not stat.S_IMODE(os.lstat(path).st_mode) & ~mode & 0o777:
        return
    try:
        os.chmod(path, mode)
    except OSError:
        # reported below: the current mode decides
        pass
    if stat.S_IMODE(os.lstat(path).st_mode) & ~mode & 0o777:
        warnings.append(f"{path} can be read by others: its file system keeps no permissions.")


def _make_log_writable(path: str) -> None:
    """Make the -wal and -shm writable if the file is: created while it was read-only, they would stay so."""
    if os.name != "posix" or not os.lstat(path).st_mode & stat.S_IWUSR:
        return
    for beside in (f"{path}-wal", f"{path}-shm"):
        try:
            status = os.lstat(beside)
            if stat.S_ISREG(status.st_mode) and not status.st_mode & stat.S_IWUSR:
                os.chmod(beside, 0o600)
        except OSError:
            # missing, or left for SQLite to refuse
            continue


def _refuse_network(folder: str) -> None:
    """Refuse a network file system: WAL needs memory shared between processes (SQLite, wal.html §1)."""
    kind = file_system_type(folder)
    if kind in NETWORK_FILE_SYSTEMS:
        raise UnsafeFile(
            f"{folder} is on a network file system ({kind}), where SQLite cannot keep a memory safe.",
            "Name a file on a local disk with --db PATH.",
        )


def file_system_type(folder: str) -> str:
    """Return the type of a folder's file system, as the system names it; empty where it cannot be determined."""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as mounts:
            points = [line.split(" ", 3)[1:3] for line in mounts]
    except OSError:
        return ""  # not Linux
    # the table escapes a space like this
    real = os.path.realpath(folder).replace(" ", "\\040") + "/"
    kind = ""
    longest = -1
    for point, name in points:
        if real.startswith(point.rstrip("/") + "/") and len(point) >= longest:
            longest, kind = len(point), name
    return kind


def is_database(path: str) -> bool:
    """Return whether a file begins like a database of SQLite; not to be called for one that is open here."""
    try:
        with open(path, "rb") as file:
            return file.read(len(SQLITE_HEADER)) == SQLITE_HEADER
    except OSError:
        return False
