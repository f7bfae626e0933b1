"""What a reader finds in the memory of another tool, and what a source is."""

import errno
import gzip
import json
import os
import re
import shutil
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, BinaryIO, NamedTuple, TypeVar

import apsw

from store.base.clock import from_ms
from store.base.location import MEMORANDA_FOLDER
from store.git.repository import git_folders
from store.ingest.formats import fence_after_line
from store.text.display import format_count, home_path
from store.text.words import remove_between


class FoundDecision(NamedTuple):
    """The parts of a decision besides its title."""

    chosen: str
    alternatives: tuple[str, ...] = ()
    rationale: str = ""


class FoundMemory(NamedTuple):
    """A fact, or with `decision` a decision, whose title is `text`.

    It comes from lines `line` to `last` of the file at `path`, counted from 1; in a database or a JSON document `line`
    is the number of the record, and `place` says which in words. `id` is the tool's own, empty where it has none.
    `created` is UTC, empty where unknown or unreadable; `project` a folder, or its name where the tool keeps none.
    `note` is something to know before it is accepted; `title` and `kind` are what it is called there.
    """

    text: str
    path: str
    line: int = 1
    last: int = 0
    place: str = ""
    id: str = ""
    session: str = ""
    project: str = ""
    created: str = ""
    tags: tuple[str, ...] = ()
    domain: str = "general"
    pinned: bool = False
    note: str = ""
    title: str = ""
    kind: str = ""
    decision: FoundDecision | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """All that it says: of a decision what was chosen, why and against what too."""
        more = self.decision
        return (self.text, more.chosen, more.rationale, *more.alternatives) if more else (self.text,)


class FoundTurn(NamedTuple):
    """A turn of a conversation; `role` is user or assistant, `at` UTC or empty; `cwd` the working folder, the
    name of the project where the tool keeps no folder, or empty."""

    session: str
    role: str
    text: str
    path: str
    line: int = 1
    at: str = ""
    id: str = ""
    cwd: str = ""


class FoundDocument(NamedTuple):
    """Prose of a file, which is searched where it lies and is no fact. It has a `kind` where it is a text of its own
    that can be edited."""

    path: str
    text: str
    title: str = ""
    kind: str = ""


FoundItem = FoundMemory | FoundTurn | FoundDocument
Item = TypeVar("Item")


class ReadTrouble(NamedTuple):
    """What could not be read: `line` is 0 for a whole file. Without a path it is what else is to be known. What was
    `left` out on purpose is no trouble: the number is at least how many files of the kind that was looked for it
    holds."""

    path: str
    line: int
    why: str
    left: int | None = None

    @property
    def is_denied(self) -> bool:
        """Whether the system does not allow it."""
        # as the system says it
        return self.why == "permission denied"

    def describe(self, says: str) -> str:
        """Return in a line that the file could not be kept, or read, as it `says`; or what else is to be known."""
        return f"{says}: {home_path(self.path)}: {self.why}" if self.path else f"Note: {self.why}"

    def as_dict(self) -> dict[str, object]:
        return {"path": self.path, "why": self.why}


Troubles = list[ReadTrouble]


@dataclass(frozen=True, slots=True)
class Machine:
    """Where tools are looked for: the home folder, the environment, the system (a `sys.platform`), and the folder of
    the project that alone is wanted, empty for all."""

    home: str
    environment: Mapping[str, str] = field(default_factory=dict)
    system: str = "linux"
    project: str = ""

    def find_folder(self, variable: str, *usual: str) -> str:
        """Return the folder that a variable names; without it the usual one, in steps from the home folder."""
        return self.environment.get(variable) or os.path.join(self.home, *usual)

    def find_data(self, variable: str, usual: str) -> str:
        """Return the folder of programs' data, which macOS has in a place of its own."""
        apple = os.path.join(self.home, "Library", "Application Support")
        return apple if self.system == "darwin" else self.find_folder(variable, usual)

    def find_files(self, variable: str, usual: str, *names: str) -> list[str]:
        """List files of these names in the folder that a variable names, or in the usual one."""
        return [os.path.join(self.find_folder(variable, usual), name) for name in names]


# Read files of other tools: regular ones of a limited size, through no symbolic link, and nothing is written.

