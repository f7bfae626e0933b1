"""Register a memory that a test made by copying files as this installation's own."""

import os
from pathlib import Path

import apsw

from store.base import installation
from store.trust import ownership


def ours(path: str | Path) -> None:
    """Register the file, a copied or changed memory of ours, at its present path."""
    connection = apsw.Connection(os.fspath(path))
    try:
        held = connection.execute("SELECT value FROM meta WHERE key = 'identity'").get
        ownership.remember(connection, os.fspath(path), "" if held else os.urandom(16).hex())
    finally:
        connection.close()
    assert installation.known(os.fspath(path)) is not None
