"""Rows of the lists, their order and filters."""
