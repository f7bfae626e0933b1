"""Texts of other tools, one by one, where they lie: in Markdown files and in databases.

Texts in the Markdown files of Claude Code, basic-memory and OpenClaw, by their bytes: what is changed is the asked
text alone. Front matter, byte order mark, line endings and every other line stay as they are.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from hashlib import sha256
from typing import NamedTuple

import apsw

from store.base.clock import from_ms
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.models import select_fields
from store.base.vocabulary import GUEST_TOOLS
from store.purge.file_eraser import has_kept_versions
from store.redaction import REDACTION_MARKER
from store.redaction.redactor import find_secrets, replace_findings
from store.text.display import home_path, visible
from store.text.words import fold_text
from store.tools import guard_database, guard_moments, memory_readers, source
from store.tools.agent_readers import MEMORY_INDEX, claude_projects_folder
from store.tools.guard_database import GuardedFile, KeptVersions
from store.tools.guard_moments import (
    DiffLine,
    EngramCell,
    FileRestore,
    GuardedChange,
    GuardRestorePlan,
    Occasion,
    compare_lines,
    content_lines,
    new_edit,
    unchanged_error,
)
from store.tools.source import Bullet, FoundDocument, FoundItem, FoundMemory, Machine, Troubles
from store.tools.source_import import SOURCES_BY_NAME, get_source

# One text in the memory of another tool, and where in its file it is.

# digits of a name that are shown
SHORT_NAME_DIGITS = 7
# that find it again
FEWEST_NAME_DIGITS = 4


class GuestText(NamedTuple):
    """A text of `tool`, from line `line` of the file at `path`; in a database `line` is the row's id.

    `name` tells it from all others, and is another one as soon as the text is. `start` and `end` are its bytes in the
    file, `cut` those that a deletion takes; `whole` is whether that is the file itself. Lines after its first begin
    with `indent`. `note` says what the tool calls it.
    """

    tool: str
    path: str
    line: int
    text: str
    title: str = ""
    note: str = ""
    start: int = 0
    end: int = 0
    cut: tuple[int, int] = (0, 0)
    whole: bool = False
    indent: str = ""
    name: str = ""

    @property
    def short(self) -> str:
        """The name as it is shown."""
        return self.name[:SHORT_NAME_DIGITS]

    @property
    def tool_title(self) -> str:
        """The name of the tool that keeps it."""
        return get_source(self.tool).title

    @property
    def place(self) -> str:
        """Where it is kept: the file and the line, or the row of a database."""
        return f"{home_path(self.path)}{':' if self.end else ', observation '}{self.line}"

    def shorten(self, longest: int) -> str:
        """Return its beginning in a line, without secrets; one that has a title and lines of its own begins with
        that."""
        title = f"{self.title}: " if self.title and (self.whole or self.tool == ENGRAM_TOOL) else ""
        text = visible(" ".join(cut_secrets(f"{title}{self.text}").split()))
        return text if len(text) <= longest else f"{text[:longest]}…"

    def as_dict(self) -> dict[str, object]:
        cut = {"title": cut_secrets(self.title), "text": cut_secrets(self.text)}
        return {**select_fields(self, "name", "tool", "path", "line", "note"), **cut}


def name_texts(texts: Iterable[GuestText]) -> list[GuestText]:
    """Give the texts of one file their names: a digest of the file and the text, and of how often the text came
    before."""
    seen: dict[tuple[int, str], int] = {}
    found = []
    for one in texts:
        # a row of a database has a number that stays
        row = one.line if not one.end else 0
        seen[row, one.text] = times = seen.get((row, one.text), -1) + 1
        about = "\0".join((one.tool, one.path, str(row), str(one.whole), one.text, str(times)))
        found.append(one._replace(name=sha256(about.encode("utf-8", "surrogateescape")).hexdigest()))
    return found


# Observations in the database of Engram: read from a copy, and changed a column at a time in a transaction of SQLite,
# so that the program may have it open. Its own triggers keep its search index.

ENGRAM_TOOL = "engram"
TEXT_COLUMN, DELETED_COLUMN = "content", "deleted_at"
ENGRAM_COLUMNS = {"id", "type", "title", TEXT_COLUMN, DELETED_COLUMN}
_INDEX_VALUE = r"(?:'delete'|(?:new|old)\.\w+)"
_INDEX_STATEMENT = rf"INSERT INTO observations_fts\s?\([\w, ]+\) VALUES \({_INDEX_VALUE}(?:, ?{_INDEX_VALUE})*\);"
_INDEX_TRIGGER = re.compile(
    rf"CREATE TRIGGER \w+ AFTER (?:INSERT|DELETE|UPDATE) ON observations BEGIN (?:{_INDEX_STATEMENT} )+END",
    re.IGNORECASE,
)


def read_engram_texts(path: str, troubles: Troubles) -> list[GuestText]:
    """Return the observations that are not deleted."""
    return name_texts(source.read_database(path, troubles, _engram_texts))


def _engram_texts(path: str, database: source.CopiedDatabase) -> Iterator[GuestText]:
    """Yield the observations of a database that are read of it, each as it stands there."""
    rows = {row["id"]: row[TEXT_COLUMN] for row in database.read_table("observations", f"id {TEXT_COLUMN}")}
    for one in memory_readers.Engram().read_observations(path, database, {}):
        if isinstance(text := rows.get(one.line), str):
            yield GuestText(ENGRAM_TOOL, path, one.line, text, one.title, one.kind)


def write_engram_cells(path: str, cells: tuple[EngramCell, ...]) -> None:
    """Change these columns, all or none. Raise CannotUse where one is not what it was, the database is locked, or its
    tables are unknown: nothing is changed then."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
    try:
        with closing(apsw.Connection(path, flags=flags)) as connection:
            connection.set_busy_timeout(0)
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            connection.execute("BEGIN IMMEDIATE")
            try:
                _require_known_tables(connection)
                for one in cells:
                    _update_cell(connection, one)
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
    except (apsw.BusyError, apsw.LockedError):
        raise source.CannotUse(guard_moments.DATABASE_LOCKED) from None
    except apsw.Error as error:
        raise source.CannotUse(source.describe_read_error(error)) from None


