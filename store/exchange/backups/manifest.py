"""Checksums of a backup's content, so that a later check can detect changes."""

import json
import os
from collections.abc import Iterator

import apsw

from store.base.errors import Conflict
from store.database.database import Database
from store.database.schema.version import APPLICATION_ID, SCHEMA_VERSION
from store.database.values import Verbatim
from store.exchange.export_reader import newer
from store.exchange.export_schema import TABLES, columns_of
from store.exchange.exporter import section_of


def contents(path: str) -> tuple[dict[str, str], str]:
    """Return (each table's checksum, the file's). This process may have no connection to the file."""
    return dict(_tables(path)), digest_of(path)


def digest_of(path: str) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    from hashlib import file_digest

    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def seal(database: Database, path: str) -> None:
    """Store the checksums of a backup's current content: it was rewritten on purpose. Do nothing for one that is not
    listed."""
    sums, digest = contents(path)
    with database.write("agent", "backup") as write:
        write.execute(
            "UPDATE backups SET sums = ?, digest = ?, verified_at = ?, problem = '' WHERE name = ?",
            (Verbatim(json.dumps(sums)), Verbatim(digest), Verbatim(write.at), Verbatim(os.path.basename(path))),
        )


def _tables(path: str) -> Iterator[tuple[str, str]]:
    """Yield (table, its checksum) of a file, with the file's own columns: it may be of an older schema."""
    from hashlib import sha256

    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.pragma("trusted_schema", 0)
        connection.pragma("cell_size_check", 1)
        if connection.pragma("application_id") != APPLICATION_ID:
            raise Conflict("it is a database of another program.")
        if connection.pragma("user_version") > SCHEMA_VERSION:
            raise newer(os.path.basename(path))
        for table in TABLES:
            if columns_of(connection, table):
                found = sha256()
                for piece in section_of(connection, table):
                    found.update(piece)
                yield table, found.hexdigest()
    finally:
        connection.close()
