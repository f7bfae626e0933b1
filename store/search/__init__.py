"""Search over everything in the memory, by keywords and by meaning."""

from store.search.pipeline import Answer, Hit, Search

__all__ = ["Answer", "Hit", "Search"]
