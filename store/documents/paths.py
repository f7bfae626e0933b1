"""Where documents may be, and the only way to open one: step by step from its root, through no symbolic link.

A document is named as it is cited: below the project's folder by its path from there, with `/`; elsewhere by its
absolute path. What is above a root is the person's own choice and may be a link; nothing below it is.
"""

import json
import os
import stat

from store.base.errors import InvalidInput, MemorandaError
from store.base.location import Location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from store.config.configuration import Config
    from store.database.database import Database, Transaction

MEMORY_FILE = "MEMORY.md"
MEMORY_FOLDER = "memory"
SUFFIX = ".md"
LARGEST_FILE = 2_000_000  # bytes
MOST_FILES = 5_000
DEEPEST = 32  # folders below a root
LOG_FOLDERS = "log.folders"  # in `meta`: paths from the project, as JSON
MOST_ENTRIES = 200_000  # names that are read, of any kind


class Unreadable(MemorandaError):
    """A document cannot be read; the message gives the reason, without the document's name."""

    code = "unreadable"


class Root:
    """A file or a folder of documents: `steps` below the folder `anchor`, which is used as it is."""

    __slots__ = ("anchor", "name", "optional", "steps")

    def __init__(self, anchor: str, steps: tuple[str, ...], name: str, optional: bool = False) -> None:
        self.anchor = anchor
        self.steps = steps
        self.name = name  # as it is cited
        self.optional = optional

    def below(self, entry: str) -> "Root":
        """Return a file or a folder directly in this one."""
        return Root(self.anchor, (*self.steps, entry), _joined(self.name, entry))

    @property
    def path(self) -> str:
        """The path on the disk."""
        return os.path.join(self.anchor, *self.steps)


class OpenedFile:
    """A file found by a walk."""

    __slots__ = ("modified_ns", "place", "size")

    def __init__(self, place: Root, size: int, modified_ns: int) -> None:
        self.place = place
        self.size = size
        self.modified_ns = modified_ns


