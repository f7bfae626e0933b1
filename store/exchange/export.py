"""Export: every recorded and journal table as one JSON document, in a fixed order.

The same memory always gives the same bytes: tables in the order of `tables`, rows by primary key, columns as in the
schema, BLOBs in hexadecimal. `sequence` carries AUTOINCREMENT's counters, so that an import never gives an id twice.
"""

import json
import os
from collections.abc import Iterator

from store.database import Database
from store.database.capture import columns
from store.database.connection import SCHEMA_VERSION
from store.database.tables import JOURNAL, RECORDED
from store.errors import Conflict, StorageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMAT = "memoranda-export"
VERSION = 1


def document(database: Database) -> Iterator[str]:
    """The document's text, line by line, out of one moment of the memory.

    The read transaction is open while the lines are taken, so that no table is newer than another.
    """
    connection = database.connection
    connection.execute("BEGIN")
    try:
        head = {"format": FORMAT, "version": VERSION, "schema": SCHEMA_VERSION}
        yield json.dumps(head)[:-1] + ',\n"tables": {\n'
        tables = (*RECORDED, *JOURNAL)
        for table in tables:
            yield from _table(database, table, last=table == tables[-1])
        sequence = dict(connection.execute("SELECT name, seq FROM sqlite_sequence ORDER BY name"))
        yield f'}},\n"sequence": {json.dumps(sequence)}\n}}\n'
    finally:
        connection.execute("ROLLBACK")


def _table(database: Database, table: str, last: bool) -> Iterator[str]:
    names = columns(database.connection, table)
    keys = [name for (name,) in database.rows("SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk", (table,))]
    yield f"{json.dumps(table)}: [\n"
    comma = ""
    for row in database.connection.execute(f"SELECT {', '.join(names)} FROM {table} ORDER BY {', '.join(keys)}"):
        record = dict(zip(names, map(_plain, row), strict=True))
        yield comma + json.dumps(record, ensure_ascii=False)
        comma = ",\n"
    yield "\n]\n" if last else "\n],\n"


def _plain(value: "Any") -> "Any":
    return value.hex() if isinstance(value, bytes) else value


def save(database: Database, path: str, replace: bool = False) -> int:
    """Write the document to `path`, private, whole or not at all; its size in bytes. Raises Conflict, StorageError."""
    if not replace and os.path.lexists(path):
        raise Conflict(f"{path} is there already.", "Name another file, or say --yes to replace it.")
    part = f"{path}.{os.getpid()}.part"
    try:
        handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            with open(handle, "w", encoding="utf-8", newline="\n") as file:
                for line in document(database):
                    file.write(line)
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
            os.replace(part, path)
        except BaseException:
            os.unlink(part)
            raise
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}.", "Name another file.") from None
    return size
