"""Search over everything in the memory. Keywords for now; meaning joins them later through the same call."""

from store.search.keyword import Answer, Hit, Search

__all__ = ["Answer", "Hit", "Search"]