class DocumentRoots:
    """The roots of one memory's documents: `MEMORY.md` and `memory` below `base`, the files that are kept in sync, the
    folder of the `logs`, and the `extra` paths."""

    def __init__(
        self,
        base: str,
        extra: "tuple[str, ...]" = (),
        synced: "Iterable[str]" = (),
        logs: tuple[str, ...] = (),
        before: "Iterable[tuple[str, ...]]" = (),
    ) -> None:
        self.base = base
        self.logs = "/".join(logs) or MEMORY_FOLDER  # where daily logs are, as it is cited
        self.roots = [
            Root(base, (MEMORY_FILE,), MEMORY_FILE, optional=True),
            Root(base, (MEMORY_FOLDER,), MEMORY_FOLDER, optional=True),
            *(Root(base, tuple(name.split("/")), name, optional=True) for name in synced if name != MEMORY_FILE),
        ]
        for steps in dict.fromkeys((logs, *before)):
            if steps and steps[0] != MEMORY_FOLDER:
                self.roots.append(Root(base, steps, "/".join(steps), optional=True))
        for text in extra:
            self.roots.append(self._extra(text))

    def _extra(self, text: str) -> Root:
        path = os.path.normpath(os.path.join(self.base, os.path.expanduser(text)))
        if path == self.base:
            return Root(self.base, (), "")
        if path.startswith(os.path.join(self.base, "")):
            steps = tuple(os.path.relpath(path, self.base).split(os.sep))
            return Root(self.base, steps, "/".join(steps))
        anchor, step = os.path.split(path)
        return Root(anchor, (step,) if step else (), path)

    def named(self, path: str) -> Root:
        """Return the document of this name, existing or not. Raise InvalidInput for what is in no root, or is
        hidden."""
        absolute = path.startswith("/")
        steps = path.removeprefix("/").split("/")
        if "\0" in path or any(step in ("", ".", "..") for step in steps):
            raise InvalidInput(
                "That is not the path of a document.",
                "Write it as it is cited: memory/notes.md, with no . or .. in it.",
            )
        if steps[-1].lower().endswith(SUFFIX):
            for root in self.roots:
                if (rest := _rest(root, path, absolute)) is not None and not any(map(hidden, rest)):
                    found = root
                    for step in rest:
                        found = found.below(step)
                    return found
        raise InvalidInput(
            "There is no document of this memory.",
            f"There are {MEMORY_FILE}, {MEMORY_FOLDER}/**/*{SUFFIX}, and what documents.extraPaths names.",
        )

    def walk(self, trouble: "Callable[[str, str], None]") -> "Iterator[OpenedFile]":
        """Yield every document that exists, each once; `trouble` is called with (name, why) for what is skipped."""
        seen: set[str] = set()
        looked = 0
        for root in self.roots:
            for folder, entries in self._below(root, trouble):
                looked += len(entries)
                for name, status in entries:
                    place = folder.below(name) if name else folder
                    if not stat.S_ISREG(status.st_mode) or not place.name.lower().endswith(SUFFIX):
                        continue
                    if place.name in seen:
                        continue
                    if len(seen) >= MOST_FILES:
                        trouble(root.name or self.base, f"more than {MOST_FILES:,} documents: the rest is left out")
                        return
                    seen.add(place.name)
                    yield OpenedFile(place, status.st_size, status.st_mtime_ns)
                if looked > MOST_ENTRIES:
                    trouble(root.name or self.base, f"more than {MOST_ENTRIES:,} files: the rest is left out")
                    return

    def folders(self) -> list[str]:
        """Return the folders to watch: those that contain documents, and those in which one of the roots may be created
        or deleted."""
        found = {os.path.dirname(root.path) for root in self.roots if root.steps}
        for root in self.roots:
            for folder, entries in self._below(root, _unheard):
                if len(found) >= MOST_FILES:
                    break
                if not (entries and not entries[0][0]):  # else the root is a file
                    found.add(folder.path)
        return sorted(folder for folder in found if os.path.isdir(folder))

    def _below(
        self, root: Root, trouble: "Callable[[str, str], None]"
    ) -> "Iterator[tuple[Root, list[tuple[str, os.stat_result]]]]":
        """Yield every folder of a root with its entries; a root that is a file contains itself, under an empty name."""
        try:
            handle = handle_on(root)
        except FileNotFoundError:
            if not root.optional:
                trouble(root.name, "there is no such file or folder")
            return
        except (OSError, Unreadable) as error:
            trouble(root.name or self.base, reason(error))
            return
        try:
            status = os.fstat(handle)
        finally:
            os.close(handle)
        if not stat.S_ISDIR(status.st_mode):
            if not root.name.lower().endswith(SUFFIX):
                trouble(root.name, f"only {SUFFIX} files are documents")
            yield root, [("", status)]
            return
        waiting = [(root, 0)]
        while waiting:
            folder, depth = waiting.pop()
            try:
                entries = _entries(folder)
            except (OSError, Unreadable) as error:
                trouble(folder.name or self.base, reason(error))
                continue
            below = [(folder.below(name), depth + 1) for name, status in entries if stat.S_ISDIR(status.st_mode)]
            if depth < DEEPEST:
                waiting += reversed(below)
            elif below:
                trouble(folder.name, f"folders deeper than {DEEPEST} are left out")
            yield folder, entries


def _unheard(name: str, why: str) -> None:
    """Ignore a problem: the scan reports it."""


def places(
    location: Location, config: "Config", synced: "Iterable[str]" = (), before: "Iterable[str]" = ()
) -> DocumentRoots:
    """Return where the documents of a memory are: below its project, else below the folder of the file itself. `before`
    are folders that logs and snapshots were written to (`log_folders`)."""
    base = os.path.abspath(location.project or os.path.dirname(location.path))
    extra, earlier = tuple(config["documents.extraPaths"]), [_plain_steps(one) for one in before]
    return DocumentRoots(base, extra, synced, log_folder(config), earlier)


def log_folder(config: "Config") -> tuple[str, ...]:
    """Return the steps from the project to the folder of daily logs and snapshots: that of `files.folder` if it is a
    plain path below the project, else `memory`."""
    return _plain_steps(str(config["files.folder"])) or (MEMORY_FOLDER,)


def _plain_steps(folder: str) -> tuple[str, ...]:
    """Return the steps of a plain path below the project; none for any other."""
    steps = tuple(step for step in folder.split("/") if step != ".")
    return steps if all(step and step != ".." and not hidden(step) for step in steps) else ()


def log_folders(database: "Database") -> list[str]:
    """Return the folders, but `memory`, that logs and snapshots were ever written to: what is there is found still."""
    text = database.value("SELECT value FROM meta WHERE key = ?", (LOG_FOLDERS,))
    return [str(one) for one in json.loads(text)] if text else []


