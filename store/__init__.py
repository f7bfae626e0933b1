"""The memory: one SQLite file, and what reads and writes it. No screen, no terminal."""

__version__ = "0.1.0"
__memoranda__ = True  # `tui.main` makes sure by this that it found the right `store`
