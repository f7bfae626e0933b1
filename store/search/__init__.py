"""Search over everything in the memory, by keywords and by meaning."""

from store.search.pipeline import Search
from store.search.results import Answer, Hit

__all__ = ["Answer", "Hit", "Search"]