def note_log_folder(write: "Transaction", config: "Config") -> None:
    """Note the folder that logs and snapshots are written to, as part of the transaction in which they are."""
    folder, known = "/".join(log_folder(config)), log_folders(write.database)
    if folder != MEMORY_FOLDER and folder not in known:
        write.execute(
            "INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
            (LOG_FOLDERS, json.dumps([*known, folder])),
        )


def hidden(name: str) -> bool:
    return name.startswith(".")


def read_bytes(place: Root, largest: int = LARGEST_FILE) -> tuple[bytes, os.stat_result]:
    """Return the content of a document, and its state before it was read. Raise Unreadable or FileNotFoundError."""
    too_large = f"it is larger than {largest // 1_000_000} MB"
    try:
        handle = handle_on(place)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise Unreadable("it is not a plain file")
            if status.st_size > largest:
                raise Unreadable(too_large)
            parts, size = [], 0
            while part := os.read(handle, 1 << 20):
                parts.append(part)
                size += len(part)
                if size > largest:  # it grew
                    raise Unreadable(too_large)
            return b"".join(parts), status
        finally:
            os.close(handle)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unreadable(reason(error)) from None


def shut(place: Root) -> bool:
    """Return whether a document cannot be opened."""
    try:
        os.close(handle_on(place))
    except (OSError, Unreadable):
        return True
    return False


def decoded(raw: bytes) -> tuple[str, str]:
    """Return (the text, a note on how it was decoded). Raise Unreadable for what is not text.

    Text is UTF-8, or UTF-16 with a byte order mark. Else, where some of it is UTF-8 beyond ASCII, invalid bytes are
    replaced; where none is, it was written as Windows-1252, whose accents would all be lost.
    """
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = raw.decode("utf-16", "replace")
        return _plain(text), "parts of it are not UTF-16, and are replaced" if "\ufffd" in text else ""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        return _plain(raw.decode()), ""
    except UnicodeDecodeError:
        text = _plain(raw.decode(errors="replace"))
    if any(char > "\x7f" and char != "\ufffd" for char in text):
        return text, "parts of it are not UTF-8, and are replaced"
    return raw.decode("cp1252", "replace"), "it is not UTF-8, and was read as Windows-1252"


def reason(error: BaseException) -> str:
    """Return why something could not be read, in a few words."""
    import errno

    if isinstance(error, OSError):
        if error.errno in (errno.ELOOP, errno.EMLINK):
            return "symbolic links are not followed"
        return (error.strerror or type(error).__name__).lower()
    return error.message if isinstance(error, MemorandaError) else type(error).__name__


def _plain(text: str) -> str:
    if "\0" in text:
        raise Unreadable("it is binary, not text")
    return text


def _joined(name: str, entry: str) -> str:
    return f"{name}/{entry}" if name and name != "/" else name + entry


def _rest(root: Root, path: str, absolute: bool) -> list[str] | None:
    """Return the steps from a root to the document of this name; None where it is elsewhere."""
    if absolute != root.name.startswith("/"):
        return None
    if path == root.name:
        return []
    start = _joined(root.name, "") if root.name else ""
    return path[len(start) :].split("/") if path.startswith(start) else None


def handle_on(place: Root) -> int:
    """Return a handle on a file or folder, reached through no link below its anchor. Raise OSError or Unreadable."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe would block for ever
    handle = os.open(place.anchor, flags | os.O_DIRECTORY)
    try:
        for at, step in enumerate(place.steps):
            inner = at < len(place.steps) - 1
            if stat.S_ISLNK(os.lstat(step, dir_fd=handle).st_mode):  # opening it would say “no directory”
                raise Unreadable("symbolic links are not followed")
            below = os.open(step, flags | os.O_NOFOLLOW | (os.O_DIRECTORY if inner else 0), dir_fd=handle)
            os.close(handle)
            handle = below
    except BaseException:
        os.close(handle)
        raise
    return handle


def _entries(folder: Root) -> list[tuple[str, os.stat_result]]:
    """Return the entries of a folder, in order: plain files and folders, nothing hidden, no links."""
    handle = handle_on(folder)
    try:
        found = []
        with os.scandir(handle) as entries:
            for entry in entries:
                if not hidden(entry.name) and not entry.is_symlink():
                    try:
                        found.append((entry.name, entry.stat(follow_symlinks=False)))
                    except FileNotFoundError:
                        pass  # deleted meanwhile
        return sorted(found)
    finally:
        os.close(handle)
