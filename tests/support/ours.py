"""Register a memory that was made by copying files as this installation's own."""

import os
from pathlib import Path

import apsw

from store.base import state_files as installation
from store.trust import ownership


def renamed(path: str | Path, now: str) -> None:
    """Make a copy of an empty memory a memory of its own, as if it were created here and `now`."""
    connection = apsw.Connection(os.fspath(path))
    try:
        connection.pragma("synchronous", "off")
        connection.execute("UPDATE meta SET value = ? WHERE key = 'created_at'", (now,))
        ownership.register_ownership(connection, os.fspath(path), os.urandom(16).hex())
    finally:
        connection.close()


def ours(path: str | Path) -> None:
    """Register the file, a copied or changed memory of ours, at its present path."""
    connection = apsw.Connection(os.fspath(path))
    try:
        held = connection.execute("SELECT value FROM meta WHERE key = 'identity'").get
        ownership.register_ownership(connection, os.fspath(path), "" if held else os.urandom(16).hex())
    finally:
        connection.close()
    assert installation.find_known_memory(os.fspath(path)) is not None
