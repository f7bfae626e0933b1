"""By what lists and searches can be narrowed."""
