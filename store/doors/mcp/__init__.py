"""The MCP server: `server` speaks the protocol, and is the only module that imports the SDK; `opening` answers what a
client asks first, before the SDK is there; `reading`, `writing` answer from the memory. Standard output belongs to the
protocol. Nothing here draws, and no tool forgets, purges or accepts.
"""
