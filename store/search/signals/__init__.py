"""Signals that rank results: keywords, vectors, spelling, recency, diversity; and whether anything is near the
query."""
