"""Commits of the repository that a memory stands in, read by git itself in a process without its settings.
Records of commits are in `records`."""
