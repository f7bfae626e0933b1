"""Commits of the repository that contains a memory, read by git itself in a process without the repository's settings.
Records of commits are in `records`."""
