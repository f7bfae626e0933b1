"""Dates and times as people type them. Clocks are in `store/base`."""
