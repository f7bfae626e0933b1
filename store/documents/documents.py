"""`Documents`: the Markdown files of a memory, their chunks and their problems."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from hashlib import sha256
from itertools import accumulate
from typing import NamedTuple

from store.base.citations import Citation
from store.base.clock import from_ms
from store.base.errors import InvalidInput, NotFound, StorageError
from store.base.location import Location
from store.base.models import Chunk, select_fields
from store.base.runtime import IsCancelled, never_cancelled
from store.config.configuration import Config
from store.database.database import Database, Lease, LeaseLost
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
from store.documents.sections import (
    blank_section,
    close_fence,
    list_synced_paths,
    open_fence,
    section_name,
)
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
# the headings of a path
HEADING_SEPARATOR = " › "
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


class _Block(NamedTuple):
    """Lines that belong together, by their indexes from 0: a paragraph, a fenced block, a heading of a `level`."""

    first: int
    last: int
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
    path: list[_Block] = []
    heading = ""
    for block in find_blocks(lines):
        if block.level:
            # consecutive headings are kept together, under the last
            if section and not section[-1].level:
                pieces += _pack_section(lines, sums, section, heading)
                section = []
            path = [*(above for above in path if above.level < block.level), block]
            heading = HEADING_SEPARATOR.join(above.title for above in path if above.title)
        section.append(block)
    return pieces + _pack_section(lines, sums, section, heading)


def find_blocks(lines: list[str]) -> Iterator[_Block]:
    """Yield the blocks of a text in order; lines between them are blank."""
    at = _front_matter_size(lines)
    if at:
        yield _Block(0, at - 1)
    # of the paragraph that is being read
    start: int | None = None
    while at < len(lines):
        line = lines[at].strip()
        block: _Block | None = None
        if fence := open_fence(line):
            closing = close_fence(lines, at, fence)
            block = _Block(at, len(lines) - 1 if closing is None else closing)
        elif level := _heading_level(lines[at]):
            block = _Block(at, at, level, _heading_title(line[level:]))
        elif start == at - 1 and line[1:] and line[0] in "=-" and not line.strip(line[0]):
            # underlined, one line of it
            title = lines[start].strip()
            block, start = _Block(start, at, 1 if line[0] == "=" else 2, _heading_title(title)), None
        elif line and start is None:
            start = at
        if start is not None and (block or not line):
            yield _Block(start, at - 1)
            start = None
        if block:
            yield block
            at = block.last
        at += 1
    if start is not None:
        yield _Block(start, at - 1)


def _front_matter_size(lines: list[str]) -> int:
    """Return how many lines at the top are YAML between dashes; 0 if there are none."""
    if lines and lines[0].rstrip() == "---":
        for at in range(1, len(lines)):
            if lines[at].rstrip() in ("---", "..."):
                return at + 1
    return 0


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
    # what a chunk keeps whole, of the chunk that is being filled, as (first, last)
    held: list[tuple[int, int]] = []
    # whether it holds more than what it repeats
    fresh = False

    def close() -> None:
        text = "\n".join(lines[held[0][0] : held[-1][1] + 1]) if fresh else ""
        # blank where a fenced block was cut and the rest of it is
        if text.strip():
            pieces.append(TextPiece(held[0][0] + 1, held[-1][1] + 1, heading, text))

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


def _split_atoms(sums: list[int], section: list[_Block]) -> Iterator[tuple[int, int]]:
    """Yield what a chunk keeps whole: blocks, and the lines of a block that is larger than a chunk."""
    for first, last, *_ in section:
        if sums[last + 1] - sums[first] <= CHUNK_SIZE:
            yield first, last
        else:
            yield from ((at, at) for at in range(first, last + 1))


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
    if not taken and not open_fence(lines[first]):
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
# of one transaction, some 20 ms
BATCH_CHUNKS = 100
# documents with all their chunks
BATCH_REMOVALS = 20
BATCH_SECONDS = 0.5
# of the chunks: a higher one causes all files to be split again
CHUNK_FORM = 1
# the end of the year 9999
LATEST_MS = 253_402_300_799_999
WENT_AWAY = "it went away while it was read"
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


class _DocumentRow(NamedTuple):
    """A document in the index: its row, but for the id."""

    path: str
    size: int
    modified_ns: int
    digest: bytes
    at: str
    evergreen: int
    lines: int = 0
    problem: str = ""


Statement = tuple[str, Sequence[SqlValue]]
# without its time, of which the index makes rows
_PUT_ROW = (
    f"INSERT INTO documents({', '.join(_DocumentRow._fields)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT(path) DO UPDATE SET size = excluded.size, modified_ns = excluded.modified_ns,"
    " digest = excluded.digest, lines = excluded.lines, problem = excluded.problem"
)


class _Scan:
    """One scan of the documents: see `Documents.update_index`."""

    def __init__(self, database: Database, progress: ScanProgress, cancelled: IsCancelled) -> None:
        self._database = database
        self._progress = progress
        self._cancelled = cancelled
        self._lease = Lease(database, DOCUMENTS_LEASE)
        self._known: dict[str, _DocumentRow] = {}
        self._ids: dict[str, int] = {}
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
        if not stale and not self._list_removals(there, troubles):
            return
        if not self._lease.acquire():
            result.remaining, result.elsewhere = len(stale), True
            return
        try:
            # again, now that no other process writes them
            self._read_indexed()
            self._read_stale(stale)
            if not result.remaining:
                self._write_some(self._list_removals(there, troubles), BATCH_REMOVALS)
                result.gone = sum(bool(self._known[name].digest) for name in self._list_gone(there, troubles))
        except LeaseLost:
            result.elsewhere = True
        finally:
            self._lease.release()

    def _read_indexed(self) -> None:
        """Read which documents the index has."""
        self._known, self._ids = {}, {}
        columns = ", ".join(_DocumentRow._fields)
        for number, *row in self._database.rows(f"SELECT id, {columns} FROM documents"):
            known = _DocumentRow(*row)
            self._known[known.path], self._ids[known.path] = known, number

    def _is_unchanged(self, found: WalkedFile) -> bool:
        """Tell whether a file is as the index has it."""
        row = self._known.get(found.place.name)
        if row is None or found.size != row.size:
            return False
        # what could not be opened is tried again: a new permission changes neither size nor time
        return found.modified_ns == row.modified_ns or (
            not row.modified_ns and bool(row.problem) and is_unopenable(found.place)
        )

    def _list_gone(self, there: Container[str], troubles: Container[str]) -> list[str]:
        """List the documents that are not there any more."""
        return [name for name in self._known if name not in there and name not in troubles]

    def _list_removals(self, there: dict[str, WalkedFile], troubles: dict[str, str]) -> list[Statement]:
        """Return what removes the deleted documents, with their chunks, and notes the problems of the places."""
        changes: list[Statement] = []
        for name in self._list_gone(there, troubles):
            changes.append(("DELETE FROM documents WHERE id = ?", (self._ids[name],)))
        for name, why in troubles.items():
            known = self._known.get(name)
            if known is None or known.problem != why:
                # where it was a document, its text is removed
                changes.append(("DELETE FROM chunks WHERE document_id = ?", (self._ids.get(name, 0),)))
                now = Verbatim(self._database.clock())
                changes.append((_PUT_ROW, _DocumentRow(name, 0, 0, b"", now, 1, 0, why)))
        return changes

    def _read_stale(self, stale: list[WalkedFile]) -> None:
        """Read the files that changed, and write the result, some at a time."""
        pending: list[Statement] = []
        started, section = time.monotonic(), section_name(self._database)
        self._progress(0, len(stale))
        for done, found in enumerate(stale):
            if self._cancelled():
                self.result.remaining = len(stale) - done
                break
            before = self._known.get(found.place.name)
            # another process was first
            if self._is_unchanged(found):
                self.result.unchanged += 1
                continue
            try:
                row, pieces = _read_document(found, before, section)
            except FileNotFoundError:
                # it was deleted meanwhile
                if before is None:
                    continue
                row = before._replace(size=0, modified_ns=0, digest=b"", lines=0, problem=WENT_AWAY)
                pieces = []
            pending += self._list_changes(row, before, pieces)
            if len(pending) >= BATCH_CHUNKS or time.monotonic() - started > BATCH_SECONDS:
                self._write_some(pending)
                pending, started = [], time.monotonic()
                self._progress(done + 1, len(stale))
        self._write_some(pending)
        self._progress(len(stale) - self.result.remaining, len(stale))

    def _write_some(self, changes: list[Statement], size: int = BATCH_CHUNKS) -> None:
        """Write to the index, in short transactions that keep the lease."""
        for start in range(0, len(changes), size):
            with self._database.write("agent", "documents") as write:
                self._lease.renew(write)
                for sql, values in changes[start : start + size]:
                    write.execute(sql, values)

    def _list_changes(
        self, row: _DocumentRow, before: _DocumentRow | None, pieces: list[TextPiece] | None
    ) -> list[Statement]:
        """Return what brings the index up to date with a document, and count it. Until all of it is written, the row
        has no digest, so that the document is read again."""
        if before is not None and pieces is None:
            self.result.unchanged += 1
        elif before is None or (before.problem and not before.digest):  # it could not be read before
            self.result.new += bool(row.digest)
        else:
            self.result.changed += 1
        changes: list[Statement] = []
        if pieces is not None:
            changes.append((_PUT_ROW, row._replace(modified_ns=0, digest=b"")))
            changes += self._chunk_changes(self._ids.get(row.path, 0), row.path, pieces)
        if before is not None and (not before.digest or before.at != row.at):
            sql = "UPDATE documents SET at = ?, evergreen = ? WHERE path = ?"
            changes.append((sql, (Verbatim(row.at), row.evergreen, Verbatim(row.path))))
        return [*changes, (_PUT_ROW, row)]

    def _chunk_changes(self, document: int, path: str, pieces: list[TextPiece]) -> Iterator[Statement]:
        """Yield what makes a document's chunks these; an unchanged chunk keeps its row."""
        sql = (
            "SELECT id, first, last, heading, text FROM chunks WHERE document_id = ? ORDER BY first DESC, id DESC"
        )
        kept: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
        for number, first, last, heading, text in self._database.rows(sql, (document,)):
            kept.setdefault((heading, text), []).append((number, first, last))
        insert = "INSERT INTO chunks(document_id, first, last, heading, text) SELECT id, ?, ?, ?, ? FROM documents"
        fresh: list[Statement] = []
        for piece in pieces:
            if same := kept.get((piece.heading, piece.text)):
                number, first, last = same.pop()
                if (first, last) != (piece.first, piece.last):
                    move = "UPDATE chunks SET first = ?, last = ? WHERE id = ?"
                    fresh.append((move, (piece.first, piece.last, number)))
            else:
                fresh.append((f"{insert} WHERE path = ?", (*piece, Verbatim(path))))
        for number, _, _ in (one for same in kept.values() for one in same):
            yield "DELETE FROM chunks WHERE id = ?", (number,)
        yield from fresh


