"""`Documents`: the Markdown files of a memory, their chunks and their problems."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from hashlib import sha256
from itertools import accumulate
from typing import Any, NamedTuple

from store.base.citations import Citation
from store.base.clock import from_ms
from store.base.errors import InvalidInput, NotFound, StorageError
from store.base.location import Location
from store.base.models import Chunk, select_fields
from store.base.runtime import IsCancelled, never_cancelled
from store.config.configuration import Config
from store.database.database import Database, Lease, LeaseLost, Transaction
from store.database.values import SqlValue, Verbatim, clean_text
from store.documents.files import (
    LARGEST_FILE,
    DocumentRoots,
    Unreadable,
    WalkedFile,
    decode_text,
    document_roots,
    is_unopenable,
    log_folders,
    read_document_bytes,
)
from store.documents.sections import blank_section, list_synced_paths, section_name
from store.redaction.allowlist import is_allowed_value
from store.redaction.redactor import find_secrets
from store.text.display import format_count

# Split a Markdown text into chunks: whole lines of about 400 tokens that can be found, and cited by their numbers.
#
# A token is estimated as four characters: no tokenizer here counts exactly, and chunks must not change with the
# model. A chunk never crosses a heading; within a section it ends between paragraphs, or between fenced blocks,
# where possible. The next chunk of a section repeats at most 80 tokens of whole lines. A line longer than a chunk
# becomes several chunks with that line's number, cut at sentences, else at spaces.

TOKEN_CHARACTERS = 4  # characters
CHUNK_SIZE = 400 * TOKEN_CHARACTERS
CHUNK_OVERLAP = 80 * TOKEN_CHARACTERS
HEADING_SEPARATOR = " › "  # the headings of a path
# with the full stop of Chinese and Japanese
SENTENCE_ENDS = (". ", "! ", "? ", "; ", chr(0x3002))
# characters of one heading that are kept
LONGEST_HEADING = 200


class TextPiece(NamedTuple):
    """Some lines of a text, `first` to `last` counted from 1, under `heading`, the path of headings above them."""

    first: int
    last: int
    heading: str
    text: str


@dataclass(slots=True, eq=False, repr=False)
class _Block:
    """Lines that belong together, by their indexes from 0: a paragraph, a fenced block, a heading."""

    first: int
    last: int
    kind: str
    level: int = 0
    title: str = ""


def split_lines(text: str) -> list[str]:
    """Return the lines of a text as editors and `grep -n` count them: ended by \\n or \\r\\n, the last one also by the
    end."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def split_chunks(lines: list[str]) -> list[TextPiece]:
    """Return the lines as pieces, in order; together they contain every line that is not blank."""
    pieces: list[TextPiece] = []
    sums = [0, *accumulate(len(line) + 1 for line in lines)]
    section: list[_Block] = []
    path: list[tuple[int, str]] = []
    heading = ""
    # whether the section has more than headings
    bodied = False
    for block in _find_blocks(lines):
        if block.kind == "heading":
            # consecutive headings are kept together, under the last
            if bodied:
                pieces += _pack_section(lines, sums, section, heading)
                section, bodied = [], False
            path = [above for above in path if above[0] < block.level]
            path.append((block.level, block.title))
            heading = HEADING_SEPARATOR.join(title for _, title in path if title)
        else:
            bodied = True
        section.append(block)
    return pieces + _pack_section(lines, sums, section, heading)


def _find_blocks(lines: list[str]) -> list[_Block]:
    """Return the blocks of a text in order; lines between them are blank."""
    blocks: list[_Block] = []
    at = _front_matter_size(lines)
    if at:
        blocks.append(_Block(0, at - 1, "paragraph"))
    # of the paragraph that is being read
    start: int | None = None

    def end(place: int) -> None:
        nonlocal start
        if start is not None:
            blocks.append(_Block(start, place - 1, "paragraph"))
        start = None

    while at < len(lines):
        line = lines[at].strip()
        if not line:
            end(at)
        elif fence := _fence_mark(line):
            end(at)
            last = _closing_line(lines, at, fence)
            blocks.append(_Block(at, last, "fence"))
            at = last
        elif level := _heading_level(lines[at]):
            end(at)
            blocks.append(_Block(at, at, "heading", level, _heading_title(line[level:])))
        elif start == at - 1 and line[0] in "=-" and not line.strip(line[0]) and len(line) > 1:
            # underlined, one line of it
            title = lines[start].strip()
            blocks.append(_Block(start, at, "heading", 1 if line[0] == "=" else 2, _heading_title(title)))
            start = None
        elif start is None:
            start = at
        at += 1
    end(len(lines))
    return blocks


