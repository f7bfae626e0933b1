"""Which files are guarded, those in which the tools that were found keep what they remember, and how one is read:
through no link, and without changing a byte or a time of it.

Not guarded are conversations (Codex, Gemini CLI and OpenCode keep little else, and their own instruction file of the
person is guarded), search indexes, vectors, files of a project, which git keeps, and a person's own notes, unless
`guard.paths` names them.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import apsw

from store.sources import registry, sqlite_copy
from store.sources.files import LARGEST, files_below, opened
from store.sources.readers import claude_code
from store.sources.source import Machine, Trouble

OWN = "own"
TITLES = {OWN: "your own folders"}
DATABASES = (".db", ".sqlite")
NOTES = ("markdown", "obsidian", "okf")  # whose places are a person's own
SUFFIX = ".md"
SCRATCH = "memoranda-guard-"  # what the name of a folder for a copy begins with
SCRATCH_SECONDS = 3_600  # after which such a folder was left by a process that was killed
LARGEST_DATABASE = 200 << 20  # bytes
LARGEST_LINES = 50 << 20  # of a file of JSON lines


@dataclass(frozen=True, slots=True)
class Guarded:
    """A file that is guarded, by the tool that keeps it; a `database` is of SQLite."""

    tool: str
    path: str

    @property
    def database(self) -> bool:
        return self.path.endswith(DATABASES)


def title(tool: str) -> str:
    """Return the name of a tool in a sentence."""
    return TITLES.get(tool) or registry.reader(tool).title


def guarded(machine: Machine, extra: Sequence[str] = ()) -> list[Guarded]:
    """List the files that are there now, each once; `extra` are files and folders of the person."""
    found: dict[str, Guarded] = {}
    for tool, places in _places(machine, extra):
        for path in _files(places):
            found.setdefault(path, Guarded(tool, path))
    return list(found.values())


def folders(machine: Machine, extra: Sequence[str] = ()) -> list[str]:
    """List the folders in which such a file may be changed, made or removed."""
    found = set[str]()
    for _, places in _places(machine, extra):
        for place in places:
            found.add(_nearest(os.path.dirname(place)))
            if os.path.isdir(place):
                found.update(below for below, _, _ in _walked(place))
    base = claude_code.projects(machine)
    return sorted(found | {path for path in (base, *_below(base)) if os.path.isdir(path)})


def _places(machine: Machine, extra: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each tool with files, and folders of Markdown, whether they exist or not."""
    own = [os.path.join(machine.home, path.removeprefix("~/")) for path in extra]
    for tool in registry.BY_NAME:
        if tool in NOTES:
            continue
        special = _SPECIAL.get(tool)
        yield tool, special(machine) if special else registry.reader(tool).detect(machine)
    yield OWN, own


def _claude_code(machine: Machine) -> list[str]:
    base = claude_code.projects(machine)
    own = claude_code.own_folder(machine)
    inner = (os.path.join(one, "memory") for one in _below(base))
    return [os.path.join(os.path.dirname(base), "CLAUDE.md"), *inner, *([own] if own else [])]


def _codex(machine: Machine) -> list[str]:
    base = machine.environment.get("CODEX_HOME") or os.path.join(machine.home, ".codex")
    return [os.path.join(base, name) for name in ("AGENTS.md", "AGENTS.override.md", "memories")]


def _gemini(machine: Machine) -> list[str]:
    return [os.path.join(machine.home, ".gemini", "GEMINI.md")]


def _opencode(machine: Machine) -> list[str]:
    base = machine.environment.get("XDG_CONFIG_HOME") or os.path.join(machine.home, ".config")
    return [os.path.join(base, "opencode", "AGENTS.md")]


def _openclaw(machine: Machine) -> list[str]:
    inner = ("MEMORY.md", "USER.md", "memory")
    return [os.path.join(one, name) for one in registry.reader("openclaw").detect(machine) for name in inner]