# bytes of a Markdown file, which is read whole
LARGEST_TEXT_FILE = 16_000_000
# bytes of a JSON document, which is read whole
LARGEST_JSON_DOCUMENT = 512 << 20
# bytes of a line
LONGEST_JSON_LINE = 32 << 20
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


LINK = "symbolic links are not followed"


def note_unreadable(troubles: Troubles, path: str, error: OSError) -> None:
    """Note once that a file or folder cannot be read, and why."""
    link = error.errno in (errno.ELOOP, errno.EMLINK)
    why = LINK if link else (error.strerror or "it cannot be read").lower()
    if (trouble := ReadTrouble(path, 0, why)) not in troubles:
        troubles.append(trouble)


def open_without_trace(path: str, flags: int) -> int:
    """Open a file to read it, without a trace of that in its times where the system allows it: only its owner may. A
    pipe is opened at once, and not when somebody writes to it."""
    flags |= os.O_CLOEXEC | os.O_NONBLOCK
    try:
        return os.open(path, flags | getattr(os, "O_NOATIME", 0))
    except PermissionError:
        return os.open(path, flags)


def open_plain_file(path: str, troubles: Troubles, buffering: int = -1) -> BinaryIO | None:
    """Open a plain file for reading. Return None, and note a trouble, for anything else."""
    try:
        handle = open_without_trace(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError as error:
        note_unreadable(troubles, path, error)
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        troubles.append(ReadTrouble(path, 0, "it is not a plain file"))
        return None
    return os.fdopen(handle, "rb", buffering=buffering)


def read_file_bytes(path: str, troubles: Troubles, largest: int = LARGEST_TEXT_FILE) -> bytes | None:
    """Return the bytes of a file. Return None, and note a trouble, if it cannot be read or is too long."""
    file = open_plain_file(path, troubles)
    if file is None:
        return None
    with file:
        try:
            found = file.read(largest + 1)
        except OSError as error:
            note_unreadable(troubles, path, error)
            return None
    # it may have grown since it was opened, or tell no size
    if len(found) > largest:
        troubles.append(ReadTrouble(path, 0, f"it is longer than {largest:,} bytes"))
        return None
    return found


def detect_encoding(raw: bytes) -> str:
    """Return the encoding that the first bytes of a text tell: UTF-16, with or without a mark of it, or UTF-8."""
    head = raw[:64]
    if head[:2] in UTF16_MARKS:
        return "utf-16"
    for high, name in ((head[1::2], "utf-16-le"), (head[::2], "utf-16-be")):
        if high.count(0) * 2 > len(high) and head.count(0) == high.count(0):
            return name
    return "utf-8-sig"


def read_text_file(path: str, troubles: Troubles, largest: int = LARGEST_TEXT_FILE) -> str | None:
    """Return a file's text with `\\n` at the ends of lines and without a mark of its encoding. Bytes that are no text
    are replaced, and reported; a file that is binary is a trouble."""
    raw = read_file_bytes(path, troubles, largest)
    if raw is None:
        return None
    encoding = detect_encoding(raw)
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        troubles.append(ReadTrouble(path, 0, f"a part of it is not {encoding.removesuffix('-sig').upper()}"))
        text = raw.decode(encoding, "replace")
    if "\0" in text:
        troubles.append(ReadTrouble(path, 0, "it is binary, not text"))
        return None
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def read_json_file(path: str, troubles: Troubles) -> object:
    """Return a JSON document, or a list of several that stand one behind the other. Of a damaged one what is whole is
    returned, and the rest is a trouble; None if nothing is."""
    text = read_text_file(path, troubles, LARGEST_JSON_DOCUMENT)
    if text is None:
        return None
    values, lost = parse_json(text)
    if not values:
        troubles.append(ReadTrouble(path, 0, "it is not JSON"))
        return None
    if lost:
        says = f"it is cut short or damaged: {lost:,} of its {len(text):,} characters cannot be read"
        troubles.append(ReadTrouble(path, 0, says))
    return values if values[1:] else values[0]


_JSON_DECODER = json.JSONDecoder()
_JSON_SPACE = re.compile(r"[\s,\ufeff]*")
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]', re.DOTALL)


