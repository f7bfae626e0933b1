"""Where documents may be, and the only way to open one: step by step from its root, through no symbolic link.

A document is named as it is cited: below the project's folder by its path from there, with `/`; elsewhere by its
absolute path. What is above a root is the person's own choice and may be a link; nothing below it is.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256

from store.base.errors import InvalidInput, MemorandaError
from store.base.location import Location
from store.config.configuration import Config
from store.database.database import Database, Transaction

MEMORY_FILE = "MEMORY.md"
MEMORY_FOLDER = "memory"
MARKDOWN_SUFFIX = ".md"
LARGEST_FILE = 2_000_000  # bytes
MOST_FILES = 5_000
# folders below a root
MOST_DEPTH = 32
# in `meta`: paths from the project, as JSON
LOG_FOLDERS = "log.folders"
# names that are read, of any kind
MOST_ENTRIES = 200_000


class Unreadable(MemorandaError):
    """A document cannot be read; the message gives the reason, without the document's name."""

    code = "unreadable"


class ChangedFile(Unreadable):
    """A file is not what it was when it was read; it has what its last writer wrote."""

    def __init__(self) -> None:
        super().__init__("it was changed meanwhile")


@dataclass(slots=True, eq=False, repr=False)
class DocumentPath:
    """A file or a folder of documents: `steps` below the folder `anchor`, which is used as it is."""

    anchor: str
    steps: tuple[str, ...]
    name: str
    optional: bool = False

    def below(self, entry: str) -> DocumentPath:
        """Return a file or a folder directly in this one."""
        return DocumentPath(self.anchor, (*self.steps, entry), _join_name(self.name, entry))

    @property
    def folder(self) -> DocumentPath:
        """The folder that it is in, without a name of its own."""
        return DocumentPath(self.anchor, self.steps[:-1], "")

    @property
    def path(self) -> str:
        """The path on the disk."""
        return os.path.join(self.anchor, *self.steps)


@dataclass(slots=True, eq=False, repr=False)
class WalkedFile:
    """A file found by a walk."""

    place: DocumentPath
    size: int
    modified_ns: int


FolderEntry = tuple[DocumentPath, os.stat_result]


class DocumentRoots:
    """The roots of one memory's documents: `MEMORY.md` and `memory` below `base`, other `names` below it, the folder of
    the `logs`, as it is cited, and the `extra` paths."""

    def __init__(
        self, base: str, extra: Iterable[str] = (), names: Iterable[str] = (), logs: str = MEMORY_FOLDER
    ) -> None:
        self.base = base
        self.logs = logs
        inside = dict.fromkeys((MEMORY_FILE, MEMORY_FOLDER, *names, logs))
        self.roots = [DocumentPath(base, tuple(name.split("/")), name, optional=True) for name in inside]
        self.roots += map(self._extra_root, extra)

    def _extra_root(self, text: str) -> DocumentPath:
        """Return the root of an extra path from the settings."""
        path = os.path.normpath(os.path.join(self.base, os.path.expanduser(text)))
        if path == self.base:
            return DocumentPath(self.base, (), "")
        if path.startswith(os.path.join(self.base, "")):
            name = os.path.relpath(path, self.base)
            return DocumentPath(self.base, tuple(name.split("/")), name)
        anchor, step = os.path.split(path)
        return DocumentPath(anchor, (step,) if step else (), path)

    def find_document(self, path: str) -> DocumentPath:
        """Return the document of this name, existing or not. Raise InvalidInput for what is in no root, or is
        hidden."""
        steps = path.removeprefix("/").split("/")
        if "\0" in path or any(step in ("", ".", "..") for step in steps):
            raise InvalidInput(
                "That is not the path of a document.",
                "Write it as it is cited: memory/notes.md, with no . or .. in it.",
            )
        for root in self.roots if steps[-1].lower().endswith(MARKDOWN_SUFFIX) else ():
            rest = _steps_below(root, path)
            if rest is not None and not any(map(is_hidden, rest)):
                return DocumentPath(root.anchor, (*root.steps, *rest), path)
        raise InvalidInput(
            "There is no document of this memory.",
            f"There are {MEMORY_FILE}, {MEMORY_FOLDER}/**/*{MARKDOWN_SUFFIX}, and what documents.extraPaths names.",
        )

    def walk(self, trouble: Callable[[str, str], None]) -> Iterator[WalkedFile]:
        """Yield every document that exists, each once; `trouble` is called with (name, why) for what is skipped."""
        seen: set[str] = set()
        looked = 0
        for root in self.roots:
            for _, entries in self._walk_root(root, trouble):
                looked += len(entries)
                for place, status in entries:
                    is_document = stat.S_ISREG(status.st_mode) and place.name.lower().endswith(MARKDOWN_SUFFIX)
                    if not is_document or place.name in seen:
                        continue
                    if len(seen) >= MOST_FILES:
                        trouble(
                            root.name or self.base, f"more than {MOST_FILES:,} documents: the rest is left out"
                        )
                        return
                    seen.add(place.name)
                    yield WalkedFile(place, status.st_size, status.st_mtime_ns)
                if looked > MOST_ENTRIES:
                    trouble(root.name or self.base, f"more than {MOST_ENTRIES:,} files: the rest is left out")
                    return

    def folders(self) -> list[str]:
        """Return the folders to watch: those that contain documents, and those in which one of the roots may be created
        or deleted."""
        found = {os.path.dirname(root.path) for root in self.roots if root.steps}
        for root in self.roots:
            for folder, _ in self._walk_root(root, _ignore_problem):
                if len(found) >= MOST_FILES:
                    break
                found.add(folder.path)
        return sorted(folder for folder in found if os.path.isdir(folder))

    def _walk_root(
        self, root: DocumentPath, trouble: Callable[[str, str], None]
    ) -> Iterator[tuple[DocumentPath, list[FolderEntry]]]:
        """Yield every folder of a root with its entries; of a root that is a file its folder, with that file alone."""
        try:
            with _opened(root) as handle:
                status = os.fstat(handle)
        except FileNotFoundError:
            if not root.optional:
                trouble(root.name, "there is no such file or folder")
            return
        except (OSError, Unreadable) as error:
            trouble(root.name or self.base, why_unreadable(error))
            return
        if not stat.S_ISDIR(status.st_mode):
            if not root.name.lower().endswith(MARKDOWN_SUFFIX):
                trouble(root.name, f"only {MARKDOWN_SUFFIX} files are documents")
            yield root.folder, [(root, status)]
            return
        waiting = [root]
        while waiting:
            folder = waiting.pop()
            try:
                entries = _list_entries(folder)
            except (OSError, Unreadable) as error:
                trouble(folder.name or self.base, why_unreadable(error))
                continue
            below = [place for place, status in entries if stat.S_ISDIR(status.st_mode)]
            if len(folder.steps) - len(root.steps) < MOST_DEPTH:
                waiting += reversed(below)
            elif below:
                trouble(folder.name, f"folders deeper than {MOST_DEPTH} are left out")
            yield folder, entries


