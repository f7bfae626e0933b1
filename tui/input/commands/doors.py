"""Commands that connect agents to the memory."""

from tui.input.argument_parser import Argument
from tui.input.commands.command import DRY_RUN, YES, Verb

CONNECTED = ("claude-code", "codex", "gemini", "opencode", "git")
NAMES = "claude-code, codex, gemini, opencode, or git: its hooks"
PROJECT = Argument("project", "flag", "", "for everybody who works on this project: in files that git keeps")
USER = Argument("user", "flag", "", "for you in every project")

DOOR_COMMANDS = (
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
