"""The memory as a document that other programs, and later versions, can read; backups."""