def _update_cell(connection: apsw.Connection, one: EngramCell) -> None:
    """Change one column of one row. Raise CannotUse if it is not what it was."""
    found = connection.execute(f'SELECT "{one.column}" FROM observations WHERE id = ?', (one.row,)).fetchall()
    if found != [(one.before,)]:
        raise source.CannotUse("it was changed meanwhile")
    connection.execute(f'UPDATE observations SET "{one.column}" = ? WHERE id = ?', (one.after, one.row))


def _require_known_tables(connection: apsw.Connection) -> None:
    """Raise CannotUse unless the observations are an ordinary table with the known columns, and its triggers do
    nothing but keep its index."""
    kind = connection.execute("SELECT type, sql FROM sqlite_schema WHERE name = 'observations'").fetchall()
    columns = {row[1] for row in connection.execute("PRAGMA table_info(observations)")}
    triggers = connection.execute(
        "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'observations' COLLATE NOCASE"
    ).fetchall()
    plain = len(kind) == 1 and kind[0][0] == "table" and "VIRTUAL" not in str(kind[0][1]).upper()
    indexing = all(_INDEX_TRIGGER.fullmatch(" ".join(str(sql).split())) for (sql,) in triggers)
    if not (plain and indexing and columns >= ENGRAM_COLUMNS):
        raise source.CannotUse("its tables are not those that are known of Engram")


def cells_to_undo(before: bytes, after: bytes) -> tuple[EngramCell, ...]:
    """Return the cells that undo the change between two versions of a database."""
    were, are = _observation_values(before), _observation_values(after)
    return tuple(
        EngramCell(row, column, are[row][place], were[row][place])
        for row in were.keys() & are.keys()
        for place, column in enumerate((TEXT_COLUMN, DELETED_COLUMN))
        if were[row][place] != are[row][place]
    )


