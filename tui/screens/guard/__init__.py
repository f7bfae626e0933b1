"""The screen of what changed in the memory files of other tools."""