def parse_json(text: str, parts: bool = True) -> tuple[list[Any], int]:
    """Return the JSON values of a text, which may stand one behind the other, and how many characters at its end are
    none. With `parts` what is whole of a value that is cut short is returned too."""
    values, place, space = list[Any](), 0, _JSON_SPACE.match(text)
    while space and (place := space.end()) < len(text):
        try:
            value, place = _JSON_DECODER.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            part, end = _whole_json(text, place, getattr(error, "pos", place)) if parts else (None, place)
            return [*values, *([part] if part else ())], len(text) - end
        values.append(value)
        space = _JSON_SPACE.match(text, place)
    return values, 0


def _whole_json(text: str, start: int, end: int) -> tuple[Any, int]:
    """Return what is whole of a value that is damaged at `end`, and where that ends: a record of a list is whole or
    left out."""
    inside, whole, cut = "", "", start
    for found in _JSON_TOKEN.finditer(text, start, end):
        mark = found[0]
        if mark in "[{":
            inside += mark
        elif mark in "]}":
            inside = inside[:-1]
        elif mark == "," and (inside == "{" or (inside.count("[") == 1 and inside[-1] == "[")):
            whole, cut = inside, found.start()
    closing = whole[::-1].translate({91: "]", 123: "}"})
    try:
        return (json.loads(f"{text[start:cut]}{closing}") if whole else None), cut
    except (ValueError, RecursionError):
        return None, start


