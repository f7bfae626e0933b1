"""Export: every recorded and journal table as one JSON document, in a fixed order.

The same memory always gives the same bytes: tables in the order of `tables`, rows by primary key, columns as in the
schema, BLOBs in hexadecimal. Each table has a checksum, and the whole has one. `sequence` holds AUTOINCREMENT's
counters, so that an import never assigns an id twice. SQLite itself writes the rows' JSON (see
`database.change_capture`).
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from itertools import islice
from typing import BinaryIO, NamedTuple

import apsw

from store.base.citations import cite
from store.base.clock import format_local_time
from store.base.errors import Conflict, MemorandaError, StorageError
from store.base.models import commit_subject_lines
from store.base.state_files import find_known_memory, sign_bytes
from store.base.vocabulary import DOMAINS, EXPORT_FORMS, PERSON_ORIGIN
from store.database.connection import explain_sqlite_error
from store.database.database import Database, Transaction
from store.database.files import sync_folder
from store.database.schema import PACKED_TABLES, SCHEMA_VERSION
from store.exchange.export_schema import (
    EXPORT_FORMAT,
    EXPORT_SEAL,
    EXPORT_TABLES,
    EXPORT_VERSION,
    export_columns,
    list_key_columns,
)
from store.history import compression
from store.history.compression import every_row_view_of
from store.records.facts import age_state
from store.text.words import normalize_text

# Where this memory was exported to: the paths, without content, so that a purge and its proof look there too.

EXPORTS_KEY = "exports"


def note_export(database: Database, path: str) -> None:
    """Note an export that was written; nothing where the memory cannot be written to."""
    path = os.path.abspath(path)
    with suppress(MemorandaError), database.write("agent", "export") as write:
        write.set_meta(
            EXPORTS_KEY, json.dumps([*(one for one in list_noted_exports(database) if one != path), path])
        )


def drop_deleted_exports(write: Transaction) -> None:
    """Drop the exports that were deleted from the note, as a name may hold words that are purged. One whose folder is
    not there is kept: its disk may come back."""
    paths = list_noted_exports(write.database)
    kept = [path for path in paths if os.path.lexists(path) or not os.path.isdir(os.path.dirname(path))]
    if kept != paths:
        write.set_meta(EXPORTS_KEY, json.dumps(kept))


def list_noted_exports(database: Database) -> list[str]:
    """List the noted paths, of files and folders, oldest first."""
    return list(map(str, json.loads(database.get_meta(EXPORTS_KEY) or "[]")))


# rows that are joined into one piece
EXPORT_BATCH = 512
GZIP_LEVEL = 6  # of compression


def export_text(database: Database) -> Generator[str, None, None]:
    """Yield the document's text, in pieces of whole lines, from one moment of the memory; read it to its end, or close
    it."""
    with closing(export_bytes(database)) as parts:
        for piece in parts:
            yield piece.decode()


def export_bytes(database: Database) -> Generator[bytes, None, None]:
    """Yield `document`, in UTF-8.

    Read from a copy, so that all tables are of one moment: the consumer may be slow (a pager waits for its reader), and
    a transaction that stays open would let the log grow with every write.
    """
    try:
        with open_snapshot(database.connection) as connection:
            own = not database.look and find_known_memory(database.path) is not None
            yield from _with_checksum(_document_lines(connection), own)
    except apsw.Error as error:
        raise explain_sqlite_error(error, database.path) from None


@contextmanager
def open_snapshot(connection: apsw.Connection) -> Iterator[apsw.Connection]:
    """Yield a connection to the current content of a database, whatever is written meanwhile.

    It reads a private copy, so that the log of the database can be emptied. Where there is no space for one it is the
    same connection in a read transaction.
    """
    copy = _copy_to_private(connection)
    try:
        if copy is None:
            connection.execute("BEGIN")
        yield copy or connection
    finally:
        if copy is not None:
            copy.close()
        elif not connection.get_autocommit():
            connection.execute("ROLLBACK")


def _copy_to_private(connection: apsw.Connection) -> apsw.Connection | None:
    """Return a private copy, without a name, which is deleted with its connection; None where there is no space for
    one."""
    copy = apsw.Connection("")
    try:
        with copy.backup("main", connection, "main") as backup:
            backup.step()
    except (apsw.FullError, apsw.IOError, apsw.CantOpenError):
        copy.close()
        return None
    return copy


def _with_checksum(lines: Iterator[bytes], own: bool) -> Iterator[bytes]:
    """Yield the lines and, after them, the checksum of them all; of a memory of our `own` it is signed."""
    whole = sha256()
    for line in lines:
        whole.update(line)
        yield line
    seal = ""
    with suppress(StorageError):
        seal = f',\n"seal": "{sign_bytes(EXPORT_SEAL + whole.digest())}"' if own else ""
    yield f'"checksum": "{whole.hexdigest()}"{seal}\n}}\n'.encode()


def _document_lines(connection: apsw.Connection) -> Iterator[bytes]:
    head = {"format": EXPORT_FORMAT, "version": EXPORT_VERSION, "schema": SCHEMA_VERSION}
    yield json.dumps(head)[:-1].encode() + b',\n"tables": {\n'
    sums = {}
    for table in EXPORT_TABLES:
        yield b'"%b": [\n' % table.encode()
        section = sha256()
        for piece in export_section(connection, table):
            section.update(piece)
            yield piece
        sums[table] = section.hexdigest()
        yield b"]\n" if table == EXPORT_TABLES[-1] else b"],\n"
    counters = dict(connection.execute("SELECT name, seq FROM sqlite_sequence ORDER BY name"))
    sequence = {name: last for name, last in counters.items() if name in EXPORT_TABLES}
    yield f'}},\n"sequence": {json.dumps(sequence)},\n"checksums": {json.dumps(sums)},\n'.encode()


def export_section(connection: apsw.Connection, table: str, schema: str = "main") -> Iterator[bytes]:
    """Yield the rows of a table, each a line of JSON, with the commas between them; in pieces of EXPORT_BATCH rows."""
    rows = export_rows(connection, table, schema)
    between = ""
    while batch := list(islice(rows, EXPORT_BATCH)):
        yield (between + ",\n".join(batch)).encode()
        between = ",\n"
    if between:
        yield b"\n"


def export_rows(connection: apsw.Connection, table: str, schema: str = "main") -> Iterator[str]:
    """Yield the rows of a table as JSON, by primary key; a byte that is not UTF-8 becomes U+FFFD."""
    columns = export_columns(connection, table, schema)
    pairs = ", ".join(f"'{column.name}', {_column_expression(column.name, column.kind)}" for column in columns)
    keys = list_key_columns(columns)
    for source, condition in _row_sources(connection, table, schema):
        rows = connection.execute(
            f"SELECT CAST(json_object({pairs}) AS BLOB) FROM {source} WHERE {condition} ORDER BY {keys}"
        )
        yield from (row.decode("utf-8", "replace") for (row,) in rows)


def _row_sources(connection: apsw.Connection, table: str, schema: str) -> Iterator[tuple[str, str]]:
    """Yield (what the rows of a table are read from, the condition), in order: packed rows of history are included, so
    many steps at a time."""
    block = PACKED_TABLES[0]
    known = connection.execute(f"SELECT 1 FROM {schema}.sqlite_schema WHERE name = ?", (block,)).get
    if (
        table != "history_row"
        or not known
        or not connection.execute(f"SELECT 1 FROM {schema}.{block} LIMIT 1").get
    ):
        yield f"{schema}.{table}", "true"
        return
    source = every_row_view_of(connection)
    newest = connection.execute("SELECT max(seq) FROM history").get or 0
    for start in range(0, newest, compression.BLOCK_ROWS):
        yield source, f"seq > {start} AND seq <= {start + compression.BLOCK_ROWS}"


def _column_expression(name: str, kind: str) -> str:
    """Return the SQL of a column's value in an export: a BLOB in hexadecimal."""
    return f"iif({name} IS NULL, NULL, lower(hex({name})))" if kind == "BLOB" else name