def _observation_values(raw: bytes) -> dict[int, tuple[str | None, str | None]]:
    """Return the text and the deletion time of each observation."""
    with closing(guard_database.open_image(raw)) as connection:
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        rows = connection.execute(f"SELECT id, {TEXT_COLUMN}, {DELETED_COLUMN} FROM observations")
        return {row: (text, deleted) for row, text, deleted in rows}


# lines of a text that is compared with its new form line by line
LONGEST_COMPARED_TEXT = 5_000
_LINE_BREAK = re.compile(rb"\r\n|\r|\n")
_BULLET_MARKER = re.compile(r" {0,3}[-*+][ \t]+")
_FILE_LINK = re.compile(r"\]\((?:\./)?(?P<target>[^()\s]+\.md)\)")


class _FileContent:
    """A file's bytes, and where its lines are: each begins at `starts`, its text ends at `stops`."""

    def __init__(self, raw: bytes, tool: str = "", path: str = "") -> None:
        self.tool, self.path, self.name = tool, path, os.path.basename(path)
        if raw[:2] in source.UTF16_MARKS:
            raise source.CannotUse("it is UTF-16, which only an editor can change here")
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise source.CannotUse("a part of it is not UTF-8") from None
        if "\0" in text:
            raise source.CannotUse("it is binary, not text")
        self.raw = raw
        self.starts, self.stops = [3 if raw.startswith(b"\xef\xbb\xbf") else 0], list[int]()
        for found in _LINE_BREAK.finditer(raw):
            self.stops.append(found.start())
            self.starts.append(found.end())
        self.stops.append(len(raw))
        self.text = _unix_lines(text)
        _, self.body, self.above = source.parse_front_matter(self.text)

    def line_text(self, number: int) -> str:
        """Return the text of a line, counted from 1."""
        return self.raw[self.starts[number - 1] : self.stops[number - 1]].decode()

    def next_line_start(self, number: int) -> int:
        """Return where the line after this one begins."""
        return self.starts[number] if number < len(self.starts) else len(self.raw)

    def find_bullets(self) -> Iterator[Bullet]:
        """Yield the bullets of the body."""
        return source.parse_bullets(self.body, self.above + 1)


def read_markdown_texts(tool: str, path: str, raw: bytes) -> list[GuestText]:
    """Return the texts of a file with these bytes, which are what the tool's reader finds in it, and the lines of an
    index. Raise CannotUse for what is no text in UTF-8."""
    content, reader = _FileContent(raw, tool, path), SOURCES_BY_NAME[tool]
    bullets = {one.line: one for one in content.find_bullets()}
    if tool == "claude-code" and content.name == MEMORY_INDEX:
        return name_texts(_bullet_text(content, one, MEMORY_INDEX, "index") for one in bullets.values())
    found = reader.read_text(path, content.text) if isinstance(reader, memory_readers.MarkdownTool) else ()
    return name_texts(text for one in found for text in _text_of(content, one, bullets))


def _text_of(content: _FileContent, one: FoundItem, bullets: dict[int, Bullet]) -> Iterator[GuestText]:
    """Yield what a reader found as a text: a bullet, or the body of a file."""
    if isinstance(one, source.FoundTurn) or (isinstance(one, FoundDocument) and not one.kind):
        return
    line = content.line_text(one.line) if isinstance(one, FoundMemory) and one.line in bullets else ""
    # a file may be nothing but a list, which is no bullet
    if isinstance(one, FoundMemory) and line and not line.startswith(one.text.partition("\n")[0]):
        yield _bullet_text(content, bullets[one.line], one.title, one.kind)
    else:
        yield from _whole_text(content, one.title, one.kind)


def _whole_text(content: _FileContent, title: str, note: str) -> Iterator[GuestText]:
    """Yield the body of a file as one text."""
    above = content.above
    first = content.starts[above] if above < len(content.starts) else len(content.raw)
    body = content.raw[first:].decode()
    if not (said := body.strip()):
        return
    blank = body[: len(body) - len(body.lstrip())]
    start = first + len(blank.encode())
    line = above + 1 + _unix_lines(blank).count("\n")
    end, cut = start + len(said.encode()), (0, len(content.raw))
    text = _unix_lines(said)
    yield GuestText(content.tool, content.path, line, text, title, note, start, end, cut, whole=True)


