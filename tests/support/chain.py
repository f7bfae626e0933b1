"""The hash chain of history: each step's digest covers its rows and all earlier steps.

`leaf = sha256(salt ‖ row)`, `rows_root = sha256(leaves)`, `digest = sha256(previous digest ‖ header ‖ rows_root)`."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import groupby

from store.database.change_capture import encode_for_hash
from store.database.database import Database
from store.history import compression

READ_AT_ONCE = 500  # steps
HEADER = "seq, at, actor, door, reason, undoes, changes, rows_root, digest"


def read_all_rows(database: Database) -> Iterator[compression.PackedRow]:
    """Yield every row of history in order, as ROW_COLUMNS, reading some steps at a time."""
    source = compression.every_row_view(database)
    newest = database.value("SELECT max(seq) FROM history") or 0
    for start in range(0, newest, READ_AT_ONCE):
        yield from database.rows(
            f"SELECT {compression.ROW_COLUMNS} FROM {source} WHERE seq > ? AND seq <= ? ORDER BY seq, n",
            (start, start + READ_AT_ONCE),
        )


def broken(database: Database) -> list[int]:
    """Return the steps that do not match their rows' leaves, their root and their digest, oldest first, packed or not.
    Of a purged row the leaf alone is checked. A truncated tail is not detected."""
    found: list[int] = []
    grouped = groupby(read_all_rows(database), key=lambda row: row[compression.SEQ])
    waiting = next(grouped, None)
    previous, expected = b"", 1
    for seq, at, actor, door, reason, undoes, changes, root, digest in database.rows(
        f"SELECT {HEADER} FROM history ORDER BY seq"
    ):
        leaves, count, sound = sha256(b""), 0, seq == expected
        while waiting is not None and waiting[0] < seq:  # rows of a missing step
            sound, waiting = False, next(grouped, None)
        if waiting is not None and waiting[0] == seq:
            for row in waiting[1]:
                salt, leaf = row[compression.SALT], row[compression.LEAF]
                if (
                    salt is not None
                    and leaf != sha256(salt + encode_for_hash(*row[compression.TABLE : compression.SALT])).digest()
                ):
                    sound = False
                leaves.update(leaf)
                count += 1
            waiting = next(grouped, None)
        header = encode_for_hash(seq, at, actor, door, reason, undoes, changes)
        sealed = sha256(previous + header + leaves.digest()).digest()
        if not sound or (root, digest, changes) != (leaves.digest(), sealed, count):
            found.append(seq)
        previous, expected = digest, seq + 1
    return found