_SPECIAL: dict[str, Callable[[Machine], list[str]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "openclaw": _openclaw,
}


def _files(places: Sequence[str]) -> Iterator[str]:
    """Yield the files of these places. What a person chose as a place may be reached through a link, nothing below it
    is: the path is that of the place behind it."""
    for place in places:
        if os.path.isdir(place):
            yield from files_below(os.path.realpath(place), SUFFIX, [])
        elif os.path.isfile(place) and not os.path.islink(place):
            yield os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))


def _below(base: str) -> list[str]:
    try:
        with os.scandir(base) as entries:
            return sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _walked(place: str) -> Iterator[tuple[str, list[str], list[str]]]:
    for folder, inner, names in os.walk(os.path.realpath(place)):
        inner[:] = [name for name in inner if not name.startswith(".")]
        yield folder, inner, names


def _nearest(folder: str) -> str:
    """Return the folder, or the nearest above it that exists."""
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return os.path.realpath(folder)


# reading


class NotNow(Exception):
    """A file cannot be read; the message says why, in a few words."""


@dataclass(frozen=True, slots=True)
class Present:
    """A file: its bytes, its mode, and the stamp by which it is known to be the same."""

    raw: bytes
    mode: int
    stamp: str


def stamp(file: Guarded) -> str:
    """Return the stamp of a file; empty where there is none. Raise NotNow where that cannot be told."""
    parts = []
    for end in sqlite_copy.PARTS if file.database else ("",):
        try:
            about = os.lstat(file.path + end)
        except (FileNotFoundError, NotADirectoryError):
            if not end:
                return ""
            continue
        except OSError as error:
            raise NotNow((error.strerror or "it cannot be looked at").lower()) from None
        parts.append(f"{about.st_mtime_ns} {about.st_size} {about.st_ino} {about.st_ctime_ns}")
    return ", ".join(parts)


def present(file: Guarded) -> Present | None:
    """Return a file; None where there is none. Raise NotNow."""
    before = stamp(file)
    if not before:
        return None
    troubles: list[Trouble] = []
    if file.database:
        mode, raw = stat.S_IMODE(os.lstat(file.path).st_mode), _image(file.path)
    else:
        source = opened(file.path, troubles)
        if source is None:
            raise NotNow(troubles[0].why)
        with source:
            about = os.fstat(source.fileno())
            largest = LARGEST if file.path.endswith(".md") else LARGEST_LINES
            if about.st_size > largest:
                raise NotNow(f"it is larger than {largest:,} bytes")
            try:
                mode, raw = stat.S_IMODE(about.st_mode), source.read(largest + 1)
            except OSError as error:
                raise NotNow((error.strerror or "it cannot be read").lower()) from None
    if stamp(file) != before:
        raise NotNow("it is being written")
    return Present(raw, mode, before)


def _image(path: str) -> bytes:
    """Return a database with its log folded in, from a copy. Raise NotNow."""
    folder = tempfile.mkdtemp(prefix=SCRATCH)
    try:
        copy = sqlite_copy.copied(path, folder, LARGEST_DATABASE)
        connection = apsw.Connection(copy)
        try:
            connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            connection.pragma("schema_version")  # what is no database is noticed at the first reading
            return connection.serialize("main")
        except (apsw.NotADBError, apsw.CorruptError):
            pass  # damaged: as it is, it is a version too
        finally:
            connection.close()
        with open(copy, "rb") as file:
            return file.read()
    except (sqlite_copy.UnreadableDatabase, apsw.Error, OSError) as error:
        raise NotNow(sqlite_copy.why(error)) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def tidy() -> None:
    """Delete copies of databases that a killed process left behind."""
    import time

    base, uid, before = tempfile.gettempdir(), os.getuid(), time.time() - SCRATCH_SECONDS
    try:
        with os.scandir(base) as entries:
            left = [entry for entry in entries if entry.name.startswith((SCRATCH, sqlite_copy.SCRATCH))]
        for entry in left:
            about = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(about.st_mode) and about.st_uid == uid and about.st_mtime < before:
                shutil.rmtree(entry.path, ignore_errors=True)
    except OSError:
        pass  # another process deleted it
