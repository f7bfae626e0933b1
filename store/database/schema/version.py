"""Identify a memory's file, and the version of the schema that this program makes."""

APPLICATION_ID = 0x4D454D4F  # "MEMO"
SCHEMA_VERSION = 21
