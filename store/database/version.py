"""Which file is a memory, and which version of the schema this program makes."""

APPLICATION_ID = 0x4D454D4F  # "MEMO"
SCHEMA_VERSION = 11
