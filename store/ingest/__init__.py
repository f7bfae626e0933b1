"""Importing conversations: transcripts of Claude Code, `role: text` files, JSON lines; each line only once."""
