"""History: what a transaction changed, as rows of JSON by column name, chained by digests (HISTORY.md).

The session extension says what changed; names instead of positions keep a step readable after the schema moves on.
`leaf = sha256(salt ‖ row)`, `rows_root = sha256(leaves)`, `digest = sha256(previous digest ‖ header ‖ rows_root)`:
a purge drops text and salt, keeps the leaf, and the chain still verifies.

SQLite itself writes the JSON: its numbers read back exactly (tried on 300,000 random doubles), and a command that
remembers one fact need not import `json` and `re` for it.
"""

import os

import apsw

from store.digest import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SALT_BYTES = 16


class Header:
    """Who changed the memory, when, through which door and why."""

    __slots__ = ("actor", "at", "door", "reason", "undoes")

    def __init__(self, at: str, actor: str, door: str, reason: str, undoes: int | None) -> None:
        self.at = at
        self.actor = actor
        self.door = door
        self.reason = reason
        self.undoes = undoes


def columns(connection: apsw.Connection, table: str) -> list[str]:
    """A table's column names, in their order."""
    return [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def append(connection: apsw.Connection, changeset: bytes, header: Header) -> int:
    """Write a changeset into history, inside the transaction that made it; returns its step's number."""
    last = connection.execute("SELECT seq, digest FROM history ORDER BY seq DESC LIMIT 1").get
    previous_seq, previous_digest = last or (0, b"")
    seq: int = previous_seq + 1
    names: dict[str, list[str]] = {}
    rows = []
    leaves = sha256()
    for n, change in enumerate(apsw.Changeset.iter(changeset)):
        if change.name not in names:
            names[change.name] = columns(connection, change.name)
        row = _row(connection, change, names[change.name])
        salt = os.urandom(SALT_BYTES)
        leaf = sha256(salt + framed(*row)).digest()
        leaves.update(leaf)
        rows.append((seq, n, *row, salt, leaf))
    root = leaves.digest()
    head = (seq, header.at, header.actor, header.door, header.reason, header.undoes, len(rows))
    digest = sha256(previous_digest + framed(*head) + root).digest()
    connection.execute(
        "INSERT INTO history(seq, at, actor, door, reason, undoes, changes, rows_root, digest)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*head, root, digest),
    )
    connection.executemany(
        "INSERT INTO main.history_row(seq, n, tbl, pk, op, indirect, before, after, salt, leaf)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )
    if header.undoes is not None:
        _take_back(connection, header.undoes, seq)
    return seq


def framed(*values: str | int | None) -> bytes:
    """Values as bytes that no other values give: each as its length, a colon and its text; `-` for none."""
    frames = []
    for value in values:
        if value is None:
            frames.append(b"-")
        else:
            raw = str(value).encode()
            frames.append(b"%d:%b" % (len(raw), raw))
    return b"".join(frames)


def _take_back(connection: apsw.Connection, target: int, by: int) -> None:
    """Mark step `target` as taken back. If it was an undo itself, what it had undone is in force again, and so on."""
    mark: int | None = by
    step: int | None = target
    while step is not None:
        connection.execute("UPDATE history SET undone_by = ? WHERE seq = ?", (mark, step))
        mark = None if mark is not None else step
        step = connection.execute("SELECT undoes FROM history WHERE seq = ?", (step,)).get


def _row(
    connection: apsw.Connection, change: "Any", names: list[str]
) -> tuple[str, str, str, int, str | None, str | None]:
    """(table, key, op, indirect, before, after) of one change."""
    keys = sorted(change.pk_columns)
    stated = change.old or change.new
    key = connection.execute(f"SELECT json_array({_marks(len(keys))})", tuple(stated[i] for i in keys)).get
    left_out = keys if change.op == "UPDATE" else []
    before = _object(connection, names, change.old, left_out)
    return change.name, key, change.op, int(change.indirect), before, _object(connection, names, change.new, left_out)


def _object(connection: apsw.Connection, names: list[str], values: "Any", left_out: list[int]) -> str | None:
    """The columns that a change states, as a JSON object by name; None if the row was not there."""
    if values is None:
        return None
    pairs: list[object] = []
    for index, name in enumerate(names):
        if values[index] is not apsw.no_change and index not in left_out:
            pairs += (name, values[index])
    text: str = connection.execute(f"SELECT json_object({_marks(len(pairs))})", pairs).get
    return text


def _marks(count: int) -> str:
    return ", ".join("?" * count)