def _front_matter_size(lines: list[str]) -> int:
    """Return how many lines at the top are YAML between dashes; 0 if there are none."""
    if lines and lines[0].rstrip() == "---":
        for at in range(1, len(lines)):
            if lines[at].rstrip() in ("---", "..."):
                return at + 1
    return 0


def _fence_mark(line: str) -> str:
    """Return the mark that opens a fenced block on this line, or an empty string."""
    for mark in ("`", "~"):
        size = len(line) - len(line.lstrip(mark))
        # else code inside a line
        if size >= 3 and not (mark == "`" and mark in line[size:]):
            return mark * size
    return ""


def _closing_line(lines: list[str], at: int, fence: str) -> int:
    """Return the line that closes the fenced block opened at `at`; the last of all if none does."""
    for place in range(at + 1, len(lines)):
        line = lines[place].strip()
        if line.startswith(fence) and not line.strip(fence[0]):
            return place
    return len(lines) - 1


def _heading_level(line: str) -> int:
    """Return the level of a heading `# …` on this line; 0 if it is none."""
    text = line.lstrip(" ")
    level = len(text) - len(text.lstrip("#"))
    marked = 1 <= level <= 6 and text[level : level + 1] in ("", " ", "\t")
    return level if marked and len(line) - len(text) < 4 else 0


def _heading_title(text: str) -> str:
    """Return a heading's words, without the marks that may close it."""
    text = text.strip()
    closed = text.rstrip("#")
    return (text if closed and closed[-1] not in " \t" else closed.strip())[:LONGEST_HEADING]


def _pack_section(lines: list[str], sums: list[int], section: list[_Block], heading: str) -> list[TextPiece]:
    """Return the chunks of one section. `sums[n]` is the number of characters of the first n lines, with their ends."""
    pieces: list[TextPiece] = []
    # the atoms of the chunk that is being filled, as (first, last)
    held: list[tuple[int, int]] = []
    # whether it holds more than what it repeats
    fresh = False

    def close() -> None:
        if not fresh:
            return
        first, last = held[0][0], held[-1][1]
        text = "\n".join(lines[first : last + 1])
        # false where a fenced block was cut and the rest of it is blank
        if text.strip():
            pieces.append(TextPiece(first + 1, last + 1, heading, text))

    for first, last in _split_atoms(sums, section):
        if first == last and len(lines[first]) > CHUNK_SIZE:
            close()
            held, fresh = [], False
            pieces += [TextPiece(first + 1, first + 1, heading, part) for part in _split_long_line(lines[first])]
            continue
        if held and sums[last + 1] - sums[held[0][0]] > CHUNK_SIZE:
            close()
            room = CHUNK_SIZE - (sums[last + 1] - sums[held[-1][1] + 1])
            held, fresh = _repeat_tail(lines, sums, held, room), False
        held.append((first, last))
        fresh = True
    close()
    return pieces


def _split_atoms(sums: list[int], section: list[_Block]) -> list[tuple[int, int]]:
    """Return what a chunk keeps whole: blocks, and the lines of a block that is larger than a chunk."""
    atoms: list[tuple[int, int]] = []
    for block in section:
        if sums[block.last + 1] - sums[block.first] <= CHUNK_SIZE:
            atoms.append((block.first, block.last))
        else:
            atoms += [(at, at) for at in range(block.first, block.last + 1)]
    return atoms


def _repeat_tail(
    lines: list[str], sums: list[int], atoms: list[tuple[int, int]], room: int
) -> list[tuple[int, int]]:
    """Return what the next chunk repeats of a chunk: its last atoms, or, if none fits, the last lines of a
    paragraph."""
    room, end = min(room, CHUNK_OVERLAP), atoms[-1][1]
    taken: list[tuple[int, int]] = []
    for atom in reversed(atoms[1:]):
        if sums[end + 1] - sums[atom[0]] > room:
            break
        taken.insert(0, atom)
    first, last = atoms[-1]
    if not taken and not _fence_mark(lines[first].strip()):
        while first <= last and sums[last + 1] - sums[first] > room:
            first += 1
        taken = [(first, last)] if first <= last else []
    while taken and not any(map(str.strip, lines[taken[0][0] : taken[0][1] + 1])):
        # a blank line of a fenced block that was cut
        del taken[0]
    return taken


