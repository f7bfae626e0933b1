"""Verbs on history: undo, restore, checkpoints, views of the past."""
