"""The file: connection, private creation, schema, transactions, change capture, leases."""
