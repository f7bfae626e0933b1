"""What an agent is sent: `memory.context("how did the deployment end")`. See `builder`."""

from store.context.builder import Contexts, Tool
from store.context.result import Context

__all__ = ["Context", "Contexts", "Tool"]
