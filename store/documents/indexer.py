"""Update the index from the files: read and split what is new or changed, remove what was deleted.

A file is read again when its size or its time changed, and split again when its digest did; an unchanged chunk keeps
its row, so that nothing is embedded twice. Files are read outside of any transaction; the result is written in short
ones, by the process that holds the lease.
"""

import os
import time
from hashlib import sha256

from store.base.clock import from_ms
from store.database.database import Database, Transaction
from store.database.lease import Lease, LeaseLost
from store.database.values import Value, Verbatim, clean
from store.documents.chunking import Piece, chunks, lines_of
from store.documents.managed_section import section_name, without_section
from store.documents.paths import LARGEST_FILE, DocumentRoots, OpenedFile, Unreadable, decoded, read_bytes, reason, shut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Progress = Callable[[int, int], None]
    Cancelled = Callable[[], bool]

LEASE = "documents"
BATCH_CHUNKS = 100  # of one transaction, some 20 ms
BATCH_SECONDS = 0.5
FORM = 1  # of the chunks: a higher one causes all files to be split again
LATEST_MS = 253_402_300_799_999  # the end of the year 9999
FRESH_NS, FRESH_COARSE_NS = 50_000_000, 2_100_000_000  # a file this recent may change without its time changing


class Scan:
    """Result of a scan: how many documents are `new`, `changed`, `gone`, `unchanged`; `problems` as (path, why).

    `remaining` were not read, because it was cancelled, or another process is scanning (`elsewhere`).
    """

    __slots__ = ("changed", "elsewhere", "gone", "new", "problems", "remaining", "unchanged")

    def __init__(self) -> None:
        self.new = self.changed = self.gone = self.unchanged = self.remaining = 0
        self.elsewhere = False
        self.problems: list[tuple[str, str]] = []


class _Known:
    """A document in the index."""

    __slots__ = ("at", "digest", "id", "modified_ns", "problem", "size")

    def __init__(self, id: int, size: int, modified_ns: int, digest: bytes, at: str, problem: str) -> None:
        self.id = id
        self.size = size
        self.modified_ns = modified_ns
        self.digest = digest
        self.at = at
        self.problem = problem


class _Read:
    """A document just read; `pieces` is None when the text is unchanged."""

    __slots__ = ("digest", "evergreen", "lines", "modified_ns", "moment", "path", "pieces", "problem", "size")

    def __init__(self, path: str, size: int = 0, modified_ns: int = 0, problem: str = "") -> None:
        self.path = path
        self.size = size
        self.modified_ns = modified_ns
        self.problem = problem
        self.digest = b""
        self.evergreen = True
        self.lines = 0
        self.moment = ""
        self.pieces: list[Piece] | None = []


def scan(database: Database, places: DocumentRoots, progress: "Progress", cancelled: "Cancelled") -> Scan:
    """See `Documents.scan`."""
    result = Scan()
    if database.read_only:
        return result
    troubles: dict[str, str] = {}
    there: dict[str, OpenedFile] = {}

    def trouble(name: str, why: str) -> None:
        troubles.setdefault(clean(_storable(name)), why)

    late = False
    for found in places.walk(trouble):
        name = found.place.name
        if clean(name) != name or _storable(name) != name:
            trouble(name, "its name cannot be kept: it is not text, or looks like a secret")
        else:
            there[name] = found
        if late := cancelled():
            break
    known = _known(database)
    stale = [found for name, found in there.items() if not _same(found, known.get(name))]
    read = {name for name, row in known.items() if row.digest}
    result.unchanged = len(read.intersection(there).difference(one.place.name for one in stale))
    if late or (stale and cancelled()):
        result.remaining = len(stale)
        result.problems = _problems(database)
        return result
    if not stale and not _due(known, there, troubles):
        result.problems = _problems(database)
        return result
    lease = Lease(database, LEASE)
    if not lease.take():
        result.remaining, result.elsewhere = len(stale), True
        result.problems = _problems(database)
        return result
    try:
        known = _known(database)  # again, now that no other process writes them
        _read_all(database, lease, stale, known, result, progress, cancelled)
        if not result.remaining:
            _sweep(database, lease, known, there, troubles, result)
    except LeaseLost:
        result.elsewhere = True
    finally:
        lease.release()
    result.problems = _problems(database)
    return result


