"""Commands about agents: their server, their activity, and pausing."""

from tui.input.argument_parser import Argument
from tui.input.commands.command import LIMIT, Verb

AGENT_COMMANDS = (
    Verb(
        "mcp",
        "Serve this memory to an agent over standard input and output (MCP); the agent starts it",
        "system.agents.mcp",
        Argument("session", "value", "KEY", "the key of the session that it serves, for search.scopeRules", ""),
        opens="nothing",
    ),
    Verb(
        "agents",
        "What agents did: calls, what they were sent and why, what they proposed",
        "system.agents.agents",
        Argument("agent", "maybe", "AGENT", "one of them, as claude-code; or what it was sent, by its number"),
        LIMIT,
    ),
    Verb(
        "pause",
        "Pause this memory for all agents for an hour: nothing is sent to them or recorded from them",
        "system.agents.pause",
        Argument("minutes", "value", "N", "for how many minutes (60)", 60, whole=True),
        Argument("off", "flag", "", "end the pause"),
        opens="nothing",
    ),
)
