"""Edits: change rows of the recorded tables from one state to another, in the write's transaction.

All edits of one form (a table, the operation, the same columns) are one statement over a JSON list: 10,000 of them take
a third of the time of single statements, since FTS5 writes its index after each. SQLite reads numbers from JSON exactly
(tried on 300,000 random doubles). SQLite itself checks the foreign keys; where no order of the statements satisfies
them at every step, at the end.
"""

import json
from collections.abc import Sequence

import apsw

from store.database.database import Transaction
from store.database.schema.tables import RECORDED
from store.database.writing.change_capture import columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    State = dict[str, Any]
    Key = list[Any]
    Edit = tuple[str, Key, State | None, State | None]  # table, key, current state, wanted state (None: no row)

INSERT, UPDATE, DELETE = range(3)  # in the order that keeps references valid


def apply(write: Transaction, edits: "Sequence[Edit]") -> "list[tuple[str, Key]]":
    """Change each row from its first state to its second, all in the write's transaction.

    Where both exist they name only the columns that change. Columns that the table no longer has are skipped, new ones
    keep their defaults. Return the (table, key) of rows that were found in another state, ("", []) if a record refers
    to what would be deleted; after either the transaction must be abandoned.
    """
    connection = write.database.connection
    tables = {table for table, *_ in edits}
    shapes = {table: (primary_key(connection, table), set(columns(connection, table))) for table in tables}
    forms: dict[tuple[int, int, tuple[str, ...]], list[Edit]] = {}
    for edit in edits:
        table, _, now, wanted = edit
        kind = INSERT if now is None else DELETE if wanted is None else UPDATE
        place, known = RECORDED.index(table), shapes[table][1]
        names = tuple([name for name in (wanted if wanted is not None else now or ()) if name in known])
        forms.setdefault((kind, -place if kind == DELETE else place, names), []).append(edit)
    met: list[tuple[str, Key]] = []
    deferred = False
    for (kind, _, names), same in sorted(forms.items()):
        if not names:
            continue
        table = same[0][0]
        keys = shapes[table][0]
        listed = json.dumps([_values(edit, names) for edit in same], ensure_ascii=False, separators=(",", ":"))
        sql = (_insert, _update, _delete)[kind](table, keys, names)
        try:
            turned = {tuple(key) for key in write.put_back(sql, listed)}
        except apsw.ConstraintError as error:
            if deferred or getattr(error, "extendedresult", 0) != apsw.SQLITE_CONSTRAINT_FOREIGNKEY:
                raise
            deferred = True
            write.execute("PRAGMA defer_foreign_keys = 1")  # until this transaction ends
            turned = {tuple(key) for key in write.put_back(sql, listed)}
        if len(turned) < len(same):
            met += [(table, key) for _, key, *_ in same if tuple(key) not in turned]
    if deferred and connection.status(apsw.SQLITE_DBSTATUS_DEFERRED_FKS)[0]:
        met.append(("", []))
    return met


def primary_key(connection: apsw.Connection, table: str) -> list[str]:
    """Return the names of a table's key columns, in the order in which history writes a key. Read from the file's own
    table: the view that shows the past in its place has no key."""
    found = connection.execute("SELECT name FROM pragma_table_info(?, 'main') WHERE pk ORDER BY cid", (table,))
    return [name for (name,) in found]


# the statements, whose one parameter is a JSON list of `_values`, and which return the keys of the rows they changed


def _values(edit: "Edit", names: tuple[str, ...]) -> "list[Any]":
    """Return an edit as the statements read it: its key, the current columns, the wanted columns."""
    _, key, *states = edit
    return [*key, *(state[name] for state in states if state is not None for name in names)]


def _insert(table: str, keys: list[str], names: tuple[str, ...]) -> str:
    values = ", ".join(f"j.value ->> {place}" for place in range(len(keys), len(keys) + len(names)))
    return (
        f"INSERT INTO {table}({', '.join(names)}) SELECT {values} FROM json_each(?) AS j WHERE true"
        f" ON CONFLICT DO NOTHING RETURNING {', '.join(keys)}"
    )


def _update(table: str, keys: list[str], names: tuple[str, ...]) -> str:
    first = len(keys) + len(names)
    sets = ", ".join(f"{name} = j.value ->> {place}" for place, name in enumerate(names, start=first))
    return (
        f"UPDATE {table} AS t SET {sets} FROM json_each(?) AS j WHERE {_as_they_are(keys, names)}"
        f" RETURNING {', '.join(keys)}"
    )


def _delete(table: str, keys: list[str], names: tuple[str, ...]) -> str:
    key = ", ".join(keys)
    return (
        f"DELETE FROM {table} WHERE ({key}) IN (SELECT {', '.join(f't.{name}' for name in keys)}"
        f" FROM json_each(?) AS j CROSS JOIN {table} AS t ON {_as_they_are(keys, names)}) RETURNING {key}"
    )


def _as_they_are(keys: list[str], names: tuple[str, ...]) -> str:
    """Return the condition that row `t` has this key, and still holds the expected values."""
    same = [f"t.{name} = j.value ->> {place}" for place, name in enumerate(keys)]
    same += [f"t.{name} IS j.value ->> {place}" for place, name in enumerate(names, start=len(keys))]
    return " AND ".join(same)