def save_export(
    database: Database,
    path: str,
    replace: bool = False,
    compressed: bool = False,
    text: Callable[[], Generator[str, None, None]] | None = None,
) -> int:
    """Write the document (or another `text`) to `path`, whole or not at all, and note the path; return its size in
    bytes. Raise Conflict or StorageError.

    Compressed, the same memory gives the same bytes too: the gzip header has no name and no time.
    """

    def write(file: BinaryIO) -> None:
        parts = text() if text else export_bytes(database)
        # closed here, while the memory is open: its read must end before the memory is closed
        with closing(parts):
            if not compressed:
                _write_parts(file, parts)
                return
            with gzip.GzipFile("", "wb", GZIP_LEVEL, file, mtime=0) as packed:
                _write_parts(packed, parts)

    size = save_private_file(path, write, replace)
    note_export(database, path)
    return size


def _write_parts(file: BinaryIO | gzip.GzipFile, parts: Iterable[str] | Iterable[bytes]) -> None:
    """Write parts of text or bytes into a file."""
    for piece in parts:
        file.write(piece.encode() if isinstance(piece, str) else piece)


def save_private_file(path: str, write: Callable[[BinaryIO], None], replace: bool = False) -> int:
    """Have `write` fill a private file, and give it its name once it is whole and synced to the disk; return its size
    in bytes. A device, a pipe or a link to one is not replaced. Raise Conflict or StorageError."""
    if os.path.lexists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise Conflict(f"{path} is not a file, and is left as it is.", "Name a file.")
    if not replace and os.path.lexists(path):
        raise taken_name_error(path)
    part = f"{path}.{os.urandom(4).hex()}.part"
    try:
        handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            with open(handle, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
            publish_file(part, path, replace)
        except BaseException:
            if os.path.lexists(part):
                os.unlink(part)
            raise
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}.", "Name another file.") from None
    return size


