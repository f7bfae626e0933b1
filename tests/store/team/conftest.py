"""People with memories of their own, and the remote that they share through."""

from support.team import join, remote

__all__ = ["join", "remote"]
