"""Backups: complete copies of the memory beside it, checked before they count, and which of them are kept."""
