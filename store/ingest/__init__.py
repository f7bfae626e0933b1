"""Conversations brought in: transcripts of Claude Code, `role: text` files, JSON lines; each line once, ever."""
