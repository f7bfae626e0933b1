"""History: what a transaction changed, as rows of JSON by column name, chained by digests (HISTORY.md).

The session extension says what changed; names instead of positions keep a step readable after the schema moves on.
`leaf = sha256(salt ‖ row)`, `rows_root = sha256(leaves)`, `digest = sha256(previous digest ‖ header ‖ rows_root)`:
a purge drops text and salt, keeps the leaf, and the chain still verifies.
"""

import hashlib
import json
import os

import apsw

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
    leaves = hashlib.sha256()
    for n, change in enumerate(apsw.Changeset.iter(changeset)):
        if change.name not in names:
            names[change.name] = columns(connection, change.name)
        row = _row(change, names[change.name])
        salt = os.urandom(SALT_BYTES)
        leaf = hashlib.sha256(salt + row_text(*row)).digest()
        leaves.update(leaf)
        rows.append((seq, n, *row, salt, leaf))
    root = leaves.digest()
    head = (seq, header.at, header.actor, header.door, header.reason, header.undoes, len(rows))
    digest = hashlib.sha256(previous_digest + header_text(*head) + root).digest()
    connection.execute(
        "INSERT INTO history(seq, at, actor, door, reason, undoes, changes, rows_root, digest)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*head, root, digest),
    )
    connection.executemany(
        "INSERT INTO history_row(seq, n, tbl, pk, op, indirect, before, after, salt, leaf)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )
    if header.undoes is not None:
        _take_back(connection, header.undoes, seq)
    return seq


def _take_back(connection: apsw.Connection, target: int, by: int) -> None:
    """Mark step `target` as taken back. If it was an undo itself, what it had undone is in force again, and so on."""
    mark: int | None = by
    step: int | None = target
    while step is not None:
        connection.execute("UPDATE history SET undone_by = ? WHERE seq = ?", (mark, step))
        mark = None if mark is not None else step
        step = connection.execute("SELECT undoes FROM history WHERE seq = ?", (step,)).get


def row_text(table: str, key: str, op: str, indirect: int, before: str | None, after: str | None) -> bytes:
    """The bytes of a history row that its leaf is taken over."""
    return json.dumps([table, key, op, indirect, before, after], ensure_ascii=False).encode()


def header_text(seq: int, at: str, actor: str, door: str, reason: str, undoes: int | None, changes: int) -> bytes:
    """The bytes of a history header that the chain is taken over."""
    return json.dumps([seq, at, actor, door, reason, undoes, changes], ensure_ascii=False).encode()


def _row(change: "Any", names: list[str]) -> tuple[str, str, str, int, str | None, str | None]:
    old: tuple[Any, ...] = change.old or (apsw.no_change,) * len(names)
    new: tuple[Any, ...] = change.new or (apsw.no_change,) * len(names)
    keys = change.pk_columns
    key = [old[i] if old[i] is not apsw.no_change else new[i] for i in sorted(keys)]
    update = change.op == "UPDATE"
    before = {
        name: old[i] for i, name in enumerate(names) if old[i] is not apsw.no_change and not (update and i in keys)
    }
    after = {name: new[i] for i, name in enumerate(names) if new[i] is not apsw.no_change}
    return (
        change.name,
        _json(key),
        change.op,
        int(change.indirect),
        _json(before) if change.old else None,
        _json(after) if change.new else None,
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
