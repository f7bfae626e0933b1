"""Write, replace and remove a file: whole or not at all, through no symbolic link, and only if it is what it was."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from store.base.hashing import sha256
from store.documents.paths import LARGEST_FILE, Root, Unreadable, handle_on, read_bytes, reason

CHANGED = "it was changed meanwhile"


def owned(place: Root, largest: int = LARGEST_FILE) -> str:
    """Return why the document may not be replaced, empty if it may: a file of another owner would become ours, and one
    with a second hard link would keep its text there. Raise Unreadable or FileNotFoundError."""
    status = read_bytes(place, largest)[1]
    if status.st_uid != os.geteuid():
        return "it is another user's"
    return "it has a second name, by a hard link" if status.st_nlink > 1 else ""


def replace(place: Root, digest: bytes, raw: bytes, largest: int = LARGEST_FILE) -> None:
    """Replace the content of a file, whose current SHA-256 must be `digest`, and keep its mode. The file is checked
    again just before the rename. Raise Unreadable with the reason where that is not possible; the file is then
    unchanged."""
    try:
        if why := owned(place, largest):
            raise Unreadable(why)
        with _written(place, raw, read_bytes(place, largest)[1].st_mode) as (part, folder):
            _same(place, digest, largest)
            os.rename(part, place.steps[-1], src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
    except OSError as error:
        raise Unreadable(reason(error)) from None


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
            os.unlink(place.steps[-1], dir_fd=folder)
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise Unreadable(reason(error)) from None


def _same(place: Root, digest: bytes, largest: int) -> None:
    if sha256(read_bytes(place, largest)[0]).digest() != digest:
        raise Unreadable(CHANGED)


@contextmanager
def _written(place: Root, raw: bytes, mode: int) -> Iterator[tuple[str, int]]:
    """Write a new file beside `place`; yield its name and a handle on its folder. It is deleted after an error."""
    folder = handle_on(Root(place.anchor, place.steps[:-1], ""))
    part = f".{place.steps[-1]}.{os.urandom(4).hex()}.part"
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
