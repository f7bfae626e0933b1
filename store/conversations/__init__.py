"""Conversations: the turns that were said (a journal), the sessions they belong to, and their summaries."""

from store.conversations.turns import NewTurn, Turns

__all__ = ["NewTurn", "Turns"]
