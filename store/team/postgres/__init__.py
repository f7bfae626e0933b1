"""A copy of a team's shared records in PostgreSQL, for other tools to read. Needs the extra `postgres`."""
