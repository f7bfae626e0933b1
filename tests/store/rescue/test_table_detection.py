"""The form of a table, by which records without their tree are told apart."""

import apsw

from store.rescue.pages import table_shape


def test_a_column_that_may_not_be_null_is_required() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL, at TEXT)")
    found = table_shape(connection, "note")
    assert [(one.name, one.required, one.rowid) for one in found.columns] == [
        ("id", True, True), ("text", True, False), ("at", False, False),
    ]  # fmt: skip
    assert found.can_hold([None, "kept", None]) and not found.can_hold([None, None, None])
