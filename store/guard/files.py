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
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import apsw

from store.sources.claude_code import claude_projects_folder, own_memory_folder
from store.sources.files import (
    COPY_FOLDER_PREFIX,
    DATABASE_PARTS,
    LARGEST_TEXT_FILE,
    UnreadableDatabase,
    copy_database,
    describe_read_error,
    files_below,
    open_plain_file,
)
from store.sources.registry import SOURCES_BY_NAME, get_source
from store.sources.source import Machine, ReadTrouble

OWN_TOOL = "own"
OWN_TITLES = {OWN_TOOL: "your own folders"}
DATABASE_ENDINGS = (".db", ".sqlite")
UNGUARDED_TOOLS = ("markdown", "obsidian", "okf")  # whose places are a person's own
GUARDED_SUFFIX = ".md"
GUARD_COPY_PREFIX = "memoranda-guard-"  # what the name of a folder for a copy begins with
COPY_EXPIRY_SECONDS = 3_600  # after which such a folder was left by a process that was killed
LARGEST_GUARDED_DATABASE = 200 << 20  # bytes
LARGEST_GUARDED_FILE = 50 << 20  # of a file of JSON lines


@dataclass(frozen=True, slots=True)
class GuardedFile:
    """A file that is guarded, by the tool that keeps it; a `database` is of SQLite."""

    tool: str
    path: str

    @property
    def is_database(self) -> bool:
        """Tell whether the file is a database of SQLite."""
        return self.path.endswith(DATABASE_ENDINGS)


def guarded_tool_title(tool: str) -> str:
    """Return the title of a tool whose files are guarded, for a sentence."""
    return OWN_TITLES.get(tool) or get_source(tool).title


def list_guarded_files(machine: Machine, extra: Sequence[str] = ()) -> list[GuardedFile]:
    """List the files that are there now, each once; `extra` are files and folders of the person."""
    found: dict[str, GuardedFile] = {}
    for tool, places in _guarded_places(machine, extra):
        for path in _files_in(places):
            found.setdefault(path, GuardedFile(tool, path))
    return list(found.values())


def list_watched_folders(machine: Machine, extra: Sequence[str] = ()) -> list[str]:
    """List the folders in which a guarded file may be changed, made or removed."""
    found = set[str]()
    for _, places in _guarded_places(machine, extra):
        for place in places:
            found.add(_nearest_folder(os.path.dirname(place)))
            if os.path.isdir(place):
                found.update(below for below, _, _ in _walk_folder(place))
    base = claude_projects_folder(machine)
    return sorted(found | {path for path in (base, *_subfolders(base)) if os.path.isdir(path)})