def _split_long_line(line: str) -> list[str]:
    """Split a very long line after a sentence, else after a space, else anywhere; joined, the parts are the line,
    except blank ones."""
    parts: list[str] = []
    at = 0
    while len(line) - at > CHUNK_SIZE:
        window = line[at : at + CHUNK_SIZE]
        cut = max(window.rfind(mark) for mark in SENTENCE_ENDS) + 1
        if cut <= CHUNK_SIZE // 2:
            cut = window.rfind(" ")
        cut = cut + 1 if cut > CHUNK_SIZE // 2 else CHUNK_SIZE
        parts.append(line[at : at + cut])
        at += cut
    return [part for part in (*parts, line[at:]) if part.strip()]


# Update the index from the files: read and split what is new or changed, remove what was deleted.
#
# A file is read again when its size or its time changed, and split again when its digest did; an unchanged chunk keeps
# its row, so that nothing is embedded twice. Files are read outside of any transaction; the result is written in short
# ones, by the process that holds the lease.

ScanProgress = Callable[[int, int], None]

DOCUMENTS_LEASE = "documents"
BATCH_CHUNKS = 100  # of one transaction, some 20 ms
BATCH_SECONDS = 0.5
# of the chunks: a higher one causes all files to be split again
CHUNK_FORM = 1
# the end of the year 9999
LATEST_MS = 253_402_300_799_999
# a file this recent may change without its time changing
FRESH_NS, FRESH_COARSE_NS = 50_000_000, 2_100_000_000


@dataclass(slots=True, eq=False, repr=False)
class DocumentScan:
    """Result of a scan: how many documents are `new`, `changed`, `gone`, `unchanged`; `problems` as (path, why).

    `remaining` were not read, because it was cancelled, or another process is scanning (`elsewhere`).
    """

    new: int = 0
    changed: int = 0
    gone: int = 0
    unchanged: int = 0
    remaining: int = 0
    elsewhere: bool = False
    problems: list[tuple[str, str]] = field(default_factory=list)

    def describe(self) -> str:
        """Return in a sentence what was read."""
        if self.elsewhere:
            return "Another process is reading the documents right now."
        words = [format_count(self.new, "new document")] if self.new else []
        words += [f"{self.changed:,} changed"] if self.changed else []
        words += [f"{self.gone:,} gone"] if self.gone else []
        if not words:
            return f"Nothing changed: {format_count(self.unchanged, 'document')}."
        rest = f"; {self.unchanged:,} as they were" if self.unchanged else ""
        return f"Read the documents: {', '.join(words)}{rest}."

    def as_dict(self) -> dict[str, object]:
        return {
            **select_fields(self, "new", "changed", "gone", "unchanged", "remaining"),
            "problems": [{"path": path, "problem": why} for path, why in self.problems],
        }


class _IndexedDocument(NamedTuple):
    """A document in the index."""

    id: int
    size: int
    modified_ns: int
    digest: bytes
    at: str
    problem: str


@dataclass(slots=True, eq=False, repr=False)
class _ReadDocument:
    """A document just read; `pieces` is None when the text is unchanged."""

    path: str
    size: int = 0
    modified_ns: int = 0
    problem: str = ""
    moment: str = ""
    evergreen: bool = True
    digest: bytes = b""
    lines: int = 0
    pieces: list[TextPiece] | None = field(default_factory=list)


