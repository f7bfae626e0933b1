"""What an agent is sent: `memory.context("how did the deployment end")`. See `builder`."""

from store.context.builder import Context, Contexts, Tool

__all__ = ["Context", "Contexts", "Tool"]