def read_json_lines(path: str, troubles: Troubles) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (number, object) of the lines of a file, one at a time in memory; of a list, a document or UTF-16 each
    object has the number of its place. The last line, if it has no end and is no JSON, is still being written and is no
    trouble beside others."""
    file = open_plain_file(path, troubles, 1 << 18)
    if file is None:
        return
    with file:
        number = read = 0
        while line := file.readline(LONGEST_JSON_LINE):
            number += 1
            alone = path.endswith(".json") or line.strip() == b"{" or line.lstrip(b"\xef\xbb\xbf \t")[:1] == b"["
            if number == 1 and (alone or detect_encoding(line) != "utf-8-sig"):
                value = read_json_file(path, troubles)
                several = value if isinstance(value, list) else [value]
                yield from ((at, one) for at, one in enumerate(several, 1) if isinstance(one, dict))
                return
            whole = line.endswith(b"\n")
            if len(line) == LONGEST_JSON_LINE and not whole:
                more = line
                while more and not more.endswith(b"\n"):
                    more = file.readline(LONGEST_JSON_LINE)
                troubles.append(ReadTrouble(path, number, "it is too long"))
                continue
            values, lost = parse_json(line.decode("utf-8", "replace"), parts=False)
            found = [one for one in values if isinstance(one, dict)]
            if lost and (whole or values or not read):
                says = "a part of it is not JSON" if values else "it is not JSON"
                troubles.append(ReadTrouble(path, number, says))
            elif len(found) < len(values):
                troubles.append(ReadTrouble(path, number, "it is not an object"))
            read += len(found)
            yield from ((number, one) for one in found)


# Find the files of a folder: dot folders too, bounded, and through no link. What is left out is said, with the reason
# and at least how many such files it holds.

# entries that are looked at, and folders deep
MOST_ENTRIES = 200_000
DEEPEST_FOLDER = 32
# entries that are counted in a folder that is left out
COUNTED_ENTRIES = 2_000
CACHE, VERSIONS, PACKAGES = "a cache", "version control", "packages or builds"
OTHER_DATA = "another program's own data"
_NAMES = {
    VERSIONS: ".git .hg .svn .jj .sl .bzr .pijul _darcs CVS",
    PACKAGES: "node_modules bower_components site-packages .venv venv .tox .nox .eggs .gradle .m2 .cargo .rustup .npm"
    " .nvm .pnpm-store .yarn .bundle .gem .rbenv .pyenv .asdf .sdkman .next .nuxt .svelte-kit .turbo .terraform .bun"
    " .deno .dart_tool .direnv .devenv .stack-work .ivy2 .sbt .nuget .pub-cache",
    CACHE: "__pycache__ .cache .mypy_cache .pytest_cache .ruff_cache .parcel-cache .ipynb_checkpoints .sass-cache"
    " .hypothesis",
    "keys or passwords": ".ssh .gnupg .aws .azure .kube .docker .password-store .pki .secrets",
    "the bin": ".Trash .Trashes .Trash-1000 .trash",
    OTHER_DATA: ".obsidian .mozilla .thunderbird .wine .steam .vscode-server .cursor-server .dbus .Spotlight-V100"
    " .fseventsd",
    "a memory of Memoranda": MEMORANDA_FOLDER,
}
# whatever the folder is called
_MARKS = {"CACHEDIR.TAG": CACHE, "pyvenv.cfg": PACKAGES}
_BARE_REPOSITORY = ("HEAD", "objects", "refs")
_EDITORS = (".vscode", ".cursor", ".windsurf")


def find_files(path: str, suffix: str | tuple[str, ...], troubles: Troubles) -> Iterator[str]:
    """Yield a file, whatever its name, or the files below a folder whose name ends so, in any case, in order. What
    cannot be read and what is left out is noted; a folder that is not there is neither."""
    if os.path.isfile(path):
        yield path
        return
    waiting, looked, projects = [(path, 0)], 0, set[str]()
    _is_copy_of_project(path, projects)
    while waiting:
        place, depth = waiting.pop()
        if looked > MOST_ENTRIES:
            troubles.append(ReadTrouble(place, 0, f"more than {MOST_ENTRIES:,} entries come before it", 0))
            continue
        inner = []
        try:
            with os.scandir(place) as entries:
                several = sorted(islice(entries, MOST_ENTRIES - looked + 1), key=attrgetter("name"))
            looked += len(several)
            for one in several:
                wanted = one.name.lower().endswith(suffix)
                if one.is_symlink():
                    if wanted or one.is_dir():
                        troubles.append(ReadTrouble(one.path, 0, LINK, 0))
                elif not one.is_dir(follow_symlinks=False):
                    if wanted and one.name.startswith("."):
                        troubles.append(ReadTrouble(one.path, 0, "a hidden file", 1))
                    elif wanted:
                        yield one.path
                elif why := _reason_to_leave_out(one, depth + 1, projects):
                    troubles.append(ReadTrouble(one.path, 0, why, _count_files(one.path, suffix)))
                else:
                    inner.append((one.path, depth + 1))
        except OSError as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                note_unreadable(troubles, place, error)
        if looked > MOST_ENTRIES:
            troubles.append(ReadTrouble(place, 0, f"a part of it: more than {MOST_ENTRIES:,} entries", 0))
        waiting += reversed(inner)


def _reason_to_leave_out(one: os.DirEntry[str], depth: int, projects: set[str]) -> str:
    """Return why a folder is left out; empty if it is not."""
    if depth > DEEPEST_FOLDER:
        return f"more than {DEEPEST_FOLDER} folders deep"
    if why := next((why for why, names in _NAMES.items() if one.name in names.split()), ""):
        return why
    if one.name == "extensions" and os.path.basename(os.path.dirname(one.path)).startswith(_EDITORS):
        return PACKAGES
    for name, why in _MARKS.items():
        if os.path.lexists(os.path.join(one.path, name)):
            return why
    if all(os.path.exists(os.path.join(one.path, name)) for name in _BARE_REPOSITORY):
        return VERSIONS
    return "a worktree of the same project" if _is_copy_of_project(one.path, projects) else ""


def _is_copy_of_project(folder: str, projects: set[str]) -> bool:
    """Tell whether a folder is a worktree of a project that was looked at, and note its project as one."""
    found = git_folders(folder) if os.path.lexists(os.path.join(folder, ".git")) else None
    if found is None:
        return False
    own, shared = map(os.path.realpath, found)
    seen = own != shared and shared in projects
    projects.add(shared)
    return seen


def _count_files(folder: str, suffix: str | tuple[str, ...]) -> int:
    """Return at least how many files below a folder have a name that ends so."""
    found = looked = 0
    for _, folders, names in os.walk(folder):
        found += sum(name.lower().endswith(suffix) for name in names)
        looked += len(names) + len(folders)
        if looked > COUNTED_ENTRIES:
            break
    return found


def take_left_out(troubles: Troubles) -> Troubles:
    """Take what was left out out of a list of troubles, and return it."""
    left = list(dict.fromkeys(one for one in troubles if one.left is not None))
    troubles[:] = [one for one in troubles if one.left is None]
    return left


def left_out_lines(left: Sequence[ReadTrouble]) -> list[str]:
    """Return what was left out, a line for each reason."""
    lines = []
    for why, group in groupby(sorted(left, key=attrgetter("why", "path")), attrgetter("why")):
        several = list(group)
        files = sum(one.left or 0 for one in several)
        more = f" and {len(several) - 1:,} more" if several[1:] else ""
        many = f", at least {format_count(files, 'file')}" if files else ""
        lines.append(f"Left out, {why}: {home_path(several[0].path)}{more}{many}")
    return lines


def list_folders(start: str, links: bool = False, shut: Sequence[str] = ()) -> list[str]:
    """List the folders whose paths begin with `start`, with `links` those behind links too; none if they cannot be
    read, or where that is not allowed those of `shut`."""
    folder, name = os.path.split(start)
    try:
        with os.scandir(folder) as entries:
            found = (one for one in entries if one.name.startswith(name) and one.is_dir(follow_symlinks=links))
            return sorted(one.path for one in found)
    except PermissionError:
        return list(shut)
    except OSError:
        return []


def modification_time(path: str) -> str:
    """Return when a file was last changed; empty if it is gone."""
    try:
        return from_ms(os.stat(path).st_mtime_ns // 1_000_000)
    except OSError:
        return ""


def existing_paths(*paths: str) -> list[str]:
    """Return the paths that exist, or may exist in a folder that cannot be read, each once."""
    return list(dict.fromkeys(path for path in paths if path and _may_exist(path)))


def _may_exist(path: str) -> bool:
    try:
        os.stat(path)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


def stripped_text(value: object) -> str:
    """Return a text without spaces around it; empty for a value that is not a text."""
    return value.strip() if isinstance(value, str) else ""


def text_in(row: Mapping[str, object], *names: str) -> str:
    """Return the first of these texts of a row that says something, without spaces around it; empty without one."""
    return next(filter(None, (stripped_text(row.get(name)) for name in names)), "")


def parse_object(value: object) -> dict[str, object]:
    """Return an object, which may be JSON inside a text; empty for anything else."""
    value = _parse_json(value)
    return value if isinstance(value, dict) else {}


def stripped_texts(value: object) -> tuple[str, ...]:
    """Return the texts of a list, which may be JSON inside a text."""
    value = _parse_json(value)
    several = value if isinstance(value, list) else ()
    return tuple(one.strip() for one in several if isinstance(one, str) and one.strip())


def _parse_json(value: object) -> object:
    """Return what JSON inside a text says, None if it is none; any other value as it is."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None


