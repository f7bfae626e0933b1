"""Export: every recorded and journal table as one JSON document, in a fixed order.

The same memory always gives the same bytes: tables in the order of `tables`, rows by primary key, columns as in the
schema, BLOBs in hexadecimal. Each table has a checksum, and the whole has one. `sequence` holds AUTOINCREMENT's
counters, so that an import never assigns an id twice. SQLite itself writes the rows' JSON (see
`database.change_capture`).
"""

import gzip
import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager

import apsw

from store.base.errors import Conflict, StorageError
from store.database.connection import explain
from store.database.database import Database
from store.database.files import sync_folder
from store.database.schema.tables import PACKED
from store.database.schema.version import SCHEMA_VERSION
from store.exchange import noted_exports
from store.exchange.export_schema import FORMAT, TABLES, VERSION, columns_of
from store.history import compression

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

BATCH = 512  # rows that are joined into one piece
LEVEL = 6  # of compression


def document(database: Database) -> "Generator[str, None, None]":
    """Yield the document's text, in pieces of whole lines, from one moment of the memory; read it to its end, or close
    it."""
    with closing(pieces(database)) as parts:
        for piece in parts:
            yield piece.decode()


def pieces(database: Database) -> "Generator[bytes, None, None]":
    """Yield `document`, in UTF-8.

    Read from a copy, so that all tables are of one moment: the consumer may be slow (a pager waits for its reader), and
    a transaction that stays open would let the log grow with every write.
    """
    try:
        with moment(database.connection) as connection:
            yield from _checked(_lines(connection))
    except apsw.Error as error:
        raise explain(error, database.path) from None


@contextmanager
def moment(connection: apsw.Connection) -> "Iterator[apsw.Connection]":
    """Yield a connection to the current content of a database, whatever is written meanwhile.

    It reads a private copy, so that the log of the database can be emptied. Where there is no space for one it is the
    same connection in a read transaction.
    """
    copy = _copy(connection)
    try:
        if copy is None:
            connection.execute("BEGIN")
        yield copy or connection
    finally:
        if copy is not None:
            copy.close()
        elif not connection.get_autocommit():
            connection.execute("ROLLBACK")


def _copy(connection: apsw.Connection) -> apsw.Connection | None:
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