def _bullet_text(content: _FileContent, bullet: Bullet, title: str, note: str) -> GuestText:
    """Return a bullet as a text with its place in the file."""
    first = content.starts[bullet.line - 1]
    marker = _BULLET_MARKER.match(content.line_text(bullet.line))
    start = first + len(marker[0].encode()) if marker else first
    end = content.starts[bullet.last - 1] + len(content.line_text(bullet.last).rstrip().encode())
    text = bullet.text
    if content.tool == "basic-memory" and (observed := memory_readers.OBSERVATION_BULLET.fullmatch(text)):
        ahead, said = text[: observed.start("text")], memory_readers.split_observation(observed["text"])[0]
        behind = observed["text"][len(said) :]
        if "\n" not in ahead + behind and content.raw[:end].endswith((said.split("\n")[-1] + behind).encode()):
            start, end, text = start + len(ahead.encode()), end - len(behind.encode()), said
    marks = memory_readers.OBSERVED_DATE, memory_readers.STATUS_MARK
    if bullet.comment and any(mark.search(bullet.above) for mark in marks):
        # it says when this one was seen, and would be about the next
        first = content.starts[bullet.comment - 1]
    rest = [content.line_text(number) for number in range(bullet.line + 1, bullet.last + 1)]
    spaces = [line[: len(line) - len(line.lstrip())] for line in rest if line.strip()]
    indent = min(spaces, key=len) if spaces else " " * len(marker[0] if marker else "- ")
    cut = (first, content.next_line_start(bullet.last))
    return GuestText(content.tool, content.path, bullet.line, text, title, note, start, end, cut, indent=indent)


# changing


def correct_text(raw: bytes, one: GuestText, text: str) -> bytes:
    """Return the bytes of the file with another text in the place of this one. Raise InvalidInput where the file would
    then be read differently besides."""
    new = raw[: one.start] + _encode_text(raw, one, text) + raw[one.end :]
    _require_same_reading(raw, new, one, text)
    return new


def remove_text(raw: bytes, one: GuestText) -> bytes | None:
    """Return the bytes of the file without this text; None if nothing is left of it. Raise InvalidInput as
    `correct_text` does."""
    if one.whole:
        return None
    new = raw[: one.cut[0]] + raw[one.cut[1] :]
    _require_same_reading(raw, new, one, None)
    return new


def remove_index_link(raw: bytes, name: str) -> bytes:
    """Return the bytes of an index without the bullets that lead to the file `name` alone."""
    content = _FileContent(raw)
    for bullet in reversed(list(content.find_bullets())):
        if set(_FILE_LINK.findall(bullet.text)) == {name}:
            raw = raw[: content.starts[bullet.line - 1]] + raw[content.next_line_start(bullet.last) :]
    return raw


def _encode_text(raw: bytes, one: GuestText, text: str) -> bytes:
    """Return the bytes of a new text; lines that the old text has too keep their bytes and their endings."""
    pieces = _split_lines(raw[one.start : one.end])
    usual = next((piece[1] for piece in pieces if piece[1]), b"") or next(iter(_LINE_BREAK.findall(raw)), b"\n")
    old, new = one.text.split("\n"), text.split("\n")
    if len(pieces) != len(old) or max(len(old), len(new)) > LONGEST_COMPARED_TEXT:
        old, pieces = [], []
    lines: list[tuple[bytes, bytes]] = []
    for kind, first, end, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for step, at in enumerate(range(start, stop)):
            before = pieces[first + step] if first + step < end else (b"", b"")
            if kind == "equal" and bool(first + step) == bool(at):
                lines.append(before)
                continue
            indented = f"{one.indent}{new[at]}" if at and new[at].strip() else new[at]
            lines.append((indented.encode(), before[1]))
    ends = [*(ending or usual for _, ending in lines[:-1]), b""]
    return b"".join(line + ending for (line, _), ending in zip(lines, ends, strict=True))


