"""Rows of the lists, and which of them are shown in which order."""
