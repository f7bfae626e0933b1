"""The form of a table, by which records without their tree are told apart."""

import apsw

from store.salvage.table_detection import shape


def test_a_column_that_may_not_be_null_is_required() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL, at TEXT)")
    found = shape(connection, "note")
    assert [(one.name, one.required, one.rowid) for one in found.columns] == [
        ("id", True, True), ("text", True, False), ("at", False, False),
    ]  # fmt: skip
    assert found.fits([None, "kept", None]) and not found.fits([None, None, None])
