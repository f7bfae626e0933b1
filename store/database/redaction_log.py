"""What the write door notes of a secret that was cut: where its marker was written, and the rule.

The door sees texts, not places; SQLite says which rows a statement touched, and the marker says the rest.
"""

from collections.abc import Sequence

import apsw

from store.database.tables import JOURNAL, RECORDED
from store.redaction.redactor import markers

TYPE_CHECKING = False
if TYPE_CHECKING:
    Place = tuple[str, int, str, str]  # table, row, column, rule

# documents are redacted before they are cut into chunks, and read again whenever they change
NOTED = frozenset((*RECORDED, *JOURNAL, "chunks")) - {"history", "history_row"}


def execute(
    connection: apsw.Connection, sql: str, parameters: Sequence[object], places: "dict[Place, int]"
) -> apsw.Cursor:
    """Run a statement that writes markers, and add to `places` how many of each rule stand where."""
    touched: dict[tuple[str, int], None] = {}

    def note(kind: int, database: str, table: str, row: int) -> None:
        if table in NOTED:
            touched[table, row] = None

    connection.set_update_hook(note)
    try:
        cursor = connection.execute(sql, parameters)
    finally:
        connection.set_update_hook(None)
    for table, row in touched:
        found = connection.execute(f"SELECT * FROM {table} WHERE rowid = ?", (row,))
        names = [column[0] for column in found.get_description()]
        for name, value in zip(names, found.fetchone() or (), strict=False):
            if isinstance(value, str):
                for rule, count in markers(value).items():
                    places[table, row, name, rule] = count
    return cursor


def keep(connection: apsw.Connection, places: "dict[Place, int]", at: str, actor: str, door: str) -> None:
    """Write down the places, inside the transaction that made them; a place that is known keeps its first time."""
    if any(table == "chunks" for table, *_ in places):  # a document that changed has new chunks
        connection.execute("DELETE FROM redactions WHERE tbl = 'chunks' AND record NOT IN (SELECT id FROM chunks)")
    connection.executemany(
        "INSERT INTO redactions(at, rule, tbl, record, field, count, actor, door) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(tbl, record, field, rule) DO UPDATE SET count = excluded.count",
        [(at, rule, table, row, field, count, actor, door) for (table, row, field, rule), count in places.items()],
    )
