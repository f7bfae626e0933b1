"""Readers of tools that keep memories: facts, decisions, notes."""