def _split_lines(raw: bytes) -> list[tuple[bytes, bytes]]:
    """Split bytes into lines, each with its ending."""
    pieces, last = [], 0
    for found in _LINE_BREAK.finditer(raw):
        pieces.append((raw[last : found.start()], found[0]))
        last = found.end()
    return [*pieces, (raw[last:], b"")]


def _require_same_reading(raw: bytes, new: bytes, one: GuestText, text: str | None) -> None:
    """Raise InvalidInput unless the new bytes read as the old ones do, but for this text."""
    try:
        before, after = (
            # whole bodies, or bullets, which are texts of their own
            [other for other in read_markdown_texts(one.tool, one.path, content) if other.whole == one.whole]
            for content in (raw, new)
        )
    except source.CannotUse as error:
        raise InvalidInput(f"That would leave a file of which {error}.", "Leave such characters out.") from None
    place = next(at for at, other in enumerate(before) if other.start == one.start)
    wanted = [(other.text, other.title, other.note) for other in before]
    wanted[place : place + 1] = [] if text is None else [(text, one.title, one.note)]
    if [(other.text, other.title, other.note) for other in after] != wanted:
        raise InvalidInput(
            "Written so, the file would be read differently: a blank line, a list or a mark of Markdown ends the text.",
            "Word it otherwise, or change the file in your editor.",
        )


