"""Logs of the search: queries, opened records, durations. None of them changes a result."""