# Times of other tools, as ours.

# a number from here on counts milliseconds: in seconds it would be the year 2286
FIRST_MILLISECONDS = 10_000_000_000


def parse_foreign_time(value: object) -> str:
    """Parse a time of another tool into UTC: seconds or milliseconds since 1970, or ISO 8601, which is UTC without
    an offset. Return an empty text for anything else."""
    try:
        if isinstance(value, bool) or value is None:
            return ""
        if isinstance(value, int | float):
            return from_ms(round(value if abs(value) >= FIRST_MILLISECONDS else value * 1000))
        moment = datetime.fromisoformat(str(value).strip())
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        return from_ms(round(moment.timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        return ""


def time_in(row: Mapping[str, object], *names: str) -> str:
    """Return the first of these times of a row that can be parsed; empty without one."""
    return next(filter(None, (parse_foreign_time(row.get(name)) for name in names)), "")


# Read a SQLite database of another program without touching it: its files are copied, and the copy is opened, so that
# its log is read and not folded in.

DATABASE_PARTS = ("", "-wal", "-journal")
# what the name of a folder for a copy begins with
COPY_FOLDER_PREFIX = "memoranda-source-"
# to copy a database that nobody writes meanwhile
COPY_TRIES = 3
# bytes
LARGEST_COPIED_DATABASE = 8 << 30


DAMAGED = "it is damaged, and was read as far as it goes"


class CannotUse(Exception):
    """A file cannot be read now, or as what it should be, or edited; the message says why, in a few words."""


class CopiedDatabase:
    """A copy of a database: its tables by name, columns that are missing read as None."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self.asked: set[str] = set()
        # table → rows that were read of it
        self.damaged: dict[str, int] = {}
        self.tables = {
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if isinstance(name, str)
        }

    def read_table(self, table: str, columns: str, order: str = "rowid") -> Iterator[dict[str, object]]:
        """Yield the rows of a table, with its rowid as `rowid`; nothing if there is no such table. `order` names one of
        the columns. A damaged table is read from both its ends, each as far as it goes."""
        self.asked.add(table)
        if table not in self.tables:
            return
        here = {row[1] for row in self._connection.execute(f"PRAGMA table_info({_sql_name(table)})")}
        wanted = columns.split()
        named = ", ".join(_sql_name(name) if name in here else "NULL" for name in wanted)
        by, read = _sql_name(order) if order in here else "rowid", set[object]()
        query = f"SELECT rowid, {named} FROM {_sql_name(table)}"
        for way in (f"{by}, rowid", "rowid", "rowid DESC"):
            try:
                for row in self._connection.execute(f"{query} ORDER BY {way}"):
                    if row[0] not in read:
                        read.add(row[0])
                        yield dict(zip(("rowid", *wanted), row, strict=True))
                return
            except apsw.CorruptError:
                self.damaged[table] = len(read)


def _sql_name(name: str) -> str:
    """Quote a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def read_database(
    path: str, troubles: Troubles, read: Callable[[str, CopiedDatabase], Iterator[Item]]
) -> Iterator[Item]:
    """Yield what `read` reads of a copy of the database at a path. What cannot be opened, or read to its end, is a
    trouble."""
    with tempfile.TemporaryDirectory(prefix=COPY_FOLDER_PREFIX, ignore_cleanup_errors=True) as folder:
        try:
            copy = copy_database(path, folder)
            missing = _mend_size(copy)
            with closing(apsw.Connection(copy)) as connection:
                connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
                connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
                connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
                connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
                database = CopiedDatabase(connection)
                yield from read(path, database)
            if database.damaged or missing:
                rows = [f"{number:,} rows of {table}" for table, number in database.damaged.items()]
                says = "; ".join(filter(None, (DAMAGED, ", ".join(rows), missing)))
                troubles.append(ReadTrouble(path, 0, says))
            elif not database.asked & database.tables:
                troubles.append(ReadTrouble(path, 0, "it has none of the tables that are known of this tool"))
        except (CannotUse, apsw.Error, OSError) as error:
            troubles.append(ReadTrouble(path, 0, describe_read_error(error)))


def _mend_size(copy: str) -> str:
    """Let the copy of a database that was cut short say how long it is: SQLite reads nothing of it otherwise. Return
    what is missing; empty if nothing is."""
    with open(copy, "r+b") as file:
        head = file.read(32)
        # the largest size does not fit into the two bytes, and is 1 there
        size = {0: 1, 1: 65_536}.get(size := int.from_bytes(head[16:18]), size)
        pages, there = int.from_bytes(head[28:32]), os.path.getsize(copy) // size
        if not head.startswith(b"SQLite format 3") or pages <= there or os.path.exists(f"{copy}-wal"):
            return ""
        file.seek(28)
        file.write(there.to_bytes(4))
        return f"{pages - there:,} of its {pages:,} pages are missing"


def describe_read_error(error: Exception) -> str:
    """Return why a database could not be read, in a few words."""
    if isinstance(error, apsw.NotADBError):
        return "it is not an SQLite database"
    if isinstance(error, apsw.CorruptError):
        return DAMAGED
    if isinstance(error, CannotUse):
        return str(error)
    if isinstance(error, OSError):
        return (error.strerror or "it cannot be read").lower()
    return "SQLite cannot read it"


@contextmanager
def unpack_file(path: str, troubles: Troubles) -> Iterator[str]:
    """Unpack a file into a copy for as long as it is read; yield the path of that. What is damaged is unpacked as far
    as it goes."""
    with tempfile.TemporaryDirectory(prefix=COPY_FOLDER_PREFIX, ignore_cleanup_errors=True) as folder:
        copy = os.path.join(folder, os.path.basename(path).removesuffix(".gz"))
        packed = open_plain_file(path, troubles)
        with open(copy, "wb") as file, packed or nullcontext():
            try:
                parts = gzip.GzipFile(fileobj=packed or BytesIO())
                while part := parts.read1(1 << 16):
                    file.write(part)
                    if file.tell() > LARGEST_COPIED_DATABASE:
                        raise OSError("it is too long")
            except (OSError, EOFError, zlib.error):
                troubles.append(ReadTrouble(path, 0, DAMAGED if file.tell() else "it cannot be unpacked"))
        yield copy


def copy_database(path: str, folder: str, largest: int = LARGEST_COPIED_DATABASE) -> str:
    """Copy a database and its log as they were at one moment. Return the path of the copy. Raise
    CannotUse or OSError."""
    if not os.path.isfile(path):
        raise CannotUse("it is not a plain file")
    path, copy, found = os.path.realpath(path), os.path.join(folder, "copy.db"), Troubles()
    for _ in range(COPY_TRIES):
        before = file_stamps(path)
        if sum(os.path.getsize(path + part) for part in before) > largest:
            raise CannotUse(f"it is larger than {largest >> 20:,} MB")
        for part in DATABASE_PARTS:
            if os.path.lexists(copy + part):
                os.unlink(copy + part)
            if part in before:
                if (opened := open_plain_file(path + part, found)) is None:
                    raise CannotUse(found[0].why.replace("it is", "a part of it is"))
                with opened, open(copy + part, "xb") as target:
                    shutil.copyfileobj(opened, target, 1 << 20)
        if file_stamps(path) == before:
            return copy
    raise CannotUse("another program is writing it right now")


def file_stamps(path: str, parts: Sequence[str] = DATABASE_PARTS) -> dict[str, str]:
    """Return by what each part of a file that is there is known to be the same. Raise OSError."""
    found = {}
    for part in parts:
        with suppress(FileNotFoundError, NotADirectoryError):
            about = os.lstat(path + part)
            found[part] = f"{about.st_mtime_ns} {about.st_size} {about.st_ino} {about.st_ctime_ns}"
    return found


# Markdown as people and tools write memories in it: front matter, bullets, prose.

_BULLET = re.compile(r" {0,3}[-*+][ \t]+(?P<text>\S.*)")
_TASK = re.compile(r"\[.\](?:\s|$)")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?P<text>.*)")
_MARK = re.compile(r"^\s*[-*+][ \t]+")
_LABEL = re.compile(r"[^\n]*[:\uff1a][ \t]*(?:\*\*|__)?[ \t]*(?:(?:\*\*|__|[*_])\([^()\n]*\)(?:\*\*|__|[*_]))?")
# that a comment above a bullet may have
COMMENT_LINES = 20
# characters of front matter
LONGEST_FRONT_MATTER = 65_536


class Bullet(NamedTuple):
    """A bullet with the indented lines that belong to it, lines `line` to `last`; `above` is a comment above it, since
    the last bullet, that begins in line `comment`."""

    text: str
    line: int
    last: int
    heading: str
    above: str
    comment: int = 0

    @property
    def tags(self) -> tuple[str, ...]:
        """What it stands under, as a tag."""
        return (self.heading,) if self.heading else ()


def bullet_memory(
    one: Bullet, path: str, created: str, tags: tuple[str, ...], text: str = "", **more: Any
) -> FoundMemory:
    """Return the memory that a bullet of the file at a path is, with its text or a part of that."""
    return FoundMemory(text or one.text, path, one.line, one.last, created=created, tags=tags, **more)


def parse_front_matter(text: str) -> tuple[dict[str, object], str, int]:
    """Return the front matter, the rest of the text, and how many lines the front matter takes. Front matter that
    is not YAML is empty; every scalar in it is a text."""
    if not text.startswith("---\n"):
        return {}, text, 0
    end = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE).search(text, 4)
    if end is None or end.start() > LONGEST_FRONT_MATTER:
        return {}, text, 0
    return _parse_yaml(text[4 : end.start()]), text[end.end() :], text.count("\n", 0, end.end())