def _unix_lines(text: str) -> str:
    """Return a text whose lines end with a line feed alone."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


# Every text of the tools whose memories can be edited in place, on this machine.


@dataclass(slots=True)
class GuestList:
    """The texts, and what could not be read or is not touched, with the reason."""

    texts: list[GuestText] = field(default_factory=list)
    troubles: Troubles = field(default_factory=list)


def list_guest_texts(machine: Machine, tools: Sequence[str] = GUEST_TOOLS) -> GuestList:
    """Read the texts of these tools. Raise InvalidInput for a tool that is not among GUEST_TOOLS."""
    if unknown := set(tools) - set(GUEST_TOOLS):
        raise InvalidInput(
            f"Memories of {min(unknown)} cannot be edited in place.",
            f"Those of these can: {', '.join(GUEST_TOOLS)}.",
        )
    found = GuestList()
    for file in list_guest_files(machine, tools, found.troubles):
        found.texts += read_guest_texts(file, found.troubles)
    # of what was left out a person may miss a file that is a link
    left = source.take_left_out(found.troubles)
    found.troubles += [
        one._replace(left=None) for one in left if one.why == source.LINK and one.path.endswith(".md")
    ]
    return found


def list_guest_files(machine: Machine, tools: Sequence[str], troubles: Troubles) -> list[GuardedFile]:
    """List the files that hold the texts; all of them are guarded. An index comes after the files it leads to."""
    # with a person's own instructions
    own = os.path.dirname(os.path.realpath(claude_projects_folder(machine)))
    found = [
        file
        for file in guard_database.list_guarded_files(machine, (), troubles)
        if file.tool in tools and not (file.tool == "claude-code" and os.path.dirname(file.path) == own)
    ]

    def order(file: GuardedFile) -> tuple[int, str, bool]:
        folder, name = os.path.split(file.path)
        return GUEST_TOOLS.index(file.tool), folder, name == MEMORY_INDEX

    return sorted(found, key=order)


def read_guest_texts(file: GuardedFile, troubles: Troubles) -> list[GuestText]:
    """Return the texts of one file."""
    if file.is_database:
        return read_engram_texts(file.path, troubles)
    raw = source.read_file_bytes(file.path, troubles)
    if raw is None:
        return []
    try:
        return read_markdown_texts(file.tool, file.path, raw)
    except source.CannotUse as error:
        troubles.append(source.ReadTrouble(file.path, 0, str(error)))
        return []


def filter_guest_texts(texts: Iterable[GuestText], query: str) -> list[GuestText]:
    """Return the texts that have every word of a query, in any case and without accents; all for an empty query."""
    words = [fold_text(word) for word in query.split()]
    return [
        one for one in texts if all(word in fold_text(f"{one.title}\n{one.text}\n{one.path}") for word in words)
    ]


def find_guest_text(machine: Machine, name: str) -> GuestText:
    """Return the text with this name, or whose name begins with it. Raise InvalidInput or NotFound."""
    wanted = name.lower()
    if len(wanted) < FEWEST_NAME_DIGITS or set(wanted) - set("0123456789abcdef"):
        raise InvalidInput("That is no name of a text.", "memoranda files list shows them, as in: 3f2a9c1")
    found = [one for one in list_guest_texts(machine).texts if one.name.startswith(wanted)]
    if not found:
        raise NotFound(
            f"There is no text {wanted}, or it changed since.", "memoranda files list shows what is there."
        )
    if len(found) > 1:
        several = ", ".join(one.name[:12] for one in found)
        raise InvalidInput(f"Several names begin with {wanted}.", f"Name one of: {several}")
    return found[0]


# Correct or delete one text of another tool, and take that back: each is first shown, backed up by the guard, and
# done only to what was shown. Each is a moment of the guard too.

# A text as it is shown, with its secrets cut, and back: what a person makes of the shown form is written with the
# secrets that were cut, never with the cuts.

_SECRET_MARK = re.compile(re.escape(REDACTION_MARKER) + r"\w+\]")
_TEXT_PART = re.compile(rf"({_SECRET_MARK.pattern}|\s+)")
EDITOR_HINT = "Change the file itself in your editor, or leave them where they are."


def cut_secrets(text: str) -> str:
    """Return the text with each secret cut."""
    return replace_findings(text, find_secrets(text))


def restore_secrets(original: str, text: str) -> str:
    """Return what to write for `text`, which a person made of the shown form of `original`. Raise InvalidInput if
    it is not clear which secret a cut stands for, or the text has a secret of its own."""
    held = _cut_values(original)
    parts = _TEXT_PART.split(text)
    if any(_SECRET_MARK.fullmatch(part) for part in parts):
        parts = _fill_cuts(_TEXT_PART.split(cut_secrets(original)), parts, held)
    written = "".join(parts)
    known = [original[cut.start : cut.end] for cut in find_secrets(original)]
    for cut in find_secrets(written):
        value = written[cut.start : cut.end]
        if not any(value in one or one in value for one in known):
            raise InvalidInput(
                f"The new text holds a secret ({cut.label}).", "Leave it out: agents read this file."
            )
    return written


def _cut_values(original: str) -> list[str]:
    """Return what each cut of the shown form stands for, in order; a cut that the text itself has stands for itself."""
    secrets = {cut.start: original[cut.start : cut.end] for cut in find_secrets(original)}
    own = {found.start(): found[0] for found in _SECRET_MARK.finditer(original)}
    return [value for _, value in sorted((own | secrets).items())]


def _fill_cuts(old: list[str], new: list[str], held: list[str]) -> list[str]:
    """Put what the cuts stand for into the parts of a new text."""
    place = {
        at: number for number, at in enumerate(at for at, part in enumerate(old) if _SECRET_MARK.fullmatch(part))
    }
    found: dict[int, str] = {}
    for first, start, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        for at in range(size):
            if first + at in place and _word_before(old, first + at) == _word_before(new, start + at):
                found[start + at] = held[place[first + at]]
    for at, part in enumerate(new):
        if _SECRET_MARK.fullmatch(part) and at not in found:
            same = {held[number] for other, number in place.items() if old[other] == part}
            if len(same) != 1 or new.count(part) > old.count(part):
                raise InvalidInput(f"It is not clear what {part} stands for where it is now.", EDITOR_HINT)
            found[at] = same.pop()
    return [found.get(at, part) for at, part in enumerate(new)]


def _word_before(parts: list[str], place: int) -> str:
    return next((part for part in reversed(parts[:place]) if part.strip()), "")


# lines around a change: it is one text, and is to be seen at once
GUEST_CONTEXT_LINES = 0
_CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def plan_guest_correction(occasion: Occasion, one: GuestText, text: str) -> GuardRestorePlan:
    """Return what gives a text other words; `text` is what a person made of its shown form. Raise InvalidInput,
    Conflict."""
    said = text.replace("\r\n", "\n").strip()
    if not said:
        raise InvalidInput("There is no text.", f"memoranda files forget {one.short} deletes what is there.")
    if _CONTROL_CHARACTER.search(said):
        raise InvalidInput("The text has control characters.", "Leave them out.")
    if said == cut_secrets(one.text):
        raise InvalidInput("That is what it says.", "Give it other words.")
    new = restore_secrets(one.text, said)
    if one.tool == ENGRAM_TOOL:
        return _plan_in_database(occasion, one, EngramCell(one.line, TEXT_COLUMN, one.text, new), new)
    return _plan_in_files(occasion, one, lambda raw, here: correct_text(raw, here, new))


def plan_guest_deletion(occasion: Occasion, one: GuestText) -> GuardRestorePlan:
    """Return what deletes a text: with a file that is it the line of Claude Code's index that leads there; in Engram as
    Engram does, by the time of it. Raise Conflict."""
    if one.tool == ENGRAM_TOOL:
        at = from_ms(occasion.now)[:19].replace("T", " ")
        return _plan_in_database(occasion, one, EngramCell(one.line, DELETED_COLUMN, None, at), "")
    return _plan_in_files(occasion, one, remove_text)


def plan_guest_undo(occasion: Occasion) -> GuardRestorePlan:
    """Plan to undo the last change. Raise NotFound, or Conflict if the file changed again."""
    nothing = NotFound(
        "Nothing was changed here, or all of it was undone.", "memoranda files versions shows what changed."
    )
    if not has_kept_versions():
        raise nothing
    with guard_moments.open_settled(occasion) as kept:
        moment = guard_moments.find_last_edit(kept)
        if moment is None:
            raise nothing
        first = moment.files[0]
        if first.file.is_database and first.before is not None and first.after is not None:
            cells = cells_to_undo(kept.version_content(first.before), kept.version_content(first.after))
            if not cells:
                raise nothing
            put = FileRestore(first, first.after, None, False, _compare_cells(cells), cells)
            return GuardRestorePlan(moment, (put,))
    plan = guard_moments.plan_guard_restore(occasion, moment.number, context=GUEST_CONTEXT_LINES)
    if again := [one for one in plan.files if one.again]:
        raise Conflict(
            f"{again[0].change.file.path} changed again after {moment.name}; nothing was undone.",
            f"memoranda files restore {moment.name} shows what would be lost, and asks.",
        )
    return plan


def run_guest_plan(occasion: Occasion, plan: GuardRestorePlan) -> int:
    """Do what a plan says; return the number of the moment that it is. Raise Conflict where something is not as it was
    shown, was changed less than two seconds ago, or is locked: nothing is changed then."""
    if any(one.cells for one in plan.files):
        return _run_cell_plan(occasion, plan)
    if any(one.change.file.is_database for one in plan.files):
        raise InvalidInput("Nothing would be changed.", "A database is changed a column at a time.")
    return guard_moments.run_guard_restore(occasion, plan)


# files


def _plan_in_files(
    occasion: Occasion, one: GuestText, changed: Callable[[bytes, GuestText], bytes | None]
) -> GuardRestorePlan:
    """Plan to change the file of a text, after a backup of what it has now."""
    file = GuardedFile(one.tool, one.path)
    with guard_moments.open_settled(occasion) as kept:
        change, raw = _back_up(kept, occasion, file)
        try:
            texts = read_markdown_texts(one.tool, one.path, raw)
        except source.CannotUse as error:
            raise unchanged_error(file, str(error)) from None
        wanted = changed(raw, _find_again(texts, file, one))
        files = [_plan_file_change(change, raw, wanted)]
        if wanted is None and one.tool == "claude-code":
            files += _plan_index_removal(kept, occasion, one.path)
        return GuardRestorePlan(new_edit(one.tool, occasion.now), tuple(files))


def _plan_index_removal(kept: KeptVersions, occasion: Occasion, path: str) -> list[FileRestore]:
    """Plan to take the line that leads to a file out of Claude Code's index."""
    folder, _, name = path.rpartition("/")
    index = GuardedFile("claude-code", f"{folder}/{MEMORY_INDEX}")
    if index not in list_guest_files(occasion.machine, (index.tool,), []):
        return []
    try:
        change, raw = _back_up(kept, occasion, index)
        wanted = remove_index_link(raw, name)
    except (Conflict, source.CannotUse):
        # the line stays, and leads nowhere; the scan says so
        return []
    return [_plan_file_change(change, raw, wanted)] if wanted != raw else []


