"""Conversations: the turns (a journal), the sessions they belong to, and their summaries."""