def _ignore_problem(name: str, why: str) -> None:
    """Ignore a problem: the scan reports it."""


def document_roots(location: Location, config: Config, names: Iterable[str] = ()) -> DocumentRoots:
    """Return where the documents of a memory are: below its project, else below the folder of the file itself. `names`
    are files that are kept in sync, and folders that logs and snapshots were written to (`log_folders`)."""
    base = os.path.abspath(location.project or os.path.dirname(location.path))
    return DocumentRoots(base, config["documents.extraPaths"], names, "/".join(log_folder(config)))


def log_folder(config: Config) -> tuple[str, ...]:
    """Return the steps from the project to the folder of daily logs and snapshots: that of `files.folder` if it is a
    plain path below the project, else `memory`."""
    steps = tuple(step for step in str(config["files.folder"]).split("/") if step != ".")
    plain = all(step and step != ".." and not is_hidden(step) for step in steps)
    return (plain and steps) or (MEMORY_FOLDER,)


def log_folders(database: Database) -> list[str]:
    """Return the folders, but `memory`, that logs and snapshots were ever written to: what is there is found still."""
    text = database.get_meta(LOG_FOLDERS)
    return [str(one) for one in json.loads(text)] if text else []


def note_log_folder(write: Transaction, config: Config) -> None:
    """Note the folder that logs and snapshots are written to, as part of the transaction in which they are."""
    folder, known = "/".join(log_folder(config)), log_folders(write.database)
    if folder != MEMORY_FOLDER and folder not in known:
        write.set_meta(LOG_FOLDERS, json.dumps([*known, folder]))


def is_hidden(name: str) -> bool:
    """Tell whether a name begins with a dot."""
    return name.startswith(".")


def read_document_bytes(place: DocumentPath, largest: int = LARGEST_FILE) -> tuple[bytes, os.stat_result]:
    """Return the content of a document, and its state before it was read. Raise Unreadable or FileNotFoundError."""
    too_large = f"it is larger than {largest // 1_000_000} MB"
    try:
        with _opened(place) as handle:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise Unreadable("it is not a plain file")
            if status.st_size > largest:
                raise Unreadable(too_large)
            with open(handle, "rb", closefd=False) as file:
                raw = file.read()
            # it grew
            if len(raw) > largest:
                raise Unreadable(too_large)
            return raw, status
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unreadable(why_unreadable(error)) from None