def _back_up(kept: KeptVersions, occasion: Occasion, file: GuardedFile) -> tuple[GuardedChange, bytes]:
    """Keep what a file has now; return it as a change of nothing, with its bytes. Raise Conflict."""
    guard_moments.look_with_guard(kept, occasion, databases=file.is_database)
    try:
        found = guard_database.read_guarded_file(file)
    except source.CannotUse as error:
        raise unchanged_error(file, str(error)) from None
    if found is None:
        raise unchanged_error(file, "it is gone")
    with kept.connection:
        number = kept.file_number(file.tool, file.path)
        version = kept.keep_present(number, found)
    return GuardedChange(number, file, version, version), found.raw


def _find_again(texts: Iterable[GuestText], file: GuardedFile, one: GuestText) -> GuestText:
    """Return the text as it is now. Raise Conflict if it is another."""
    for other in texts:
        if other.name == one.name:
            return other
    raise unchanged_error(file, "the text changed since it was shown")


def _plan_file_change(change: GuardedChange, raw: bytes, wanted: bytes | None) -> FileRestore:
    """Return the plan for one file: its version, and what it becomes."""
    lines = [] if wanted is None else content_lines(change.file, wanted)
    before = content_lines(change.file, raw)
    difference = compare_lines(before, lines, GUEST_CONTEXT_LINES)
    return FileRestore(change, change.after, wanted, False, tuple(difference))