def _parse_yaml(head: str) -> dict[str, object]:
    """Parse front matter; return an empty dict if it is not a YAML mapping."""
    import yaml

    try:
        # the one in C is not everywhere
        value = yaml.load(head, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    return {str(key): one for key, one in value.items()} if isinstance(value, dict) else {}


def parse_tag_list(value: object, mark: str = "#") -> tuple[str, ...]:
    """Parse the tags of front matter: a list, or a text with commas, each perhaps with a mark before it."""
    parts = value if isinstance(value, list) else str(value or "").split(",")
    found = (str(one).strip().removeprefix(mark) for one in parts if isinstance(one, str))
    return tuple(one for one in dict.fromkeys(found) if one)


def parse_bullets(text: str, first: int = 1) -> Iterator[Bullet]:
    """Yield the bullets of a text that are not tasks, outside of code and quotes; `first` is the number of its
    first line. A bullet continues in indented lines."""
    lines = text.split("\n")
    heading, above, fence, place, comment = "", "", "", 0, 0
    while place < len(lines):
        line = lines[place]
        inside, fence = fence, fence_after_line(line, fence)
        if inside or fence:
            place += 1
            continue
        if named := _HEADING.fullmatch(line):
            heading, above = named["text"].rstrip().rstrip("#").rstrip(), ""
        elif "<!--" in line and not _says_something(line):
            ahead = "\n".join(lines[place : place + COMMENT_LINES])
            start = ahead.index("<!--")
            if (end := ahead.find("-->", start)) >= 0:
                above, comment = ahead[start + 4 : end].strip(), first + place
                place += ahead.count("\n", 0, end)
        elif found := _BULLET.fullmatch(line):
            end = _bullet_end(lines, _comment_end(lines, place))
            if not _TASK.match(found["text"]):
                rest = _dedent_lines(lines[place + 1 : end])
                whole = "\n".join([found["text"].rstrip(), *rest]).strip()
                yield Bullet(whole, first + place, first + end - 1, heading, above, comment if above else 0)
            above = ""
            place = end
            continue
        place += 1


def _says_something(line: str) -> bool:
    """Tell whether a line is a bullet that says something beside comments; the last comment may end further below."""
    found = _BULLET.fullmatch(remove_between(line, "<!--", "-->").rstrip())
    return found is not None and not found["text"].startswith("<!--")


def _comment_end(lines: list[str], place: int) -> int:
    """Return the index of the line in which a comment ends that begins in the bullet at `place`; `place` if there
    is none."""
    if "<!--" in remove_between(lines[place], "<!--", "-->"):
        for ahead in range(place + 1, min(place + COMMENT_LINES, len(lines))):
            if "-->" in lines[ahead]:
                return ahead
    return place


def _bullet_end(lines: list[str], place: int) -> int:
    """Return the index behind the last line of the bullet at `place`."""
    end = ahead = place + 1
    while ahead < len(lines):
        line = lines[ahead]
        if line.startswith(("  ", "\t")) and line.strip():
            end = ahead + 1
        elif line.strip():
            break
        ahead += 1
    return end


def _dedent_lines(lines: list[str]) -> list[str]:
    """Remove the indentation that all lines share."""
    wide = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[wide:].rstrip() for line in lines]


def is_unfilled(text: str) -> bool:
    """Tell whether a bullet has only labels, as a template does: `**Name:**`, `**Pronouns:** _(optional)_`."""
    lines = (_MARK.sub("", line, count=1).strip() for line in text.split("\n") if line.strip())
    return all(_LABEL.fullmatch(line) for line in lines)


def prose_paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text that are neither headings, bullets, code nor comments."""
    found: list[str] = []
    held: list[str] = []
    fence, place = "", 0
    lines = remove_between(text, "<!--", "-->").split("\n")
    while place < len(lines):
        line = lines[place]
        inside, fence = fence, fence_after_line(line, fence)
        if not inside and not fence and _BULLET.fullmatch(line):
            place = _bullet_end(lines, place)
        elif inside or fence or not line.strip() or _HEADING.fullmatch(line):
            place += 1
        else:
            held.append(line.rstrip())
            place += 1
            continue
        if held:
            found.append("\n".join(held))
            held = []
    return [*found, "\n".join(held)] if held else found
