"""The context sent to an agent: `memory.context("how did the deployment end")`. See `builder`."""
