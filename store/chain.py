"""The chain of history: each step's digest seals its rows and all steps before it (HISTORY.md).

`leaf = sha256(salt ‖ row)`, `rows_root = sha256(leaves)`, `digest = sha256(previous digest ‖ header ‖ rows_root)`. What
follows from the rows is not stored where they are packed, and is worked out here.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from store import packing
from store.database import Database
from store.database.capture import framed
from store.digest import sha256

HEADER = "seq, at, actor, door, reason, undoes, undone_by, changes, rows_root, digest"


def steps(database: Database) -> Iterator[tuple[Any, ...]]:
    """Every step, as the columns of `history`, with its root and its digest whether they are stored or not."""
    for step, root, digest, _ in _walk(database):
        yield (*step[:8], step[8] or root, step[9] or digest)


def broken(database: Database) -> list[int]:
    """The steps that are not what their digest, their root or their rows' leaves say, oldest first. Of packed steps the
    last one of a block answers for all of them; a tail that was cut off does not show."""
    return [step[0] for step, root, digest, sound in _walk(database) if not sound or (step[9] and step[9] != digest)]


def _walk(database: Database) -> Iterator[tuple[tuple[Any, ...], bytes, bytes, bool]]:
    """(step, its root, its digest, both as worked out; whether its rows are sound), oldest first. After a step that is
    not what its stored digest says the chain goes on from what is stored, so that each break is told once."""
    grouped = groupby(packing.rows(database), key=lambda row: row[packing.SEQ])
    waiting = next(grouped, None)
    previous, expected = b"", 1
    for step in database.rows(f"SELECT {HEADER} FROM history ORDER BY seq"):
        seq, at, actor, door, reason, undoes, _, changes, stored_root, stored = step
        leaves, count, sound = sha256(b""), 0, seq == expected
        while waiting is not None and waiting[0] < seq:
            sound, waiting = False, next(grouped, None)
        if waiting is not None and waiting[0] == seq:
            for row in waiting[1]:
                if row[packing.SALT] is not None:
                    leaf = sha256(row[packing.SALT] + framed(*row[packing.TABLE : packing.SALT])).digest()
                    sound = sound and leaf == row[packing.LEAF]
                leaves.update(row[packing.LEAF])
                count += 1
            waiting = next(grouped, None)
        root = leaves.digest()
        header = framed(seq, at, actor, door, reason, undoes, changes)
        digest = sha256(previous + header + root).digest()
        sound = sound and count == changes and stored_root in (b"", root)
        yield step, root, digest, sound
        previous, expected = stored or digest, seq + 1
