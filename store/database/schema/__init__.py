"""The schema: its numbered steps, the check of a file against them, its tables and version. No statement of a part."""
