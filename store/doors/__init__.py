"""Where agents come in: the MCP server (`mcp`), hooks, clients' configuration, what is put into their context (`pack`),
what they may do (`trust`), and how a person pauses them (`pause`). Nothing here is imported by the application at its
start, nor by a command that is not of a door. No rule about records: those are with the records."""
