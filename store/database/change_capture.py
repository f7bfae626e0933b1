"""History: record what a transaction changed, as rows of JSON by column name, chained by digests.

The session extension reports the changes; names instead of positions keep a step readable after the schema changes.
`leaf = sha256(salt ‖ row)`, `rows_root = sha256(leaves)`, `digest = sha256(previous digest ‖ header ‖ rows_root)`: a
purge drops text and salt, keeps the leaf, and the chain still verifies.

SQLite itself writes the JSON: its numbers read back exactly (tried on 300,000 random doubles), and a command that
remembers one fact need not import `json` and `re` for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import apsw

from store.database.values import repair_changeset

# table, key, op, indirect, before, after
Row = tuple[str, str, str, int, str | None, str | None]

ROW_SALT_BYTES = 16
# replaces a purged text
PURGED_MARK = "[purged]"
# the columns of a record that hold its words, and what a purge writes in their place
PURGED_VALUES = {
    "facts": {"fact": PURGED_MARK, "text_hash": "", "evidence": "[]", "tags": "[]"},
    "decisions": {
        "title": PURGED_MARK,
        "context": "",
        "chosen": PURGED_MARK,
        "alternatives": "[]",
        "rationale": "",
        "phase": "",
        "evidence": "[]",
        "tags": "[]",
    },
    "tasks": {"text": PURGED_MARK, "tags": "[]"},
    "proposals": {
        "text": PURGED_MARK,
        "asked": "",
        "based_on": "",
        "change": "{}",
        "evidence": "[]",
        "reason": "",
    },
}


@dataclass(slots=True, eq=False, repr=False)
class StepHeader:
    """Who changed the memory, when, through which door and why."""

    at: str
    actor: str
    door: str
    reason: str
    undoes: int | None


def list_table_columns(connection: apsw.Connection, table: str) -> list[str]:
    """Return a table's column names, in order."""
    return [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def read_newest_step(connection: apsw.Connection) -> tuple[int, bytes]:
    """Return the number and the digest of the newest step of history; 0 without one."""
    last: Any = connection.execute("SELECT seq, digest FROM history ORDER BY seq DESC LIMIT 1").get
    return last or (0, b"")


def append_step(
    connection: apsw.Connection,
    changeset: bytes,
    header: StepHeader,
    purged: Collection[tuple[str, str]] = (),
    known: dict[tuple[int, str], list[str]] | None = None,
) -> int:
    """Write a changeset into history, inside the transaction that made it; return the number of the step. No text
    is written of the records in `purged`, by table and key. `known` keeps the columns between calls, by version
    of the schema and table."""
    previous_seq, previous_digest = read_newest_step(connection)
    seq: int = previous_seq + 1
    try:
        rows, root = _history_rows(connection, changeset, seq, purged, {} if known is None else known)
    except UnicodeDecodeError:
        rows, root = _history_rows(connection, repair_changeset(changeset), seq, purged, {})
    head = (seq, header.at, header.actor, header.door, header.reason, header.undoes, len(rows))
    digest = sha256(previous_digest + encode_for_hash(*head) + root).digest()
    connection.execute(
        "INSERT INTO history(seq, at, actor, door, reason, undoes, changes, rows_root, digest)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*head, root, digest),
    )
    connection.executemany(
        "INSERT INTO main.history_row(seq, n, tbl, pk, op, indirect, before, after, salt, leaf, purged)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )
    if header.undoes is not None:
        _mark_undone(connection, header.undoes, seq)
    return seq


def _history_rows(
    connection: apsw.Connection,
    changeset: bytes,
    seq: int,
    purged: Collection[tuple[str, str]],
    names: dict[tuple[int, str], list[str]],
) -> tuple[list[tuple[Any, ...]], bytes]:
    """Return the rows of `history_row` for a changeset, and the digest of their leaves."""
    version = connection.execute("PRAGMA schema_version").get
    rows = []
    leaves = sha256()
    for n, change in enumerate(apsw.Changeset.iter(changeset)):
        table = (version, change.name)
        if table not in names:
            names[table] = list_table_columns(connection, change.name)
        row = _history_row(connection, change, names[table])
        gone = row[:2] in purged
        if gone:
            row = _mask_row(connection, row)
        salt = os.urandom(ROW_SALT_BYTES)
        leaf = sha256(salt + encode_for_hash(*row)).digest()
        leaves.update(leaf)
        rows.append((seq, n, *row, None if gone else salt, leaf, int(gone)))
    return rows, leaves.digest()


def mask_texts_sql(table: str, column: str) -> str:
    """Return SQL for a row's JSON without its texts; each column is kept, empty."""
    pairs = ", ".join(f"'$.{name}', '{instead}'" for name, instead in PURGED_VALUES.get(table, {}).items())
    return f"json_replace({column}, {pairs})" if pairs else column


def encode_for_hash(*values: str | int | None) -> bytes:
    """Encode values so that different values never give equal bytes: length, colon, text; `-` for none."""
    frames = []
    for value in values:
        if value is None:
            frames.append(b"-")
        else:
            raw = str(value).encode()
            frames.append(b"%d:%b" % (len(raw), raw))
    return b"".join(frames)


def _mark_undone(connection: apsw.Connection, target: int, by: int) -> None:
    """Mark step `target` as undone. If it was an undo itself, what it had undone is in force again, and so on."""
    mark: int | None = by
    step: int | None = target
    while step is not None:
        connection.execute("UPDATE history SET undone_by = ? WHERE seq = ?", (mark, step))
        mark = None if mark is not None else step
        step = connection.execute("SELECT undoes FROM history WHERE seq = ?", (step,)).get


def find_undone_steps(connection: apsw.Connection, last: int = sys.maxsize) -> dict[int, int]:
    """Return the steps that are undone, and by which: computed from the step that each undo undid up to the `last`, the
    oldest undo first. An undo that is undone itself restores what it undid."""
    sql = "SELECT seq, undoes FROM history WHERE undoes IS NOT NULL AND seq <= ? ORDER BY seq"
    undoes: dict[int, int] = dict(connection.execute(sql, (last,)))
    found: dict[int, int] = {}
    for seq, target in undoes.items():
        mark: int | None = seq
        step: int | None = target
        while step is not None:
            if mark is None:
                found.pop(step, None)
            else:
                found[step] = mark
            mark = None if mark is not None else step
            step = undoes.get(step)
    return found


def _history_row(connection: apsw.Connection, change: Any, names: list[str]) -> Row:
    """Return (table, key, op, indirect, before, after) of a change."""
    keys = sorted(change.pk_columns)
    stated = change.old or change.new
    left_out = keys if change.op == "UPDATE" else []
    before, after = (
        _name_value_pairs(names, change.old, left_out),
        _name_value_pairs(names, change.new, left_out),
    )
    key, old, new = connection.execute(
        f"SELECT json_array({_question_marks(len(keys))}), {_json_object_sql(before)}, {_json_object_sql(after)}",
        (*(stated[i] for i in keys), *(before or ()), *(after or ())),
    ).get
    return change.name, key, change.op, int(change.indirect), old, new


def _mask_row(connection: apsw.Connection, row: Row) -> Row:
    """Return a row of history without the texts of its record."""
    table, key, op, indirect, before, after = row
    return table, key, op, indirect, *connection.execute(
        f"SELECT {mask_texts_sql(table, '?1')}, {mask_texts_sql(table, '?2')}", (before, after)
    ).get  # fmt: skip


def _name_value_pairs(names: list[str], values: Any, left_out: list[int]) -> list[object] | None:
    """Return the columns that a change contains, name and value in turn; None if the row was not there."""
    if values is None:
        return None
    pairs: list[object] = []
    for index, name in enumerate(names):
        if values[index] is not apsw.no_change and index not in left_out:
            pairs += (name, values[index])
    return pairs


def _json_object_sql(pairs: list[object] | None) -> str:
    """Return SQL for pairs as a JSON object by name."""
    return "NULL" if pairs is None else f"json_object({_question_marks(len(pairs))})"


def _question_marks(count: int) -> str:
    """Return so many question marks, separated by commas."""
    return ", ".join("?" * count)
