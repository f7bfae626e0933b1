"""Search over everything in the memory, by keywords and by meaning."""
