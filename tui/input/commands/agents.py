"""Commands about agents: connecting them, their server, their activity, and pausing."""

from tui.input.argument_parser import Argument
from tui.input.commands.command import DRY_RUN, LIMIT, YES, Verb

CONNECTED = ("claude-code", "codex", "gemini", "opencode", "git")
NAMES = "claude-code, codex, gemini, opencode, or git: its hooks"
PROJECT = Argument("project", "flag", "", "for everybody who works on this project: in files that git keeps")
USER = Argument("user", "flag", "", "for you in every project")

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
        looks=True,
    ),
    Verb(
        "pause",
        "Pause this memory for all agents for an hour: nothing is sent to them or recorded from them",
        "system.agents.pause",
        Argument("minutes", "value", "N", "for how many minutes (60)", 60, whole=True),
        Argument("off", "flag", "", "end the pause"),
        opens="nothing",
    ),
    Verb(
        "connect",
        "Connect an agent with the memory: its server and its hooks; alone, list who is connected",
        "system.doors.connect",
        Argument("agent", "maybe", "AGENT", NAMES, choices=CONNECTED),
        PROJECT,
        USER,
        DRY_RUN,
        YES,
        opens="nothing",
    ),
    Verb(
        "disconnect",
        "Put the files of an agent back as they were before it was connected",
        "system.doors.disconnect",
        Argument("agent", "one", "AGENT", NAMES, choices=CONNECTED),
        PROJECT,
        USER,
        DRY_RUN,
        YES,
        opens="nothing",
    ),
    Verb(
        "uninstall",
        "Take back what Memoranda wrote outside of memories: agents, git hooks, its own state; memories stay",
        "system.uninstall.uninstall",
        DRY_RUN,
        YES,
        opens="nothing",
    ),
    Verb(
        "plugin",
        "Write a plugin of Claude Code to a folder: the server, the hooks and a skill",
        "system.doors.plugin",
        Argument("folder", "one", "DIR", "a new folder", file=True),
        opens="nothing",
    ),
    Verb(
        "hook",
        "What agents and git run at each event; reads it on standard input, and always ends with 0",
        "system.doors.hook",
        Argument("client", "one", "CLIENT", NAMES, choices=CONNECTED),
        Argument("more", "any", "WORDS", "what git hands its hook"),
        opens="nothing",
    ),
)
