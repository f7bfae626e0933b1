"""Claude Code: seen with 2.1.197 and 2.1.330."""

import os

from store.base.location import checkout_root
from store.doors.clients.client import LOCAL, NAME, PROJECT, SET, USER, Client, ConfigEdit, Health, Place, hook_edits

TOOLS = "Bash|Write|Edit|MultiEdit|NotebookEdit|TodoWrite|TaskCreate|TaskUpdate"
EVENTS = (  # (event, matcher, timeout in seconds)
    ("SessionStart", "", 10),
    ("UserPromptSubmit", "", 5),
    ("PostToolUse", TOOLS, 5),
    ("PreCompact", "", 30),
    ("Stop", "", 10),
    ("SessionEnd", "", 5),  # without a timeout of its own it is killed after 1.5 s
)


def state_file(place: Place) -> str:
    """Return the file in which Claude Code keeps what it knows of projects and, for a person, servers."""
    named = place.environ.get("CLAUDE_CONFIG_DIR", "")
    return os.path.join(os.path.expanduser(named) if named else place.home, ".claude.json")


def folder(place: Place) -> str:
    return place.at_home("CLAUDE_CONFIG_DIR", ".claude")


def edits(place: Place) -> list[ConfigEdit]:
    first, *arguments = place.words("mcp")
    server = {"type": "stdio", "command": first, "args": arguments, "env": {}}
    if place.scope == PROJECT:
        file = os.path.join(place.root, ".claude", "settings.json")
        return [
            ConfigEdit(os.path.join(place.root, ".mcp.json"), SET, ("mcpServers", NAME), server),
            *hook_edits(file, CLAUDE_CODE.name, place, EVENTS),
        ]
    if place.scope == LOCAL:
        key: tuple[str, ...] = ("projects", checkout_root(place.root) or place.root, "mcpServers", NAME)
        file = os.path.join(place.root, ".claude", "settings.local.json")
    else:
        key = ("mcpServers", NAME)
        file = os.path.join(folder(place), "settings.json")
    return [
        ConfigEdit(state_file(place), SET, key, server, alone=True),
        *hook_edits(file, CLAUDE_CODE.name, place, EVENTS),
    ]


CLAUDE_CODE = Client(
    "claude-code",
    "Claude Code",
    "claude",
    edits,
    Health(("mcp", "get", NAME), "Status:", ("Connected",)),
    {
        LOCAL: (),
        PROJECT: ("Each teammate approves .mcp.json once, in `claude`.",),
        USER: (),
    },
)