def _checked(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the lines and, after them, the checksum of them all."""
    from hashlib import sha256

    whole = sha256()
    for line in lines:
        whole.update(line)
        yield line
    yield f'"checksum": "{whole.hexdigest()}"\n}}\n'.encode()


def _lines(connection: apsw.Connection) -> Iterator[bytes]:
    from hashlib import sha256

    head = {"format": FORMAT, "version": VERSION, "schema": SCHEMA_VERSION}
    yield json.dumps(head)[:-1].encode() + b',\n"tables": {\n'
    sums = {}
    for table in TABLES:
        yield b'"%b": [\n' % table.encode()
        section = sha256()
        for piece in section_of(connection, table):
            section.update(piece)
            yield piece
        sums[table] = section.hexdigest()
        yield b"]\n" if table == TABLES[-1] else b"],\n"
    counters = dict(connection.execute("SELECT name, seq FROM sqlite_sequence ORDER BY name"))
    sequence = {name: last for name, last in counters.items() if name in TABLES}
    yield f'}},\n"sequence": {json.dumps(sequence)},\n"checksums": {json.dumps(sums)},\n'.encode()


def section_of(connection: apsw.Connection, table: str, schema: str = "main") -> Iterator[bytes]:
    """Yield the rows of a table, each a line of JSON, with the commas between them; in pieces of BATCH rows."""
    rows = rows_of(connection, table, schema)
    between = ""
    while batch := list(_first(rows, BATCH)):
        yield (between + ",\n".join(batch)).encode()
        between = ",\n"
    if between:
        yield b"\n"


def rows_of(connection: apsw.Connection, table: str, schema: str = "main") -> Iterator[str]:
    """Yield the rows of a table as JSON, by primary key; a byte that is not UTF-8 becomes U+FFFD."""
    columns = columns_of(connection, table, schema)
    pairs = ", ".join(f"'{column.name}', {_expression(column.name, column.kind)}" for column in columns)
    keys = ", ".join(column.name for column in sorted(columns, key=lambda column: column.key) if column.key)
    for source, condition in _sources(connection, table, schema):
        rows = connection.execute(
            f"SELECT CAST(json_object({pairs}) AS BLOB) FROM {source} WHERE {condition} ORDER BY {keys}"
        )
        yield from (row.decode("utf-8", "replace") for (row,) in rows)


def _sources(connection: apsw.Connection, table: str, schema: str) -> Iterator[tuple[str, str]]:
    """Yield (what the rows of a table are read from, the condition), in order: packed rows of history are included, so
    many steps at a time."""
    block = PACKED[0]
    known = connection.execute(f"SELECT 1 FROM {schema}.sqlite_schema WHERE name = ?", (block,)).get
    if table != "history_row" or not known or not connection.execute(f"SELECT 1 FROM {schema}.{block} LIMIT 1").get:
        yield f"{schema}.{table}", "true"
        return
    source = compression.every_row_of(connection)
    newest = connection.execute("SELECT max(seq) FROM history").get or 0
    for start in range(0, newest, compression.BLOCK):
        yield source, f"seq > {start} AND seq <= {start + compression.BLOCK}"


def _expression(name: str, kind: str) -> str:
    return f"iif({name} IS NULL, NULL, lower(hex({name})))" if kind == "BLOB" else name


def _first(rows: "Iterator[str]", count: int) -> "Iterable[str]":
    from itertools import islice

    return islice(rows, count)


def save(
    database: Database,
    path: str,
    replace: bool = False,
    compressed: bool = False,
    text: "Callable[[], Generator[str, None, None]] | None" = None,
) -> int:
    """Write the document (or another `text`) to `path`, whole or not at all, and note the path; return its size in
    bytes. Raise Conflict or StorageError.

    Compressed, the same memory gives the same bytes too: the gzip header has no name and no time.
    """

    def write(file: "BinaryIO") -> None:
        parts = text() if text else pieces(database)
        with closing(parts):  # closed here, while the memory is open: its read must end before the memory is closed
            if not compressed:
                _fill(file, parts)
                return
            with gzip.GzipFile("", "wb", LEVEL, file, mtime=0) as packed:
                _fill(packed, parts)

    size = save_file(path, write, replace)
    noted_exports.note(database, path)
    return size


def _fill(file: "BinaryIO | gzip.GzipFile", parts: Iterable[str] | Iterable[bytes]) -> None:
    for piece in parts:
        file.write(piece.encode() if isinstance(piece, str) else piece)


def save_file(path: str, write: "Callable[[BinaryIO], None]", replace: bool = False) -> int:
    """Have `write` fill a private file, and give it its name once it is whole and synced to the disk; return its size
    in bytes. A device, a pipe or a link to one is not replaced. Raise Conflict or StorageError."""
    if os.path.lexists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise Conflict(f"{path} is not a file, and is left as it is.", "Name a file.")
    if not replace and os.path.lexists(path):
        raise Conflict(f"{path} is there already.", "Name another file, or say --yes to replace it.")
    part = f"{path}.{os.urandom(4).hex()}.part"
    try:
        handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            with open(handle, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
            put(part, path, replace)
        except BaseException:
            if os.path.lexists(part):
                os.unlink(part)
            raise
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}.", "Name another file.") from None
    return size


def put(part: str, path: str, replace: bool = False) -> None:
    """Give a finished file its name, and make it survive a power cut. Raise Conflict or OSError."""
    if replace:
        os.replace(part, path)
    else:
        _name(part, path)
    sync_folder(os.path.dirname(path))


def _name(part: str, path: str) -> None:
    """Give the finished file its name, unless another process took it meanwhile."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise Conflict(f"{path} is there already.", "Name another file, or say --yes to replace it.") from None
    except OSError:  # a file system without links
        os.rename(part, path)
    else:
        os.unlink(part)
