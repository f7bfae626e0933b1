"""Conversations brought in: transcripts of Claude Code, `role: text` files, JSON lines; each line once, ever."""

from store.ingest.runner import Report, ingest

__all__ = ["Report", "ingest"]