class _Scan:
    """One scan of the documents: see `Documents.update_index`."""

    def __init__(self, database: Database, progress: ScanProgress, cancelled: IsCancelled) -> None:
        self._database = database
        self._progress = progress
        self._cancelled = cancelled
        self._lease = Lease(database, DOCUMENTS_LEASE)
        self._known: dict[str, _IndexedDocument] = {}
        self.result = DocumentScan()

    def update_index(self, places: DocumentRoots) -> None:
        """Find the files that changed or were deleted, and write what they say now."""
        result = self.result
        troubles: dict[str, str] = {}
        there: dict[str, WalkedFile] = {}

        def trouble(name: str, why: str) -> None:
            troubles.setdefault(clean_text(_storable_name(name)), why)

        late = False
        for found in places.walk(trouble):
            name = found.place.name
            if clean_text(name) != name or _storable_name(name) != name:
                trouble(name, "its name cannot be kept: it is not text, or looks like a secret")
            else:
                there[name] = found
            if late := self._cancelled():
                break
        self._read_indexed()
        stale = [found for found in there.values() if not self._is_unchanged(found)]
        read = {name for name, row in self._known.items() if row.digest}
        result.unchanged = len(read.intersection(there).difference(one.place.name for one in stale))
        if late or (stale and self._cancelled()):
            result.remaining = len(stale)
            return
        if not stale and not self._has_removals(there, troubles):
            return
        if not self._lease.acquire():
            result.remaining, result.elsewhere = len(stale), True
            return
        try:
            # again, now that no other process writes them
            self._read_indexed()
            self._read_stale(stale)
            if not result.remaining:
                self._remove_deleted(there, troubles)
        except LeaseLost:
            result.elsewhere = True
        finally:
            self._lease.release()

    @contextmanager
    def _write(self) -> Iterator[Transaction]:
        """Write to the index, in one transaction that keeps the lease."""
        with self._database.write("agent", "documents") as write:
            self._lease.renew(write)
            yield write

    def _read_indexed(self) -> None:
        """Read which documents the index has."""
        rows = self._database.rows("SELECT path, id, size, modified_ns, digest, at, problem FROM documents")
        self._known = {row[0]: _IndexedDocument(*row[1:]) for row in rows}

    def _is_unchanged(self, found: WalkedFile) -> bool:
        """Tell whether a file is as the index has it."""
        row = self._known.get(found.place.name)
        if row is None or found.size != row.size:
            return False
        # what could not be opened is tried again: a new permission changes neither size nor time
        return found.modified_ns == row.modified_ns or (
            not row.modified_ns and bool(row.problem) and is_unopenable(found.place)
        )

    def _has_removals(self, there: dict[str, WalkedFile], troubles: dict[str, str]) -> bool:
        """Return whether a document was deleted, or a problem of the places is not stored yet."""
        known = self._known.items()
        return any(name not in there and troubles.get(name) != row.problem for name, row in known) or any(
            name not in self._known for name in troubles
        )

    def _read_stale(self, stale: list[WalkedFile]) -> None:
        """Read the files that changed, and write the result, some at a time."""
        batch: list[_ReadDocument] = []
        waiting, started = 0, time.monotonic()
        done = 0
        section = section_name(self._database)

        def write() -> None:
            nonlocal waiting, started
            self._write_batch(batch)
            batch.clear()
            waiting, started = 0, time.monotonic()
            self._progress(done, len(stale))

        self._progress(0, len(stale))
        for found in stale:
            if self._cancelled():
                self.result.remaining = len(stale) - done
                break
            done += 1
            before = self._known.get(found.place.name)
            # another process was first
            if self._is_unchanged(found):
                self.result.unchanged += 1
                continue
            try:
                read = _read_document(found, before, section)
            except FileNotFoundError:
                # it was deleted meanwhile
                if before is None:
                    continue
                read = _ReadDocument(found.place.name, problem="it went away while it was read")
            if batch and len(read.pieces or ()) > BATCH_CHUNKS:
                write()
            batch.append(read)
            waiting += len(read.pieces or ()) + 1
            if waiting >= BATCH_CHUNKS or time.monotonic() - started > BATCH_SECONDS:
                write()
        if batch:
            write()

    def _write_batch(self, batch: list[_ReadDocument]) -> None:
        """Write documents in one transaction; one of many chunks in several."""
        if len(batch) == 1 and len(batch[0].pieces or ()) >= 2 * BATCH_CHUNKS:
            read = batch[0]
            with self._write() as write:
                number = self._write_document(write, read, whole=False)
            changes = _chunk_changes(self._database.rows, number, read.pieces)
            sql = "UPDATE documents SET digest = ?, modified_ns = ? WHERE id = ?"
            changes.append((sql, (read.digest, read.modified_ns, number)))
            for start in range(0, len(changes), BATCH_CHUNKS):
                with self._write() as write:
                    for change in changes[start : start + BATCH_CHUNKS]:
                        write.execute(*change)
            return
        with self._write() as write:
            for read in batch:
                number = self._write_document(write, read)
                for change in _chunk_changes(write.rows, number, read.pieces):
                    write.execute(*change)

    def _write_document(self, write: Transaction, read: _ReadDocument, whole: bool = True) -> int:
        """Write a document's own row, and return its id; not `whole`, so that it is read again if the rest is never
        written."""
        before = self._known.get(read.path)
        columns: dict[str, SqlValue] = {
            "size": read.size,
            "modified_ns": read.modified_ns if whole else 0,
            "digest": read.digest if whole else b"",
            "problem": read.problem,
        }
        if read.pieces is not None:
            columns["lines"] = read.lines
        moment = read.moment or (before.at if before else write.at)
        # else the index would rewrite its rows
        if before is None or not before.digest or before.at != moment:
            columns |= {"at": Verbatim(moment), "evergreen": int(read.evergreen)}
        if before is None:
            self.result.new += bool(read.digest)
            return write.insert("documents", path=read.path, **columns)
        marks = ", ".join(f"{name} = ?" for name in columns)
        write.execute(f"UPDATE documents SET {marks} WHERE id = ?", (*columns.values(), before.id))
        if read.pieces is None:
            self.result.unchanged += 1
        elif before.problem and not before.digest:  # it could not be read before
            self.result.new += bool(read.digest)
        else:
            self.result.changed += 1
        return before.id

    def _remove_deleted(self, there: dict[str, WalkedFile], troubles: dict[str, str]) -> None:
        """Remove deleted documents, and store the problems of the places themselves."""
        known = self._known
        gone = [row for name, row in known.items() if name not in there and name not in troubles]
        while gone:
            some, gone = gone[:20], gone[20:]
            with self._write() as write:
                for row in some:
                    write.execute("DELETE FROM chunks WHERE document_id = ?", (row.id,))
                    write.execute("DELETE FROM documents WHERE id = ?", (row.id,))
                    self.result.gone += bool(row.digest)
        noted = {name: why for name, why in troubles.items() if name not in known or known[name].problem != why}
        if noted:
            with self._write() as write:
                for name, why in noted.items():
                    # it was a document; its text is removed
                    if name in known:
                        write.execute("DELETE FROM chunks WHERE document_id = ?", (known[name].id,))
                    write.execute(
                        "INSERT INTO documents(path, size, modified_ns, digest, at, evergreen, lines, problem)"
                        " VALUES (?, 0, 0, x'', ?, 1, 0, ?) ON CONFLICT(path) DO UPDATE SET"
                        " size = 0, modified_ns = 0, digest = x'', lines = 0, problem = excluded.problem",
                        (name, write.at, why),
                    )


