"""The file: connection, private creation, schema, the one write door, history capture, leases."""

from store.database.database import Database, Json, Value, Verbatim, Write, clean, clean_tree, storable

__all__ = ["Database", "Json", "Value", "Verbatim", "Write", "clean", "clean_tree", "storable"]
