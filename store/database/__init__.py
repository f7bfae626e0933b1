"""The file: connection, private creation, schema, transactions, change capture, leases."""

from store.database.database import Database, Json, Value, Verbatim, Write, clean, clean_tree, storable

__all__ = ["Database", "Json", "Value", "Verbatim", "Write", "clean", "clean_tree", "storable"]
