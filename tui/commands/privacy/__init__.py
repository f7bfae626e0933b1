"""Verbs that erase: purge and secrets."""
