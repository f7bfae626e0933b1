"""The file: connection, private creation, schema, transactions, change capture, leases."""

from store.database.database import Database, Json, Transaction, Value, Verbatim, clean, clean_tree, storable

__all__ = ["Database", "Json", "Transaction", "Value", "Verbatim", "clean", "clean_tree", "storable"]
