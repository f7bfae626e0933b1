"""What a reader finds in the memory of another tool, and what a source is."""

import errno
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import BinaryIO, NamedTuple, TypeVar

import apsw

from store.base.clock import from_ms
from store.ingest.formats import fence_after_line
from store.text.display import home_path
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
    `note` is something to know before it is accepted.
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
    """Prose of a file, which is searched where it lies and is no fact."""

    path: str
    text: str


FoundItem = FoundMemory | FoundTurn | FoundDocument
Item = TypeVar("Item")


class ReadTrouble(NamedTuple):
    """What could not be read: `line` is 0 for a whole file. Without a path it is what else is to be known."""

    path: str
    line: int
    why: str

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

    def find_files(self, variable: str, usual: str, *names: str) -> list[str]:
        """List files of these names in the folder that a variable names, or in the usual one."""
        return [os.path.join(self.find_folder(variable, usual), name) for name in names]


class MemorySource(NamedTuple):
    """A tool whose memory can be read. Reading writes nothing, beside the source neither; damaged parts are appended to
    the troubles while the rest is still read."""

    name: str
    title: str
    detect: Callable[[Machine], list[str]]
    """List the files and folders where the tool keeps its memory on this machine; nothing is read of them."""
    read: Callable[[str, Troubles], Iterator[FoundItem]]
    """Yield what lies in a file or a folder, one at a time."""
    conversations: Callable[[str], Iterator[str]] = lambda path: iter(())
    """Of an agent: yield the folder in which each conversation was held, or the project's name, or nothing where it is
    this project's by its place; what was said is not read."""
    guarded: Callable[[Machine], list[str]] | None = None
    """List the files, and folders of Markdown, whose versions guard keeps, whether they exist or not: where its places
    are not these."""


# Read files of other tools: regular ones of a limited size, through no symbolic link, and nothing is written.

# bytes of a Markdown file, which is read whole
LARGEST_TEXT_FILE = 16_000_000
# bytes of a JSON document, which is read whole
LARGEST_JSON_DOCUMENT = 512 << 20
LONGEST_JSON_LINE = 32 << 20  # bytes of a line
DEEPEST_FOLDER = 32  # folders
SKIPPED_FOLDERS = frozenset(("node_modules", "__pycache__", "venv"))


def note_unreadable(troubles: Troubles, path: str, error: OSError) -> None:
    """Note once that a file or folder cannot be read, and why."""
    link = error.errno in (errno.ELOOP, errno.EMLINK)
    why = "symbolic links are not followed" if link else (error.strerror or "it cannot be read").lower()
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


