"""Check an export: its checksums, and that all of it is there after a restore into a scratch store."""

import json
import os

from store.base.errors import BrokenDocument, StorageError
from store.database.database import Database
from store.exchange.export_reader import open_source
from store.exchange.exporter import rows_of
from store.exchange.importer import Import
from store.exchange.scratch_dir import Scratch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def problem(path: str, place: str) -> str:
    """Return what is wrong with the export at `path`, empty if nothing is; checked in a scratch store beside `place`.
    Raise NewerFile, UnsafeFile or StorageError."""
    name = os.path.basename(path)
    try:
        with Scratch(place) as scratch:
            database = Database(os.path.join(scratch, "memory.db"), "worker")
            try:
                return _problem(database, path)
            finally:
                database.close()
    except BrokenDocument as error:
        return error.message.removeprefix(f"{name} cannot be imported: ").rstrip(".")
    except OSError as error:
        raise StorageError(f"{path} cannot be looked at: {error.strerror}.", "Free some space beside it.") from None


def _problem(database: Database, path: str) -> str:
    with Import(database, path) as coming:
        if coming.torn:
            return f"its history does not hold together ({coming.torn})"
        if coming.redacted:
            return "it holds what looks like a secret, which an import cuts"
        coming.apply()
    for table, rows in open_source(path).sections():
        there = rows_of(database.connection, table)
        for number, pairs in rows:
            text = next(there, None)
            if text is None or not _same(dict(pairs), json.loads(text)):
                return f"{table}, row {number}, comes back as another"
        if next(there, None) is not None:
            return f"more of {table} comes back than there is in it"
    return ""


def _same(row: "dict[str, Any]", back: "dict[str, Any]") -> bool:
    """Return whether a row was restored; columns that an older export lacks are not compared."""
    return all(name in back and back[name] == value for name, value in row.items())