# the database


def _plan_in_database(occasion: Occasion, one: GuestText, cell: EngramCell, new: str) -> GuardRestorePlan:
    """Plan to change a column; a backup is taken when it is done, since the database may be at work."""
    file = GuardedFile(one.tool, one.path)
    _find_again(read_guest_texts(file, []), file, one)
    old, lines = (cut_secrets(text).split("\n") if text else [] for text in (one.text, new))
    difference = tuple(compare_lines(old, lines, GUEST_CONTEXT_LINES))
    put = FileRestore(GuardedChange(0, file, None, None), None, None, False, difference, (cell,))
    return GuardRestorePlan(new_edit(one.tool, occasion.now), (put,))


def _compare_cells(cells: tuple[EngramCell, ...]) -> tuple[DiffLine, ...]:
    """Return the lines that differ between the cells before and after."""
    found = []
    for one in cells:
        if one.column == TEXT_COLUMN:
            before, after = (cut_secrets(text or "").split("\n") for text in (one.before, one.after))
            found += compare_lines(before, after, GUEST_CONTEXT_LINES)
        else:
            found.append(DiffLine("+", 0, f"observation {one.row}, which is not deleted any more"))
    return tuple(found)


def _run_cell_plan(occasion: Occasion, plan: GuardRestorePlan) -> int:
    """Change the columns of a database, and record it as a moment; return its number. Raise Conflict."""
    file = plan.files[0].change.file
    with guard_moments.open_settled(occasion) as kept:
        guard_moments.require_quiet_file(kept, file.path, occasion.now)
        change, _ = _back_up(kept, occasion, file)
        changes = [(change.number, change.before, None)]
        moment = guard_moments.begin_guard_restore(kept, file.tool, occasion.now, plan.moment.number, changes)
        try:
            write_engram_cells(file.path, plan.files[0].cells)
            guard_moments.note_restored_database(kept, moment, change.number, file)
        except source.CannotUse as error:
            raise unchanged_error(file, str(error)) from None
        finally:
            guard_moments.end_guard_restore(kept, moment, occasion.now)
        return moment