def taken_name_error(path: str) -> Conflict:
    """Return the error for a file that is not to be replaced unasked."""
    return Conflict(f"{path} is there already.", "Name another file, or say --yes to replace it.")


def publish_file(part: str, path: str, replace: bool = False) -> None:
    """Give a finished file its name, and make it survive a power cut. Raise Conflict or OSError."""
    if replace:
        os.replace(part, path)
    else:  # unless another process took the name meanwhile
        try:
            os.link(part, path)
        except FileExistsError:
            raise taken_name_error(path) from None
        except OSError:  # a file system without links
            os.rename(part, path)
        else:
            os.unlink(part)
    sync_folder(os.path.dirname(path))


# The active facts and decisions as a folder of Markdown files, one each: in the form of Claude Code's own memory, or
# as an OKF bundle of version 0.2. Both are read by `import`.

CLAUDE_CODE_FORM, OKF_FORM = EXPORT_FORMS
CLAUDE_CODE_TYPES = {
    "personal": "user",
    "preferences": "feedback",
    "work": "reference",
}  # of Claude Code; `project` for the rest
OKF_VERSION = "0.2"
# characters
LONGEST_FILE_NAME, LONGEST_INDEX_TITLE = 48, 100
_TAG_START = re.compile(r"(?<!\S)#(?=\S)")
_LINK_MARKS = re.compile(r"[\[\]()]")


class ExportedRecord(NamedTuple):
    """A fact, or a decision with its `chosen`; `verified` is when a person said or confirmed it, else empty."""

    citation: str
    text: str
    domain: str
    created: str
    verified: str
    tags: tuple[str, ...] = ()
    chosen: str = ""
    alternatives: tuple[str, ...] = ()
    rationale: str = ""

    @property
    def file_stem(self) -> str:
        """Return the stem of its file's name: the first words, and the citation, which is unique."""
        words = re.sub(r"[^a-z0-9]+", "-", normalize_text(self.text))[:LONGEST_FILE_NAME].strip("-") or "record"
        return f"{words}-{self.citation.replace('#', '').lower()}"


