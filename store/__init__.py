"""The memory itself: one SQLite file, and everything a front door needs. No screen, no terminal."""

__version__ = "0.1.0"