def _read_all(
    database: Database,
    lease: Lease,
    stale: "list[OpenedFile]",
    known: dict[str, _Known],
    result: Scan,
    progress: "Progress",
    cancelled: "Cancelled",
) -> None:
    """Read the files that changed, and write the result, some at a time."""
    batch: list[_Read] = []
    waiting, started = 0, time.monotonic()
    done = 0
    section = section_name(database)

    def write() -> None:
        nonlocal waiting, started
        if len(batch) == 1 and waiting > 2 * BATCH_CHUNKS:
            _put_large(database, lease, batch[0], known.get(batch[0].path), result)
        else:
            with database.write("agent", "documents") as transaction:
                lease.renew(transaction)
                for read in batch:
                    number = _put(transaction, read, known.get(read.path), result)
                    for sql, values in _changes(transaction.rows, number, read.pieces):
                        transaction.execute(sql, values)
        batch.clear()
        waiting, started = 0, time.monotonic()
        progress(done, len(stale))

    progress(0, len(stale))
    for found in stale:
        if cancelled():
            result.remaining = len(stale) - done
            break
        done += 1
        before = known.get(found.place.name)
        if _same(found, before):  # another process was first
            result.unchanged += 1
            continue
        try:
            read = _read(found, before, section)
        except FileNotFoundError:
            if before is None:  # it was deleted meanwhile
                continue
            read = _Read(found.place.name, problem="it went away while it was read")
        if batch and len(read.pieces or ()) > BATCH_CHUNKS:
            write()
        batch.append(read)
        waiting += len(read.pieces or ()) + 1
        if waiting >= BATCH_CHUNKS or time.monotonic() - started > BATCH_SECONDS:
            write()
    if batch:
        write()


def _read(found: OpenedFile, before: _Known | None, section: str) -> _Read:
    """Read a file, without the `section` of this memory, whose facts are searched themselves. Raise
    FileNotFoundError."""
    path = found.place.name
    if found.size > LARGEST_FILE:
        read = _Read(path, found.size, found.modified_ns, f"it is larger than {LARGEST_FILE // 1_000_000} MB")
        read.moment = _moment(path, found.modified_ns, read)
        return read
    try:
        raw, status = read_bytes(found.place)
    except Unreadable as error:
        read = _Read(path, found.size, 0, reason(error))  # tried again each time: permissions change no time
        read.moment = _moment(path, found.modified_ns, read)
        return read
    coarse = status.st_mtime_ns % 1_000_000_000 == 0
    young = time.time_ns() - status.st_mtime_ns < (FRESH_COARSE_NS if coarse else FRESH_NS)
    settled = not young and len(raw) == status.st_size
    read = _Read(path, len(raw), status.st_mtime_ns if settled else 0)
    read.moment = _moment(path, status.st_mtime_ns, read)
    read.digest = sha256(b"%d:" % FORM + raw).digest()
    if before is not None and before.digest == read.digest:
        read.pieces, read.problem = None, before.problem
        return read
    try:
        text, read.problem = decoded(raw)
    except Unreadable as error:
        read.problem = error.message
        return read
    lines = lines_of(redacted(without_section(text, section)))
    read.lines = len(lines)
    read.pieces = [Piece(p.first, p.last, clean(p.heading), clean(p.text)) for p in chunks(lines)]
    return read


def redacted(text: str) -> str:
    """Return the text without its secrets, with unchanged line numbers: a chunk may begin in the middle of a private
    key, where it would not be recognised."""
    from store.redaction.allowlist import allowed
    from store.redaction.redactor import findings  # 3 ms, and usually no file changed

    cuts = [cut for cut in findings(text) if not allowed(cut.label, text[cut.start : cut.end])]
    if not cuts:
        return text
    parts, last = [], 0
    for cut in cuts:
        ends = text.count("\n", cut.start, cut.end)
        parts += [text[last : cut.start], f"[REDACTED:{cut.label}]", "\n" * ends]
        last = cut.end
    return "".join([*parts, text[last:]])


def dated(name: str) -> str:
    """Return the day at the start of a file's name, `2026-02-20.md` or `2026-02-20-topic.md`, as a moment; else an
    empty string."""
    day, rest = name[:10], name[10:11]
    if len(day) < 10 or rest not in (".", "-", "_", " ") or not day.isascii():
        return ""
    from datetime import date

    try:
        return f"{date.fromisoformat(day).isoformat()}T00:00:00.000Z" if day[4] == day[7] == "-" else ""
    except ValueError:
        return ""