def _guarded_places(machine: Machine, extra: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each tool with files, and folders of Markdown, whether they exist or not."""
    own = [os.path.join(machine.home, path.removeprefix("~/")) for path in extra]
    for tool in SOURCES_BY_NAME:
        if tool in UNGUARDED_TOOLS:
            continue
        special = _PLACES_BY_TOOL.get(tool)
        yield tool, special(machine) if special else get_source(tool).detect(machine)
    yield OWN_TOOL, own


def _claude_code_places(machine: Machine) -> list[str]:
    """List what is guarded of Claude Code."""
    base = claude_projects_folder(machine)
    own = own_memory_folder(machine)
    inner = (os.path.join(one, "memory") for one in _subfolders(base))
    return [os.path.join(os.path.dirname(base), "CLAUDE.md"), *inner, *([own] if own else [])]


def _codex_places(machine: Machine) -> list[str]:
    """List what is guarded of Codex."""
    base = machine.environment.get("CODEX_HOME") or os.path.join(machine.home, ".codex")
    return [os.path.join(base, name) for name in ("AGENTS.md", "AGENTS.override.md", "memories")]


def _gemini_places(machine: Machine) -> list[str]:
    """List what is guarded of Gemini CLI."""
    return [os.path.join(machine.home, ".gemini", "GEMINI.md")]


def _opencode_places(machine: Machine) -> list[str]:
    """List what is guarded of OpenCode."""
    base = machine.environment.get("XDG_CONFIG_HOME") or os.path.join(machine.home, ".config")
    return [os.path.join(base, "opencode", "AGENTS.md")]


def _openclaw_places(machine: Machine) -> list[str]:
    """List what is guarded of OpenClaw."""
    inner = ("MEMORY.md", "USER.md", "memory")
    return [os.path.join(one, name) for one in get_source("openclaw").detect(machine) for name in inner]


_PLACES_BY_TOOL: dict[str, Callable[[Machine], list[str]]] = {
    "claude-code": _claude_code_places,
    "codex": _codex_places,
    "gemini": _gemini_places,
    "opencode": _opencode_places,
    "openclaw": _openclaw_places,
}


def _files_in(places: Sequence[str]) -> Iterator[str]:
    """Yield the files of these places. What a person chose as a place may be reached through a link, nothing below it
    is: the path is that of the place behind it."""
    for place in places:
        if os.path.isdir(place):
            yield from files_below(os.path.realpath(place), GUARDED_SUFFIX, [])
        elif os.path.isfile(place) and not os.path.islink(place):
            yield os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))


def _subfolders(base: str) -> list[str]:
    """List the folders in a folder, without links; none if it cannot be read."""
    try:
        with os.scandir(base) as entries:
            return sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _walk_folder(place: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walk through a folder like os.walk, without hidden folders."""
    for folder, inner, names in os.walk(os.path.realpath(place)):
        inner[:] = [name for name in inner if not name.startswith(".")]
        yield folder, inner, names


def _nearest_folder(folder: str) -> str:
    """Return the folder, or the nearest above it that exists."""
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return os.path.realpath(folder)


# reading


class UnreadableNow(Exception):
    """A file cannot be read; the message says why, in a few words."""


@dataclass(frozen=True, slots=True)
class PresentFile:
    """A file: its bytes, its mode, and the stamp by which it is known to be the same."""

    raw: bytes
    mode: int
    stamp: str


def stamp_guarded_file(file: GuardedFile) -> str:
    """Return the stamp of a file; empty if there is none. Raise UnreadableNow if it cannot be told."""
    parts = []
    for end in DATABASE_PARTS if file.is_database else ("",):
        try:
            about = os.lstat(file.path + end)
        except (FileNotFoundError, NotADirectoryError):
            if not end:
                return ""
            continue
        except OSError as error:
            raise UnreadableNow((error.strerror or "it cannot be looked at").lower()) from None
        parts.append(f"{about.st_mtime_ns} {about.st_size} {about.st_ino} {about.st_ctime_ns}")
    return ", ".join(parts)


def read_guarded_file(file: GuardedFile) -> PresentFile | None:
    """Read a file. Return None if there is none. Raise UnreadableNow."""
    before = stamp_guarded_file(file)
    if not before:
        return None
    troubles: list[ReadTrouble] = []
    if file.is_database:
        mode, raw = stat.S_IMODE(os.lstat(file.path).st_mode), _database_image(file.path)
    else:
        source = open_plain_file(file.path, troubles)
        if source is None:
            raise UnreadableNow(troubles[0].why)
        with source:
            about = os.fstat(source.fileno())
            largest = LARGEST_TEXT_FILE if file.path.endswith(".md") else LARGEST_GUARDED_FILE
            if about.st_size > largest:
                raise UnreadableNow(f"it is larger than {largest:,} bytes")
            try:
                mode, raw = stat.S_IMODE(about.st_mode), source.read(largest + 1)
            except OSError as error:
                raise UnreadableNow((error.strerror or "it cannot be read").lower()) from None
    if stamp_guarded_file(file) != before:
        raise UnreadableNow("it is being written")
    return PresentFile(raw, mode, before)


def _database_image(path: str) -> bytes:
    """Return a database with its log folded in, from a copy. Raise NotNow."""
    folder = tempfile.mkdtemp(prefix=GUARD_COPY_PREFIX)
    try:
        copy = copy_database(path, folder, LARGEST_GUARDED_DATABASE)
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
    except (UnreadableDatabase, apsw.Error, OSError) as error:
        raise UnreadableNow(describe_read_error(error)) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def tidy_guard_copies() -> None:
    """Delete copies of databases that a killed process left behind."""
    base, uid, before = tempfile.gettempdir(), os.getuid(), time.time() - COPY_EXPIRY_SECONDS
    try:
        with os.scandir(base) as entries:
            left = [entry for entry in entries if entry.name.startswith((GUARD_COPY_PREFIX, COPY_FOLDER_PREFIX))]
        for entry in left:
            about = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(about.st_mode) and about.st_uid == uid and about.st_mtime < before:
                shutil.rmtree(entry.path, ignore_errors=True)
    except OSError:
        pass  # another process deleted it