def _read_document(
    found: WalkedFile, before: _DocumentRow | None, section: str
) -> tuple[_DocumentRow, list[TextPiece] | None]:
    """Read a file, without the `section` of this memory, whose facts are searched themselves. Return its row, and its
    pieces, None where the text is unchanged. Raise FileNotFoundError."""
    row = _make_row(found.place.name, found.size, found.modified_ns)
    if found.size > LARGEST_FILE:
        return row._replace(problem=f"it is larger than {LARGEST_FILE // 1_000_000} MB"), []
    try:
        raw, status = read_document_bytes(found.place)
    except Unreadable as error:
        # tried again each time: permissions change no time
        return row._replace(modified_ns=0, problem=error.message), []
    modified = status.st_mtime_ns
    young = time.time_ns() - modified < (FRESH_NS if modified % 1_000_000_000 else FRESH_COARSE_NS)
    digest = sha256(b"%d:" % CHUNK_FORM + raw).digest()
    row = _make_row(row.path, len(raw), modified, digest)
    if young or len(raw) != status.st_size:
        row = row._replace(modified_ns=0)
    if before is not None and before.digest == digest:
        return row._replace(lines=before.lines, problem=before.problem), None
    try:
        text, problem = decode_text(raw)
    except Unreadable as error:
        return row._replace(problem=error.message), []
    lines = split_lines(redact_lines(blank_section(text, section)))
    pieces = [
        piece._replace(heading=clean_text(piece.heading), text=clean_text(piece.text))
        for piece in split_chunks(lines)
    ]
    return row._replace(lines=len(lines), problem=problem), pieces


def _make_row(path: str, size: int, modified_ns: int, digest: bytes = b"") -> _DocumentRow:
    """Return the row of a document, with its date: the day in its name, else when it was changed. Without a day in its
    name it is evergreen."""
    day = date_in_name(os.path.basename(path))
    at = day or from_ms(min(max(modified_ns // 1_000_000, 0), LATEST_MS))
    return _DocumentRow(path, size, modified_ns, digest, Verbatim(at), int(not day))


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
