"""Replace the text of a document: whole or not at all, and through no symbolic link."""

import os
import stat

from store.base.hashing import sha256
from store.documents.paths import Root, Unreadable, handle_on, read_bytes, reason


def owned(place: Root) -> str:
    """Return why the document may not be replaced, empty if it may: a file of another owner would become ours, and one
    with a second hard link would keep its text there. Raise Unreadable or FileNotFoundError."""
    _, status = read_bytes(place)
    if status.st_uid != os.geteuid():
        return "it is another user's"
    return "it has a second name, by a hard link" if status.st_nlink > 1 else ""


def replace(place: Root, digest: bytes, raw: bytes) -> None:
    """Replace the content of a document, whose current SHA-256 must be `digest`, and keep its mode. The document is
    checked again just before the rename. Raise Unreadable with the reason where that is not possible; the document is
    then unchanged."""
    try:
        if why := owned(place):
            raise Unreadable(why)
        folder = handle_on(Root(place.anchor, place.steps[:-1], ""))
    except OSError as error:
        raise Unreadable(reason(error)) from None
    name = place.steps[-1]
    part = f".{name}.{os.urandom(4).hex()}.part"
    try:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(part, flags, 0o600, dir_fd=folder)
        try:
            with open(handle, "wb") as file:
                file.write(raw)
                file.flush()
                now, status = read_bytes(place)
                os.fchmod(file.fileno(), stat.S_IMODE(status.st_mode))
                os.fsync(file.fileno())
            if sha256(now).digest() != digest:
                raise Unreadable("it was changed meanwhile")
            os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(part, dir_fd=folder)
            raise
        os.fsync(folder)
    except OSError as error:
        raise Unreadable(reason(error)) from None
    finally:
        os.close(folder)