def read_text_file(path: str, troubles: Troubles, largest: int = LARGEST_TEXT_FILE) -> str | None:
    """Return a file's text with `\\n` at the ends of lines and without a mark of its encoding. Bytes that are not UTF-8
    are replaced, and reported."""
    raw = read_file_bytes(path, troubles, largest)
    if raw is None:
        return None
    try:
        text = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        troubles.append(ReadTrouble(path, 0, "a part of it is not UTF-8"))
        text = raw.decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_json_file(path: str, troubles: Troubles) -> object:
    """Return a JSON document. Return None, and note a trouble, if it cannot be read."""
    raw = read_file_bytes(path, troubles, LARGEST_JSON_DOCUMENT)
    if raw is None:
        return None
    try:
        value: object = json.loads(raw.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        troubles.append(ReadTrouble(path, 0, "it is not JSON"))
        return None
    return value


def read_json_lines(path: str, troubles: Troubles) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield (number, object) of the lines of a file, one at a time in memory. The last line, if it has no end and is no
    JSON, is still being written and is no trouble."""
    file = open_plain_file(path, troubles, 1 << 18)
    if file is None:
        return
    with file:
        number = 0
        while line := file.readline(LONGEST_JSON_LINE):
            number += 1
            whole = line.endswith(b"\n")
            if len(line) == LONGEST_JSON_LINE and not whole:
                more = line
                while more and not more.endswith(b"\n"):
                    more = file.readline(LONGEST_JSON_LINE)
                troubles.append(ReadTrouble(path, number, "it is too long"))
                continue
            if not line.strip():
                continue
            try:
                value = json.loads(line.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
            except (ValueError, RecursionError):
                if whole:
                    troubles.append(ReadTrouble(path, number, "it is not JSON"))
                continue
            if isinstance(value, dict):
                yield number, value
            else:
                troubles.append(ReadTrouble(path, number, "it is not an object"))


def list_source_files(
    path: str, suffix: str, troubles: Troubles, skipped: frozenset[str] = SKIPPED_FOLDERS
) -> Iterable[str]:
    """List a file, whatever its name, or the `files_below` a folder."""
    return [path] if os.path.isfile(path) else files_below(path, suffix, troubles, skipped)


def read_text_files(
    path: str, troubles: Troubles, skipped: frozenset[str] = SKIPPED_FOLDERS
) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of a file, or of each file of Markdown below a folder, that can be read."""
    for file in list_source_files(path, ".md", troubles, skipped):
        if (text := read_text_file(file, troubles)) is not None:
            yield file, text


def files_below(
    folder: str, suffix: str, troubles: Troubles, skipped: frozenset[str] = SKIPPED_FOLDERS
) -> Iterator[str]:
    """Yield the plain files of a folder and those below whose name ends so, in order; nothing hidden, no links. A
    folder that cannot be read is a trouble; one that is not there is none."""

    def unread(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            note_unreadable(troubles, error.filename, error)

    for place, folders, names in os.walk(folder, onerror=unread):
        deep = place.count(os.sep) - folder.count(os.sep)
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in skipped and deep < DEEPEST_FOLDER
        )
        for name in sorted(names):
            path = os.path.join(place, name)
            if name.endswith(suffix) and not name.startswith(".") and not os.path.islink(path):
                yield path


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
LARGEST_COPIED_DATABASE = 8 << 30  # bytes


class UnreadableDatabase(Exception):
    """A database cannot be read; the message says why, in a few words."""


class CopiedDatabase:
    """A copy of a database: its tables by name, columns that are missing read as None."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self.asked: set[str] = set()
        self.tables = {
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if isinstance(name, str)
        }

    def read_table(self, table: str, columns: str, order: str = "rowid") -> Iterator[dict[str, object]]:
        """Yield the rows of a table, with its rowid as `rowid`; nothing if there is no such table. `order` names one of
        the columns."""
        self.asked.add(table)
        if table not in self.tables:
            return
        here = {row[1] for row in self._connection.execute(f"PRAGMA table_info({_quote_identifier(table)})")}
        wanted = columns.split()
        named = ", ".join(_quote_identifier(name) if name in here else "NULL" for name in wanted)
        by = _quote_identifier(order) if order in here else "rowid"
        for row in self._connection.execute(
            f"SELECT rowid, {named} FROM {_quote_identifier(table)} ORDER BY {by}, rowid"
        ):
            yield dict(zip(("rowid", *wanted), row, strict=True))


def _quote_identifier(name: str) -> str:
    """Quote a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def read_database(
    path: str, troubles: Troubles, read: Callable[[str, CopiedDatabase], Iterator[Item]]
) -> Iterator[Item]:
    """Yield what `read` reads of a copy of the database at a path. What cannot be opened, or read to its end, is a
    trouble."""
    with tempfile.TemporaryDirectory(prefix=COPY_FOLDER_PREFIX, ignore_cleanup_errors=True) as folder:
        try:
            with closing(apsw.Connection(copy_database(path, folder))) as connection:
                connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
                connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
                connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
                connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
                database = CopiedDatabase(connection)
                yield from read(path, database)
            if not database.asked & database.tables:
                troubles.append(ReadTrouble(path, 0, "it has none of the tables that are known of this tool"))
        except (UnreadableDatabase, apsw.Error, OSError) as error:
            troubles.append(ReadTrouble(path, 0, describe_read_error(error)))


def describe_read_error(error: Exception) -> str:
    """Return why a database could not be read, in a few words."""
    if isinstance(error, apsw.NotADBError):
        return "it is not an SQLite database"
    if isinstance(error, apsw.CorruptError):
        return "it is damaged, and was read as far as it goes"
    if isinstance(error, UnreadableDatabase):
        return str(error)
    if isinstance(error, OSError):
        return (error.strerror or "it cannot be read").lower()
    return "SQLite cannot read it"


def copy_database(path: str, folder: str, largest: int = LARGEST_COPIED_DATABASE) -> str:
    """Copy a database and its log as they were at one moment. Return the path of the copy. Raise
    UnreadableDatabase or OSError."""
    if not os.path.isfile(path):
        raise UnreadableDatabase("it is not a plain file")
    copy = os.path.join(folder, "copy.db")
    for _ in range(COPY_TRIES):
        before = _file_stamps(path)
        if sum(size for _, size in before.values()) > largest:
            raise UnreadableDatabase(f"it is larger than {largest >> 20:,} MB")
        for part in DATABASE_PARTS:
            if os.path.lexists(copy + part):
                os.unlink(copy + part)
            if part in before:
                with (
                    open(path + part, "rb", opener=open_without_trace) as source,
                    open(copy + part, "xb") as target,
                ):
                    if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
                        raise UnreadableDatabase("a part of it is not a plain file")
                    shutil.copyfileobj(source, target, 1 << 20)
        if _file_stamps(path) == before:
            return copy
    raise UnreadableDatabase("another program is writing it right now")


def _file_stamps(path: str) -> dict[str, tuple[int, int]]:
    """Return the time and the size of each file of a database."""
    found = {}
    for part in DATABASE_PARTS:
        try:
            about = os.stat(path + part)
        except OSError:
            continue
        found[part] = (about.st_mtime_ns, about.st_size)
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


def parse_tag_list(value: object) -> tuple[str, ...]:
    """Parse the tags of front matter: a list, or a text with commas."""
    parts = value if isinstance(value, list) else str(value or "").split(",")
    found = (str(one).strip().removeprefix("#") for one in parts if isinstance(one, str))
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
