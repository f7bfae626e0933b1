"""Verbs on facts, decisions, tasks, conversations, proposals and the context."""