def _read_document(found: WalkedFile, before: _IndexedDocument | None, section: str) -> _ReadDocument:
    """Read a file, without the `section` of this memory, whose facts are searched themselves. Raise
    FileNotFoundError."""
    path = found.place.name
    dated = _document_date(path, found.modified_ns)
    if found.size > LARGEST_FILE:
        why = f"it is larger than {LARGEST_FILE // 1_000_000} MB"
        return _ReadDocument(path, found.size, found.modified_ns, why, *dated)
    try:
        raw, status = read_document_bytes(found.place)
    except Unreadable as error:
        # tried again each time: permissions change no time
        return _ReadDocument(path, found.size, 0, error.message, *dated)
    coarse = status.st_mtime_ns % 1_000_000_000 == 0
    young = time.time_ns() - status.st_mtime_ns < (FRESH_COARSE_NS if coarse else FRESH_NS)
    settled = not young and len(raw) == status.st_size
    read = _ReadDocument(path, len(raw), status.st_mtime_ns if settled else 0)
    read.moment, read.evergreen = _document_date(path, status.st_mtime_ns)
    read.digest = sha256(b"%d:" % CHUNK_FORM + raw).digest()
    if before is not None and before.digest == read.digest:
        read.pieces, read.problem = None, before.problem
        return read
    try:
        text, read.problem = decode_text(raw)
    except Unreadable as error:
        read.problem = error.message
        return read
    lines = split_lines(redact_lines(blank_section(text, section)))
    read.lines = len(lines)
    read.pieces = [
        TextPiece(p.first, p.last, clean_text(p.heading), clean_text(p.text)) for p in split_chunks(lines)
    ]
    return read


