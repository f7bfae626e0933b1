"""Record each secret that was cut while writing: where its marker was written, and the rule.

The redaction sees texts, not places; SQLite reports which rows a statement changed, and the marker names the rule.
"""

from collections.abc import Sequence

import apsw

from store.database.schema.tables import JOURNAL, RECORDED
from store.redaction.redactor import markers

TYPE_CHECKING = False
if TYPE_CHECKING:
    Place = tuple[str, int, str, str]  # table, row, column, rule

# documents are redacted before they are split into chunks, and read again when they change
NOTED = frozenset((*RECORDED, *JOURNAL, "chunks")) - {"history", "history_row"}


def execute(
    connection: apsw.Connection, sql: str, parameters: Sequence[object], places: "dict[Place, int]"
) -> apsw.Cursor:
    """Run a statement that writes markers, and add to `places` the number of markers of each rule in each place."""
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
    """Store the places, inside the transaction that made them; a known place keeps its first time."""
    if any(table == "chunks" for table, *_ in places):  # a document that changed has new chunks
        connection.execute("DELETE FROM redactions WHERE tbl = 'chunks' AND record NOT IN (SELECT id FROM chunks)")
    connection.executemany(
        "INSERT INTO redactions(at, rule, tbl, record, field, count, actor, door) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(tbl, record, field, rule) DO UPDATE SET count = excluded.count",
        [(at, rule, table, row, field, count, actor, door) for (table, row, field, rule), count in places.items()],
    )
