"""Conversations: the turns that were said (a journal), the sessions they belong to, and their summaries."""