def redact_lines(text: str) -> str:
    """Return the text without its secrets and with unchanged line numbers: a chunk may begin in the middle of a
    private key, where it would not be recognised."""
    cuts = [cut for cut in find_secrets(text) if not is_allowed_value(cut.label, text[cut.start : cut.end])]
    if not cuts:
        return text
    parts, last = [], 0
    for cut in cuts:
        ends = text.count("\n", cut.start, cut.end)
        parts += [text[last : cut.start], f"[REDACTED:{cut.label}]", "\n" * ends]
        last = cut.end
    return "".join([*parts, text[last:]])


def date_in_name(name: str) -> str:
    """Return the day at the start of a file's name, `2026-02-20.md` or `2026-02-20-topic.md`, as a moment; else an
    empty string."""
    day, rest = name[:10], name[10:11]
    if len(day) < 10 or rest not in (".", "-", "_", " ") or not day.isascii():
        return ""
    try:
        return f"{date.fromisoformat(day).isoformat()}T00:00:00.000Z" if day[4] == day[7] == "-" else ""
    except ValueError:
        return ""


def _document_date(path: str, modified_ns: int) -> tuple[str, bool]:
    """Return the date of a document: the day in its name, else when it was changed, and whether it is evergreen:
    without a day in its name."""
    day = date_in_name(os.path.basename(path))
    return day or from_ms(min(max(modified_ns // 1_000_000, 0), LATEST_MS)), not day


def _chunk_changes(
    rows: Callable[[str, tuple[int]], Iterable[tuple[Any, ...]]], document: int, pieces: list[TextPiece] | None
) -> list[tuple[str, tuple[SqlValue, ...]]]:
    """Return the statements that update a document's chunks to these; an unchanged chunk keeps its row."""
    if pieces is None:
        return []
    sql = "SELECT id, first, last, heading, text FROM chunks WHERE document_id = ? ORDER BY first DESC, id DESC"
    kept: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for number, first, last, heading, text in rows(sql, (document,)):
        kept.setdefault((heading, text), []).append((number, first, last))
    moved: list[tuple[SqlValue, ...]] = []
    fresh: list[tuple[SqlValue, ...]] = []
    for piece in pieces:
        if same := kept.get((piece.heading, piece.text)):
            number, first, last = same.pop()
            if (first, last) != (piece.first, piece.last):
                moved.append((piece.first, piece.last, number))
        else:
            fresh.append((document, *piece))
    gone = [(number,) for same in kept.values() for number, _, _ in same]
    insert = "INSERT INTO chunks(document_id, first, last, heading, text) VALUES (?, ?, ?, ?, ?)"
    return [
        *(("DELETE FROM chunks WHERE id = ?", values) for values in gone),
        *(("UPDATE chunks SET first = ?, last = ? WHERE id = ?", values) for values in moved),
        *((insert, values) for values in fresh),
    ]


def _storable_name(name: str) -> str:
    """Return a name that is not text as text."""
    return name.encode(errors="surrogateescape").decode(errors="replace")


@dataclass(slots=True, eq=False, repr=False)
class FileExcerpt:
    """Lines of a document as it is on the disk, `first` to `last` of `total`, counted from 1; `last` is 0 where there
    are none. What looks like a secret is cut from the text, as it is in the index."""

    path: str
    first: int
    last: int
    total: int
    text: str


def _ignore_progress(done: int, total: int) -> None:
    """Report no progress."""


def find_roots(database: Database, location: Location, config: Config) -> DocumentRoots:
    """Return where the documents of a memory lie: what is synced, and every folder that logs were written to, too."""
    return document_roots(location, config, [*list_synced_paths(database), *log_folders(database)])


class Documents:
    """The documents of one memory; without `places` only those in the index."""

    def __init__(self, database: Database, places: Callable[[], DocumentRoots] | None = None) -> None:
        self._database = database
        self._find_places = places

    @property
    def roots(self) -> DocumentRoots:
        """The roots of the documents, from the configuration."""
        if self._find_places is None:
            raise RuntimeError("these documents were opened without their places")
        return self._find_places()

    def update_index(
        self, progress: Callable[[int, int], None] = _ignore_progress, cancelled: IsCancelled = never_cancelled
    ) -> DocumentScan:
        """Read the documents that changed since the last scan, and remove those that were deleted.

        `progress` is called with (done, total) files after each batch; what was read when it is cancelled is kept. A
        file that cannot be read is among the `problems` and stops nothing. In a read-only memory nothing happens. Raise
        StorageError when the memory cannot be written.
        """
        scan = _Scan(self._database, progress, cancelled)
        if not self._database.read_only:
            scan.update_index(self.roots)
            scan.result.problems = self.problems()
        return scan.result

    def read_lines(self, path: str, first: int = 1, lines: int | None = None) -> FileExcerpt:
        """Return `lines` lines of a document (all that follow, without a number) from line `first` on, as it is on the
        disk now, whether or not the index has it. `path` is as in a citation: below the project's folder, absolute only
        for what is in an extra path.

        Raise InvalidInput for another path or a line that does not exist, NotFound, StorageError (unreadable).
        """
        if first < 1 or (lines is not None and lines < 1):
            raise InvalidInput("Lines are counted from 1.", "Ask for one line at least.")
        place = self.roots.find_document(path)
        try:
            raw, _ = read_document_bytes(place)
            text, _ = decode_text(raw)
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(
                "There is no such document on the disk.",
                "`memoranda health --index documents` reads what there is.",
            ) from None
        except Unreadable as error:
            raise StorageError(f"That document cannot be read: {error.message}.") from None
        found = split_lines(redact_lines(text))
        if first > max(1, len(found)):
            raise InvalidInput(f"That document has {len(found):,} lines.", "Ask for an earlier one.")
        taken = found[first - 1 : None if lines is None else first - 1 + lines]
        return FileExcerpt(path, first, first - 1 + len(taken), len(found), "\n".join(taken))

    def chunk_at(self, path: str, line: int) -> Chunk:
        """Return the chunk that contains this line of a document. Raise NotFound."""
        found = self._find_covering(path, line, line)
        if not found:
            raise NotFound(
                "No document of this memory has that line.",
                "`memoranda health --index documents` reads the documents as they are now.",
            )
        return found[0]

    def cited_lines(self, citation: Citation) -> Chunk:
        """Return the lines of a citation as the index has them, as a part of the chunk they begin in. Raise
        NotFound."""
        path, first = str(citation.target), citation.first
        start = self.chunk_at(path, first)
        passages: dict[int, str] = {}
        for chunk in self._find_covering(path, first, citation.last):
            lines = chunk.text.split("\n")
            if len(lines) == chunk.last - chunk.first + 1 and chunk.first != chunk.last:
                passages.update(zip(range(chunk.first, chunk.last + 1), lines, strict=True))
            else:  # a part of a very long line
                passages[chunk.first] = passages.get(chunk.first, "") + chunk.text
        last = min(citation.last, max(passages))
        whole = "\n".join(passages.get(number, "") for number in range(first, last + 1))
        return replace(start, first=first, last=last, text=whole)

    def problems(self) -> list[tuple[str, str]]:
        """List (path, why) of what the last scan could not read, or only in part."""
        return self._database.rows("SELECT path, problem FROM documents WHERE problem <> '' ORDER BY path")

    def count_documents(self) -> int:
        """Return how many documents the index has."""
        return self._database.number("SELECT count(*) FROM documents WHERE digest <> x''")

    def get_many(self, numbers: Sequence[int]) -> list[Chunk]:
        """Return the chunks of these ids that exist, in no particular order."""
        return self._read_chunks("c.id IN (SELECT value FROM json_each(?))", (json.dumps(list(numbers)),))

    def _find_covering(self, path: str, first: int, last: int) -> list[Chunk]:
        """Return the chunks that contain one of these lines, in order."""
        return self._read_chunks(
            "d.path = ? AND c.last >= ? AND c.first <= ? ORDER BY c.first, c.id", (path, first, last)
        )

    def _read_chunks(self, where: str, parameters: tuple[object, ...]) -> list[Chunk]:
        """Return the chunks for which a condition holds."""
        rows = self._database.rows(
            "SELECT c.id, d.path, c.first, c.last, c.heading, c.text, d.at FROM chunks c"
            f" JOIN documents d ON d.id = c.document_id WHERE {where}",
            parameters,
        )
        return [Chunk(*row) for row in rows]
