"""Verbs on files: documents, index, export and import, location, demo."""