def export_folder(database: Database, folder: str, form: str) -> int:
    """Write a new folder and note its path; return how many records it holds. Facts of a session and `self_correction`
    stay here. Raise Conflict if the folder holds something already, StorageError."""
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise Conflict(f"{folder} is there already.", "Name a new folder, or an empty one.")
    try:
        with open_snapshot(database.connection) as connection:
            records = [*_exported_facts(connection), *_exported_decisions(connection)]
    except apsw.Error as error:
        raise explain_sqlite_error(error, database.path) from None
    files = dict(_claude_code_files(records) if form == CLAUDE_CODE_FORM else _okf_files(records))
    above = os.path.dirname(os.path.abspath(folder))
    try:
        os.makedirs(above, exist_ok=True)
        made = tempfile.mkdtemp(prefix=".memoranda-export-", dir=above)
        try:
            for name, text in files.items():
                path = os.path.join(made, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(
                    os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
                ) as file:
                    file.write(text)
            os.rename(made, folder)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
    except OSError as error:
        raise StorageError(f"{folder} cannot be written: {error.strerror}.", "Look at its permissions.") from None
    note_export(database, folder)
    return len(records)


def _exported_facts(connection: apsw.Connection) -> Iterator[ExportedRecord]:
    """Yield the active facts to export."""
    for number, text, domain, created, confirmed, origin, tags in connection.execute(
        "SELECT id, fact, domain, created_at, last_confirmed_at, origin, tags FROM facts"
        " WHERE status = 'active' AND scope <> 'session' AND domain <> 'self_correction' ORDER BY id"
    ):
        verified = str(confirmed) if origin == PERSON_ORIGIN else ""
        yield ExportedRecord(
            f"F#{number}", str(text), str(domain), str(created), verified, tuple(json.loads(str(tags)))
        )


def _exported_decisions(connection: apsw.Connection) -> Iterator[ExportedRecord]:
    """Yield the active decisions to export."""
    for number, title, chosen, alternatives, rationale, decided, confirmed, origin in connection.execute(
        "SELECT id, title, chosen, alternatives, rationale, decided_at, confirmed_at, origin FROM decisions"
        " WHERE status = 'active' ORDER BY id"
    ):
        verified = str(confirmed) if confirmed else str(decided) if origin == PERSON_ORIGIN else ""
        yield ExportedRecord(
            f"D#{number}",
            str(title),
            "decisions",
            str(decided),
            verified,
            chosen=str(chosen),
            alternatives=tuple(json.loads(str(alternatives))),
            rationale=str(rationale),
        )


def _claude_code_files(records: list[ExportedRecord]) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of the files of a `memory` folder, and of their index."""
    index = ["# Memory Index", ""]
    for one in records:
        kind = CLAUDE_CODE_TYPES.get(one.domain, "project")
        name = f"{kind}_{one.file_stem}.md"
        body = one.text
        if one.chosen:
            parts = [one.chosen, *(f"Rejected: {other}" for other in one.alternatives)]
            body = "\n\n".join(parts)
            if one.rationale:
                body = f"{body}\n\n**Why:** {_single_line(one.rationale)}"
        head = (
            f"name: {one.file_stem}\ndescription: "
            f"{_yaml_scalar(one.text)}\nmetadata:\n  node_type: memory\n  type: {kind}\n"
        )
        yield name, f"---\n{head}---\n\n{body}\n"
        index.append(f"- [{_index_title(one.text)}]({name})")
    yield "MEMORY.md", "\n".join(index) + "\n"


def _okf_files(records: list[ExportedRecord]) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of the concepts of a bundle, and of its indexes."""
    listed: dict[str, list[str]] = {"facts": [], "decisions": []}
    for one in records:
        folder = "decisions" if one.chosen else "facts"
        title = one.text if one.chosen else _index_title(one.text)
        head = [f"title: {_yaml_scalar(title)}", f"type: {folder[:-1]}", "status: stable"]
        if one.tags:
            head.append(f"tags: {json.dumps(list(one.tags), ensure_ascii=False)}")
        head.append(f"created: {_yaml_scalar(_with_utc_offset(one.created))}")
        if one.verified:
            head += ["verified:", "- by: human:owner", f"  at: {_yaml_scalar(_with_utc_offset(one.verified))}"]
        if one.chosen:
            lines = [
                f"- [decision] {_format_observation(_single_line(one.chosen))}",
                *(f"- [alternative] {_format_observation(_single_line(other))}" for other in one.alternatives),
                *([f"- [rationale] {_format_observation(_single_line(one.rationale))}"] if one.rationale else []),
            ]
        else:
            lines = [f"- [{one.domain}] {_format_observation(one.text)}"]
        yield f"{folder}/{one.file_stem}.md", "---\n" + "\n".join(head) + "\n---\n\n" + "\n".join(lines) + "\n"
        listed[folder].append(f"- [{_index_title(one.text)}]({one.file_stem}.md)")
    for folder, lines in listed.items():
        if lines:
            yield f"{folder}/index.md", f"# {folder}\n\n" + "\n".join(lines) + "\n"
    links = "\n".join(f"- [{folder}]({folder}/index.md)" for folder, lines in listed.items() if lines)
    yield "index.md", f'---\nokf_version: "{OKF_VERSION}"\n---\n\n# Memory\n\n{links}\n'


def _yaml_scalar(text: str) -> str:
    """Return a text as a scalar of YAML, on one line."""
    return json.dumps(_single_line(text), ensure_ascii=False)


def _single_line(text: str) -> str:
    """Return a text on one line, with single spaces."""
    return " ".join(text.split())


def _format_observation(text: str) -> str:
    """Return a text as one observation: further lines are indented, and no word is a tag."""
    first, *rest = _TAG_START.sub(r"\\#", text).split("\n")
    return "\n".join([first, *(f"  {line}" if line.strip() else "" for line in rest)])


def _index_title(text: str) -> str:
    """Return the beginning of a text as the title of a link."""
    plain = _LINK_MARKS.sub(" ", _single_line(text))
    return (
        plain if len(plain) <= LONGEST_INDEX_TITLE else plain[: LONGEST_INDEX_TITLE - 1].rsplit(None, 1)[0] + "…"
    )


def _with_utc_offset(moment: str) -> str:
    """Return a moment with +00:00 in place of Z."""
    return moment.removesuffix("Z") + "+00:00"


# The memory as Markdown, for people: facts by domain with the word of their badge, decisions with the rejected options
# and their commits, tasks, and the timeline. It cannot be imported.

MARKDOWN_TITLE = "# What is remembered of "
_MARKDOWN_MARKS = re.compile(r"([\\`*_\[\]<>|~])")
_LEADING_MARKS = re.compile(r"^(\s*)([#+-]|\d+[.)])", re.MULTILINE)
# control and format characters except line breaks: they could hide text, or reverse it
_UNSEEN_CHARACTERS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
TIMELINE_SQL = """
SELECT at, kind, text, cited, more FROM (
  SELECT decided_at AS at, 'decision' AS kind, id,
    title AS text, 'D#' || id AS cited, '' AS more
  FROM decisions WHERE status <> 'forgotten'
  UNION ALL SELECT committed_at, 'commit', id,
    substr(message, 1, instr(message || char(10), char(10)) - 1),
    'C#' || substr(sha, 1, 7), author
  FROM commits
  UNION ALL SELECT created_at, 'event', id,
    event_type, 'E#' || id, phase
  FROM events
  UNION ALL SELECT started_at, 'iteration', id,
    command || ': ' || description, 'I#' || id, status
  FROM iterations)
ORDER BY at DESC, kind, id DESC
"""


def export_markdown(database: Database, name: str, now: str) -> Generator[str, None, None]:
    """Yield the text, in pieces, from one moment of the memory named `name`; without forgotten records."""
    try:
        with open_snapshot(database.connection) as connection:
            yield f"{MARKDOWN_TITLE}{escape_markdown(name)}\n\nAs of {format_local_time(now)}.\n"
            yield from _markdown_section("\n## Facts\n", _markdown_facts(connection, now))
            yield from _markdown_section("\n## Decisions\n", _markdown_decisions(connection))
            yield from _markdown_section("\n## Tasks\n\n", _markdown_tasks(connection), "None.\n")
            yield from _markdown_section("\n## Timeline\n", _markdown_timeline(connection))
    except apsw.Error as error:
        raise explain_sqlite_error(error, database.path) from None


def _markdown_section(heading: str, parts: Iterator[str], empty: str = "\nNone.\n") -> Iterator[str]:
    """Yield a heading and what is below it, or that there is nothing."""
    yield heading
    yield next(parts, empty)
    yield from parts


def escape_markdown(text: str, indent: str = "") -> str:
    """Escape a text so that Markdown shows it as it is; further lines are indented."""
    plain = _LEADING_MARKS.sub(r"\1\\\2", _MARKDOWN_MARKS.sub(r"\\\1", _UNSEEN_CHARACTERS.sub("�", text)))
    return plain.strip().replace("\n", f"  \n{indent}")


def _markdown_facts(connection: apsw.Connection, now: str) -> Iterator[str]:
    """Yield the facts, by domain."""
    for domain in DOMAINS:
        rows = connection.execute(
            "SELECT id, fact, confidence, last_confirmed_at, pinned, origin, tags FROM facts"
            " WHERE domain = ? AND status = 'active' ORDER BY last_confirmed_at DESC, id DESC",
            (domain,),
        )
        title = f"\n### {domain.replace('_', ' ').capitalize()}\n\n"
        for number, fact, confidence, confirmed, pinned, origin, tags in rows:
            badge = "pinned" if pinned else age_state(now, confirmed, confidence, bool(pinned))
            about = [
                badge,
                f"{confidence} confidence",
                f"confirmed {format_local_time(confirmed)}",
                escape_markdown(origin),
            ]
            about += [f"#{escape_markdown(tag)}" for tag in json.loads(tags)]
            yield f"{title}- **{cite('fact', number)}** {escape_markdown(fact, '  ')}  \n  *{', '.join(about)}*\n"
            title = ""


def _markdown_decisions(connection: apsw.Connection) -> Iterator[str]:
    """Yield the decisions, the newest first."""
    rows = connection.execute(
        "SELECT id, title, chosen, context, alternatives, rationale, impact, decided_at, status, supersedes, origin"
        " FROM decisions WHERE status <> 'forgotten' ORDER BY decided_at DESC, id DESC"
    )
    for number, title, chosen, context, others, rationale, impact, at, status, supersedes, origin in rows:
        state = "" if status == "active" else f", {status}"
        yield f"\n### {cite('decision', number)} {' '.join(escape_markdown(title).split())}\n\n"
        yield f"*{format_local_time(at)}, {impact} impact{state}, {escape_markdown(origin)}*\n\n"
        yield f"- Chosen: {escape_markdown(chosen, '  ')}\n"
        if alternatives := json.loads(others):
            yield f"- Instead of: {'; '.join(escape_markdown(str(other), '  ') for other in alternatives)}\n"
        for label, text in (("Why", rationale), ("Context", context)):
            if text:
                yield f"- {label}: {escape_markdown(text, '  ')}\n"
        if supersedes:
            yield f"- Supersedes: {cite('decision', supersedes)}\n"
        links = connection.execute(
            "SELECT l.link_type, c.sha, c.message FROM commit_links AS l JOIN commits AS c ON c.id = l.commit_id"
            " WHERE l.decision_id = ? ORDER BY c.committed_at, c.id",
            (number,),
        )
        for kind, sha, message in links:
            subject = " ".join(commit_subject_lines(message).split())
            yield f"- {_LINK_VERBS[kind]} {cite('commit', sha)} {escape_markdown(subject)}\n"


_LINK_VERBS = {"implements": "Implemented by", "reverts": "Reverted by", "relates": "Related to"}


def _markdown_tasks(connection: apsw.Connection) -> Iterator[str]:
    """Yield the tasks."""
    for number, text, status in connection.execute(
        "SELECT id, text, status FROM tasks ORDER BY status = 'done', status = 'pending', id"
    ):
        doing = " (in progress)" if status == "in_progress" else ""
        yield (
            f"- [{'x' if status == 'done' else ' '}] **{cite('task', number)}** {escape_markdown(text, '  ')}{doing}\n"
        )


def _markdown_timeline(connection: apsw.Connection) -> Iterator[str]:
    """Yield the timeline, the newest day first."""
    day = ""
    for at, kind, text, citation, extra in connection.execute(TIMELINE_SQL):
        date, time = format_local_time(at).rsplit(" ", 1)
        if date != day:
            day = date
            yield f"\n### {day}\n\n"
        yield (
            f"- {time} {kind} **{citation}** "
            f"{escape_markdown(text, '  ')}{f' ({escape_markdown(extra)})' if extra else ''}\n"
        )