def is_unopenable(place: DocumentPath) -> bool:
    """Return whether a document cannot be opened."""
    try:
        with _opened(place):
            return False
    except (OSError, Unreadable):
        return True


def decode_text(raw: bytes) -> tuple[str, str]:
    """Return (the text, a note on how it was decoded). Raise Unreadable for what is not text.

    Text is UTF-8, or UTF-16 with a byte order mark. Else, where some of it is UTF-8 beyond ASCII, invalid bytes are
    replaced; where none is, it was written as Windows-1252, whose accents would all be lost.
    """
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = raw.decode("utf-16", "replace")
        return _require_text(text), "parts of it are not UTF-16, and are replaced" if "\ufffd" in text else ""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        return _require_text(raw.decode()), ""
    except UnicodeDecodeError:
        text = _require_text(raw.decode(errors="replace"))
    if any(char > "\x7f" and char != "\ufffd" for char in text):
        return text, "parts of it are not UTF-8, and are replaced"
    return raw.decode("cp1252", "replace"), "it is not UTF-8, and was read as Windows-1252"


def why_unreadable(error: BaseException) -> str:
    """Return why something could not be read, in a few words."""
    if isinstance(error, OSError):
        if error.errno in (errno.ELOOP, errno.EMLINK):
            return "symbolic links are not followed"
        return (error.strerror or type(error).__name__).lower()
    return error.message if isinstance(error, MemorandaError) else type(error).__name__


def _require_text(text: str) -> str:
    """Return a text. Raise Unreadable if it is binary."""
    if "\0" in text:
        raise Unreadable("it is binary, not text")
    return text


def _join_name(name: str, entry: str) -> str:
    """Return the name of an entry of a folder, as it is cited."""
    return f"{name}/{entry}" if name and name != "/" else name + entry


def _steps_below(root: DocumentPath, path: str) -> list[str] | None:
    """Return the steps from a root to the document of this name; None where it is elsewhere."""
    start = _join_name(root.name, "")
    if path.startswith("/") != root.name.startswith("/"):
        return None
    return [] if path == root.name else path[len(start) :].split("/") if path.startswith(start) else None


@contextmanager
def _opened(place: DocumentPath) -> Iterator[int]:
    """Open a file or a folder, reached through no link below its anchor. Raise OSError or Unreadable."""
    # a pipe would block for ever
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
    handle = os.open(place.anchor, flags | os.O_DIRECTORY)
    try:
        for at, step in enumerate(place.steps):
            inner = at < len(place.steps) - 1
            # opening it would say “no directory”
            if stat.S_ISLNK(os.lstat(step, dir_fd=handle).st_mode):
                raise Unreadable("symbolic links are not followed")
            below = os.open(step, flags | os.O_NOFOLLOW | (os.O_DIRECTORY if inner else 0), dir_fd=handle)
            os.close(handle)
            handle = below
        yield handle
    finally:
        os.close(handle)


def _list_entries(folder: DocumentPath) -> list[FolderEntry]:
    """Return the entries of a folder, in order: plain files and folders, nothing hidden, no links."""
    found = []
    with _opened(folder) as handle, os.scandir(handle) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if not is_hidden(entry.name) and not entry.is_symlink():
                # deleted meanwhile
                with suppress(FileNotFoundError):
                    found.append((folder.below(entry.name), entry.stat(follow_symlinks=False)))
    return found


# Write, replace and remove a file: whole or not at all, through no symbolic link, and only if it is what it was.
#
# What is replaced is compared once more after the new content has taken its place, where the system can exchange two
# names: a program that saved the file in between has its bytes put back. Elsewhere (FAT, some network file systems) the
# last look is just before the rename.

# RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
RENAME_EXCHANGE = 2
CANNOT_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM)
# with a program that saves a file over and over
MOST_EXCHANGES = 20


def why_not_replaceable(place: DocumentPath, largest: int = LARGEST_FILE) -> str:
    """Return why the document may not be replaced, empty if it may: a file of another owner would become ours, and
    a file with a second hard link would keep its text there. Raise Unreadable or FileNotFoundError."""
    status = read_document_bytes(place, largest)[1]
    if status.st_uid != os.geteuid():
        return "it is another user's"
    return "it has a second name, by a hard link" if status.st_nlink > 1 else ""