def _moment(path: str, modified_ns: int, read: _Read) -> str:
    """Return the date of a document: the day in its name, else when it was changed, and then it is evergreen."""
    day = dated(os.path.basename(path))
    read.evergreen = not day
    return day or from_ms(min(max(modified_ns // 1_000_000, 0), LATEST_MS))


def _put(write: Transaction, read: _Read, before: _Known | None, result: Scan, whole: bool = True) -> int:
    """Write a document's own row, and return its id; not `whole`, so that it is read again if the rest is never
    written."""
    columns: dict[str, Value] = {
        "size": read.size,
        "modified_ns": read.modified_ns if whole else 0,
        "digest": read.digest if whole else b"",
        "problem": read.problem,
    }
    if read.pieces is not None:
        columns["lines"] = read.lines
    moment = read.moment or (before.at if before else write.at)
    if before is None or not before.digest or before.at != moment:  # else the index would rewrite its rows
        columns |= {"at": Verbatim(moment), "evergreen": int(read.evergreen)}
    if before is None:
        result.new += bool(read.digest)
        return write.insert("documents", path=read.path, **columns)
    marks = ", ".join(f"{name} = ?" for name in columns)
    write.execute(f"UPDATE documents SET {marks} WHERE id = ?", (*columns.values(), before.id))
    if read.pieces is None:
        result.unchanged += 1
    elif before.problem and not before.digest:  # it could not be read before
        result.new += bool(read.digest)
    else:
        result.changed += 1
    return before.id


def _put_large(database: Database, lease: Lease, read: _Read, before: _Known | None, result: Scan) -> None:
    """Write one document of many chunks, in several transactions."""
    with database.write("agent", "documents") as write:
        lease.renew(write)
        number = _put(write, read, before, result, whole=False)
    changes = _changes(database.rows, number, read.pieces)
    changes.append(
        (
            "UPDATE documents SET digest = ?, modified_ns = ? WHERE id = ?",
            (read.digest, read.modified_ns, number),
        )
    )
    for start in range(0, len(changes), BATCH_CHUNKS):
        with database.write("agent", "documents") as write:
            lease.renew(write)
            for sql, values in changes[start : start + BATCH_CHUNKS]:
                write.execute(sql, values)


def _changes(
    rows: "Callable[[str, tuple[int]], Iterable[tuple[Any, ...]]]", document: int, pieces: list[Piece] | None
) -> list[tuple[str, tuple[Value, ...]]]:
    """Return the statements that update a document's chunks to these; an unchanged chunk keeps its row."""
    if pieces is None:
        return []
    sql = "SELECT id, first, last, heading, text FROM chunks WHERE document_id = ? ORDER BY first DESC, id DESC"
    kept: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for number, first, last, heading, text in rows(sql, (document,)):
        kept.setdefault((heading, text), []).append((number, first, last))
    moved: list[tuple[str, tuple[Value, ...]]] = []
    fresh: list[tuple[str, tuple[Value, ...]]] = []
    for piece in pieces:
        if same := kept.get((piece.heading, piece.text)):
            number, first, last = same.pop()
            if (first, last) != (piece.first, piece.last):
                moved.append(("UPDATE chunks SET first = ?, last = ? WHERE id = ?", (piece.first, piece.last, number)))
        else:
            fresh.append(
                (
                    "INSERT INTO chunks(document_id, first, last, heading, text) VALUES (?, ?, ?, ?, ?)",
                    (document, piece.first, piece.last, piece.heading, piece.text),
                )
            )
    gone = [number for same in kept.values() for number, _, _ in same]
    return [*(("DELETE FROM chunks WHERE id = ?", (number,)) for number in gone), *moved, *fresh]


def _sweep(
    database: Database,
    lease: Lease,
    known: dict[str, _Known],
    there: dict[str, OpenedFile],
    troubles: dict[str, str],
    result: Scan,
) -> None:
    """Remove deleted documents, and store the problems of the places themselves."""
    gone = [(name, row) for name, row in known.items() if name not in there and name not in troubles]
    while gone:
        some, gone = gone[:20], gone[20:]
        with database.write("agent", "documents") as write:
            lease.renew(write)
            for _, row in some:
                write.execute("DELETE FROM chunks WHERE document_id = ?", (row.id,))
                write.execute("DELETE FROM documents WHERE id = ?", (row.id,))
                result.gone += bool(row.digest)
    noted = {name: why for name, why in troubles.items() if name not in known or known[name].problem != why}
    if noted:
        with database.write("agent", "documents") as write:
            lease.renew(write)
            for name, why in noted.items():
                if name in known:  # it was a document; its text is removed
                    write.execute("DELETE FROM chunks WHERE document_id = ?", (known[name].id,))
                write.execute(
                    "INSERT INTO documents(path, size, modified_ns, digest, at, evergreen, lines, problem)"
                    " VALUES (?, 0, 0, x'', ?, 1, 0, ?) ON CONFLICT(path) DO UPDATE SET"
                    " size = 0, modified_ns = 0, digest = x'', lines = 0, problem = excluded.problem",
                    (name, Verbatim(write.at), why),
                )


def _known(database: Database) -> dict[str, _Known]:
    rows = database.rows("SELECT path, id, size, modified_ns, digest, at, problem FROM documents")
    return {row[0]: _Known(*row[1:]) for row in rows}


def _same(found: OpenedFile, row: _Known | None) -> bool:
    if row is None or found.size != row.size:
        return False
    # what could not be opened is tried again: a new permission changes neither size nor time
    return found.modified_ns == row.modified_ns or (not row.modified_ns and bool(row.problem) and shut(found.place))


def _due(known: dict[str, _Known], there: dict[str, OpenedFile], troubles: dict[str, str]) -> bool:
    """Return whether a document was deleted, or a problem of the places is not stored yet."""
    return any(name not in there and troubles.get(name) != row.problem for name, row in known.items()) or any(
        name not in known for name in troubles
    )


def _problems(database: Database) -> list[tuple[str, str]]:
    return [(path, why) for path, why in database.rows(PROBLEMS)]


PROBLEMS = "SELECT path, problem FROM documents WHERE problem <> '' ORDER BY path"


def _storable(name: str) -> str:
    """Return a name that is not text as text."""
    return name.encode(errors="surrogateescape").decode(errors="replace")
