"""Salvage: what can be read of a damaged memory, in a new file. The damaged one is only read, byte by byte.

SQLite never opens it: it would write the log into it, and give up on each tree at the first broken page. The pages are
read as they lie (`pages`), records told apart by tree or looks (`shapes`), and what history and tables each have lost
is made again from the other (`mending`).

To be called in a process that has no connection to the damaged file: closing its bytes would drop SQLite's locks.
"""