def replace_file(place: DocumentPath, digest: bytes, raw: bytes, largest: int = LARGEST_FILE) -> None:
    """Replace the content of a file, whose current SHA-256 must be `digest`, and keep its mode. The file is checked
    again before and after it is exchanged. Raise Unreadable with the reason where that is not possible; the file then
    has what its last writer wrote."""
    with _named_reasons():
        if why := why_not_replaceable(place, largest):
            raise Unreadable(why)
        with _write_beside(place, raw, read_document_bytes(place, largest)[1].st_mode) as (part, folder):
            _require_digest(place, digest, largest)
            if _exchange_names(folder, part, place.steps[-1]):
                _keep_newest(place, part, folder, digest, raw)
                os.unlink(part, dir_fd=folder)
            else:
                os.rename(part, place.steps[-1], src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)


@contextmanager
def _named_reasons() -> Iterator[None]:
    """Raise Unreadable, with the reason, for an error of the system."""
    try:
        yield
    except FileExistsError:
        raise ChangedFile from None
    except OSError as error:
        raise Unreadable(why_unreadable(error)) from None


def _keep_newest(place: DocumentPath, part: str, folder: int, digest: bytes, raw: bytes) -> None:
    """Look at what was exchanged, which has the name `part` now. If it is not what was to be replaced, put it back; if
    something other than what was there comes out then, that is newer, and put back in turn. Raise Unreadable then."""
    aside = place.folder.below(part)
    if (held := _digest_file(aside)) == digest:
        return
    there = sha256(raw).digest()
    for _ in range(MOST_EXCHANGES):
        _exchange_names(folder, part, place.steps[-1])
        out = _digest_file(aside)
        if out == there:
            break
        there, held = held, out
    raise ChangedFile


def _digest_file(place: DocumentPath) -> bytes:
    """Return the SHA-256 of a file of any size; empty for what cannot be read."""
    try:
        return sha256(read_document_bytes(place, sys.maxsize)[0]).digest()
    except (Unreadable, OSError):
        return b""


def _exchange_names(folder: int, one: str, other: str) -> bool:
    """Exchange the names of two files in a folder, in one step; return False where the system cannot, and nothing is
    done. Raise OSError."""
    exchange = _load_exchange()
    if exchange is None:
        return False
    number = exchange(folder, os.fsencode(one), os.fsencode(other))
    if number in CANNOT_EXCHANGE:
        return False
    if number:
        raise OSError(number, os.strerror(number))
    return True


@cache
def _load_exchange() -> Callable[[int, bytes, bytes], int] | None:
    """Return the system's function, which returns an error's number, or 0; None where there is none."""
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None, use_errno=True)
        call = library.renameatx_np if sys.platform == "darwin" else library.renameat2
        call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)

        def exchange(folder: int, one: bytes, other: bytes) -> int:
            return ctypes.get_errno() if call(folder, one, folder, other, RENAME_EXCHANGE) else 0

        return exchange
    return None


def create_file(place: DocumentPath, raw: bytes, mode: int) -> None:
    """Write a file where there is none, in a folder that exists. Raise Unreadable."""
    with _named_reasons(), _write_beside(place, raw, mode) as (part, folder):
        # unlike a rename, replaces nothing
        os.link(part, place.steps[-1], src_dir_fd=folder, dst_dir_fd=folder)
        os.unlink(part, dir_fd=folder)
        os.fsync(folder)


def remove_file(place: DocumentPath, digest: bytes, largest: int = LARGEST_FILE) -> None:
    """Delete a file, whose current SHA-256 must be `digest`. Raise Unreadable."""
    with _named_reasons(), _opened(place.folder) as folder:
        _require_digest(place, digest, largest)
        part = _part_name(place)
        os.rename(place.steps[-1], part, src_dir_fd=folder, dst_dir_fd=folder)
        # it was saved in between
        saved = _digest_file(place.folder.below(part)) != digest
        if saved:
            # and again since: that is newer
            with suppress(FileExistsError):
                os.link(part, place.steps[-1], src_dir_fd=folder, dst_dir_fd=folder)
        os.unlink(part, dir_fd=folder)
        if saved:
            raise ChangedFile
        os.fsync(folder)


def _part_name(place: DocumentPath) -> str:
    """Return a new name beside a file."""
    return f".{place.steps[-1]}.{os.urandom(4).hex()}.part"


def _require_digest(place: DocumentPath, digest: bytes, largest: int) -> None:
    """Raise ChangedFile unless a file has this SHA-256."""
    if sha256(read_document_bytes(place, largest)[0]).digest() != digest:
        raise ChangedFile


@contextmanager
def _write_beside(place: DocumentPath, raw: bytes, mode: int) -> Iterator[tuple[str, int]]:
    """Write a new file beside `place`; yield its name and a handle on its folder. It is deleted after an error."""
    part = _part_name(place)
    with _opened(place.folder) as folder:
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
