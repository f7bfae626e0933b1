"""Files of an older version: shown without changing them, and kept as they were before a step of the schema."""
