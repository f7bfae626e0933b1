"""Write, replace and remove a file: whole or not at all, through no symbolic link, and only if it is what it was.

What is replaced is compared once more after the new content has taken its place, where the system can exchange two
names: a program that saved the file in between has its bytes put back. Elsewhere (FAT, some network file systems) the
last look is just before the rename.
"""

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256

from store.documents.paths import LARGEST_FILE, Root, Unreadable, handle_on, read_bytes, reason

CHANGED = "it was changed meanwhile"
EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM)
MOST_EXCHANGES = 20  # with a program that saves a file over and over


def owned(place: Root, largest: int = LARGEST_FILE) -> str:
    """Return why the document may not be replaced, empty if it may: a file of another owner would become ours, and one
    with a second hard link would keep its text there. Raise Unreadable or FileNotFoundError."""
    status = read_bytes(place, largest)[1]
    if status.st_uid != os.geteuid():
        return "it is another user's"
    return "it has a second name, by a hard link" if status.st_nlink > 1 else ""


def replace(place: Root, digest: bytes, raw: bytes, largest: int = LARGEST_FILE) -> None:
    """Replace the content of a file, whose current SHA-256 must be `digest`, and keep its mode. The file is checked
    again before and after it is exchanged. Raise Unreadable with the reason where that is not possible; the file then
    has what its last writer wrote."""
    try:
        if why := owned(place, largest):
            raise Unreadable(why)
        with _written(place, raw, read_bytes(place, largest)[1].st_mode) as (part, folder):
            _same(place, digest, largest)
            if _exchange(folder, part, place.steps[-1]):
                _keep_newest(place, part, folder, digest, raw)
                os.unlink(part, dir_fd=folder)
            else:
                os.rename(part, place.steps[-1], src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
    except OSError as error:
        raise Unreadable(reason(error)) from None


def _keep_newest(place: Root, part: str, folder: int, digest: bytes, raw: bytes) -> None:
    """Look at what was exchanged, which has the name `part` now. If it is not what was to be replaced, put it back; if
    something other than what was there comes out then, that is newer, and put back in turn. Raise Unreadable then."""
    aside = Root(place.anchor, (*place.steps[:-1], part), part)
    if (held := _digest(aside)) == digest:
        return
    there = sha256(raw).digest()
    for _ in range(MOST_EXCHANGES):
        _exchange(folder, part, place.steps[-1])
        out = _digest(aside)
        if out == there:
            break
        there, held = held, out
    raise Unreadable(CHANGED)


def _digest(place: Root) -> bytes:
    """Return the SHA-256 of a file of any size; empty for what cannot be read."""
    try:
        return sha256(read_bytes(place, sys.maxsize)[0]).digest()
    except (Unreadable, OSError):
        return b""


def _exchange(folder: int, one: str, other: str) -> bool:
    """Exchange the names of two files in a folder, in one step; return False where the system cannot, and nothing is
    done. Raise OSError."""
    exchange = _exchanger()
    if exchange is None:
        return False
    number = exchange(folder, os.fsencode(one), os.fsencode(other))
    if number in CANNOT:
        return False
    if number:
        raise OSError(number, os.strerror(number))
    return True


@cache
def _exchanger() -> "Callable[[int, bytes, bytes], int] | None":
    """Return the system's function, which returns an error's number, or 0; None where there is none."""
    import ctypes

    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None, use_errno=True)
        call = library.renameatx_np if sys.platform == "darwin" else library.renameat2
        call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)

        def exchange(folder: int, one: bytes, other: bytes) -> int:
            return ctypes.get_errno() if call(folder, one, folder, other, EXCHANGE) else 0

        return exchange
    return None


def create(place: Root, raw: bytes, mode: int) -> None:
    """Write a file where there is none, in a folder that exists. Raise Unreadable."""
    try:
        with _written(place, raw, mode) as (part, folder):
            os.link(part, place.steps[-1], src_dir_fd=folder, dst_dir_fd=folder)  # unlike a rename, replaces nothing
            os.unlink(part, dir_fd=folder)
            os.fsync(folder)
    except FileExistsError:
        raise Unreadable(CHANGED) from None
    except OSError as error:
        raise Unreadable(reason(error)) from None


def remove(place: Root, digest: bytes, largest: int = LARGEST_FILE) -> None:
    """Delete a file, whose current SHA-256 must be `digest`. Raise Unreadable."""
    try:
        folder = handle_on(Root(place.anchor, place.steps[:-1], ""))
        try:
            _same(place, digest, largest)
            part = _part(place)
            os.rename(place.steps[-1], part, src_dir_fd=folder, dst_dir_fd=folder)
            if _digest(Root(place.anchor, (*place.steps[:-1], part), part)) != digest:  # it was saved in between
                with suppress(FileExistsError):  # and again since: that is newer
                    os.link(part, place.steps[-1], src_dir_fd=folder, dst_dir_fd=folder)
                os.unlink(part, dir_fd=folder)
                raise Unreadable(CHANGED)
            os.unlink(part, dir_fd=folder)
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise Unreadable(reason(error)) from None


def _part(place: Root) -> str:
    """Return a new name beside a file."""
    return f".{place.steps[-1]}.{os.urandom(4).hex()}.part"


def _same(place: Root, digest: bytes, largest: int) -> None:
    if sha256(read_bytes(place, largest)[0]).digest() != digest:
        raise Unreadable(CHANGED)


@contextmanager
def _written(place: Root, raw: bytes, mode: int) -> Iterator[tuple[str, int]]:
    """Write a new file beside `place`; yield its name and a handle on its folder. It is deleted after an error."""
    folder = handle_on(Root(place.anchor, place.steps[:-1], ""))
    part = _part(place)
    try:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(part, flags, 0o600, dir_fd=folder)
        try:
            with open(handle, "wb") as file:
                file.write(raw)
                file.flush()
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
                os.fsync(file.fileno())
            yield part, folder
        except BaseException:
            os.unlink(part, dir_fd=folder)
            raise
    finally:
        os.close(folder)
