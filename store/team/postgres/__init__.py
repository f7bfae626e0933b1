"""A copy of teams' shared records in PostgreSQL: written, and read as one more source. Needs the extra `postgres`."""
