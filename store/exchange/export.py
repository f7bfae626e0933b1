"""Export: every recorded and journal table as one JSON document, in a fixed order.

The same memory always gives the same bytes: tables in the order of `tables`, rows by primary key, columns as in the
schema, BLOBs in hexadecimal. `sequence` carries AUTOINCREMENT's counters, so that an import never gives an id twice.
"""

import json
import os
from collections.abc import Iterator

from store import packing
from store.database import Database
from store.database.capture import columns
from store.database.connection import SCHEMA_VERSION
from store.database.tables import JOURNAL, PACKED, RECORDED
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
        counters = connection.execute("SELECT name, seq FROM sqlite_sequence ORDER BY name")
        sequence = {name: seq for name, seq in counters if name not in PACKED}
        yield f'}},\n"sequence": {json.dumps(sequence)}\n}}\n'
    finally:
        connection.execute("ROLLBACK")


def _table(database: Database, table: str, last: bool) -> Iterator[str]:
    names = columns(database.connection, table)
    keys = [name for (name,) in database.rows("SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk", (table,))]
    yield f"{json.dumps(table)}: [\n"
    comma = ""
    for row in _rows(database, table, names, keys):
        record = dict(zip(names, map(_plain, row), strict=True))
        yield comma + json.dumps(record, ensure_ascii=False)
        comma = ",\n"
    yield "\n]\n" if last else "\n],\n"


def _rows(database: Database, table: str, names: list[str], keys: list[str]) -> "Iterator[tuple[Any, ...]]":
    """A table's rows by their key; those of history as they would stand if nothing were packed."""
    if table == "history_row":
        return packing.rows(database)
    return iter(database.connection.execute(f"SELECT {', '.join(names)} FROM {table} ORDER BY {', '.join(keys)}"))


def _plain(value: "Any") -> "Any":
    return value.hex() if isinstance(value, bytes) else value


def save(database: Database, path: str, replace: bool = False) -> int:
    """Write the document to `path`, private, whole or not at all; its size in bytes. Raises Conflict, StorageError."""
    if not replace and os.path.lexists(path):
        raise Conflict(f"{path} is there already.", "Name another file, or say --yes to replace it.")
    part = f"{path}.{os.urandom(4).hex()}.part"
    try:
        handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            with open(handle, "w", encoding="utf-8", newline="\n") as file:
                for line in document(database):
                    file.write(line)
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
            if replace:
                os.replace(part, path)
            else:
                _name(part, path)
            _sync(os.path.dirname(path))
        except BaseException:
            if os.path.lexists(part):
                os.unlink(part)
            raise
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}.", "Name another file.") from None
    return size


def _name(part: str, path: str) -> None:
    """Give the finished file its name, unless somebody took it in the meantime."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise Conflict(f"{path} is there already.", "Name another file, or say --yes to replace it.") from None
    except OSError:  # a file system without links
        os.rename(part, path)
    else:
        os.unlink(part)


def _sync(folder: str) -> None:
    """Make the new name survive a power cut, where folders can be synchronised."""
    try:
        handle = os.open(folder or ".", os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass  # some file systems refuse it for folders; the file itself is safe
    finally:
        os.close(handle)
