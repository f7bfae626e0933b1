"""What an agent is sent: `memory.context("how did the deployment end")`. See `builder`."""
