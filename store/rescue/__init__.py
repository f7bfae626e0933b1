"""Salvage: write what can be read of a damaged memory to a new file. The damaged one is only read, byte by byte.

SQLite never opens it: it would write the log into it, and stop reading each tree at the first broken page. The pages
are read in file order (`pages`), records assigned to tables by tree or form (`table_detection`), and what history and
tables each have lost is restored from the other (`repair_history`).

To be called in a process without a connection to the damaged file: closing its bytes would drop SQLite's locks.
"""
