"""Measurements: `python -m bench.NAME` prints a table."""
