"""Commands for conversations, documents, the file, its health and the settings."""

from store.config.settings import SETTINGS
from tui.input.arguments import DRY_RUN_OPTION, LIMIT_OPTION, YES_OPTION, Argument, row

# Commands about agents: connecting them, their server, their activity, and pausing.

CLIENT_CHOICES = ("claude-code", "codex", "gemini", "opencode", "git")
CLIENT_WORDS = "claude-code, codex, gemini, opencode, or git: its hooks"
PROJECT_OPTION = Argument("project", "flag", "", "for everybody who works on this project: in files that git keeps")
USER_OPTION = Argument("user", "flag", "", "for you in every project")

AGENT_COMMANDS = (
    row(
        "mcp",
        "Serve this memory to an agent over standard input and output (MCP); the agent starts it",
        "agents.mcp",
        Argument("session", "value", "KEY", "the key of the session that it serves, for search.scopeRules", ""),
        opens="nothing",
    ),
    row(
        "agents",
        "What agents did: calls, what they were sent and why, what they proposed",
        "agents.agents",
        Argument("agent", "maybe", "AGENT", "one of them, as claude-code; or what it was sent, by its number"),
        LIMIT_OPTION,
        looks=True,
    ),
    row(
        "pause",
        "Pause this memory for all agents for an hour: nothing is sent to them or recorded from them",
        "agents.pause",
        Argument("minutes", "value", "N", "for how many minutes (60)", 60, whole=True),
        Argument("off", "flag", "", "end the pause"),
        opens="nothing",
    ),
    row(
        "connect",
        "Connect an agent with the memory: its server and its hooks; alone, list who is connected",
        "agents.connect",
        Argument("agent", "maybe", "AGENT", CLIENT_WORDS, choices=CLIENT_CHOICES),
        PROJECT_OPTION,
        USER_OPTION,
        DRY_RUN_OPTION,
        YES_OPTION,
        opens="nothing",
    ),
    row(
        "disconnect",
        "Put the files of an agent back as they were before it was connected",
        "agents.disconnect",
        Argument("agent", "one", "AGENT", CLIENT_WORDS, choices=CLIENT_CHOICES),
        PROJECT_OPTION,
        USER_OPTION,
        DRY_RUN_OPTION,
        YES_OPTION,
        opens="nothing",
    ),
    row(
        "uninstall",
        "Take back what Memoranda wrote outside of memories: agents, git hooks, its own state; memories stay",
        "agents.uninstall",
        DRY_RUN_OPTION,
        YES_OPTION,
        opens="nothing",
    ),
    row(
        "plugin",
        "Write a plugin of Claude Code to a folder: the server, the hooks and a skill",
        "agents.plugin",
        Argument("folder", "one", "DIR", "a new folder", file=True),
        opens="nothing",
    ),
    row(
        "hook",
        "What agents and git run at each event; reads it on standard input, and always ends with 0",
        "agents.hook",
        Argument("client", "one", "CLIENT", CLIENT_WORDS, choices=CLIENT_CHOICES),
        Argument("more", "any", "WORDS", "what git hands its hook"),
        opens="nothing",
    ),
)


ALLOW_WORD = "allow"  # instead of a setting: allow the project's settings that reach outside of it
REDACTION_ACTS = (ALLOW_WORD, "cut", "rules")
MODEL_ACTS = ("status", "pull", "test", "try", "calls", "use", "fast", "smart", "off")
SHELLS = ("bash", "zsh", "fish")

FILE_COMMANDS = (
    row(
        "stats",
        "Count what there is, and show the health of the memory",
        "stats.stats",
        Argument(
            "plot",
            "value",
            "FILE",
            "draw growth, recall and age into this SVG file; - prints them",
            file=True,
        ),
        Argument("yes", "flag", "", "replace the file if it is there"),
        reads=True,
        looks=True,
    ),
    row(
        "index",
        "Check the search index, and embed what waits; index documents reads MEMORY.md and memory/**/*.md now",
        "documents.index",
        Argument(
            "what",
            "maybe",
            "documents|rebuild|download",
            "documents: read them now; rebuild: make the index again, from nothing; download: fetch fastembed's model"
            " first",
            choices=("documents", "rebuild", "download"),
        ),
        looks=True,
    ),
    row(
        "doctor",
        "Look for what is wrong with the memory, and say what mends it",
        "location.doctor",
        Argument("quick", "flag", "", "leave out what reads every record"),
        Argument("head", "value", "HEX", "a head that an earlier doctor named: are its steps still there?", ""),
        opens="nothing",
    ),
    row(
        "model",
        "The model that the agent asks: its state, fetch one, try it, its last calls, choose one, and when it is asked",
        "model.model",
        Argument(
            "what",
            "maybe",
            "status|pull|test|try|calls|use|fast|smart|off",
            "calls: the last ones; fast: asked only after an answer; smart: before one too; off: never",
            choices=MODEL_ACTS,
        ),
        Argument(
            "name", "maybe", "NAME", "a model, qwen2.5:3b-instruct; use auto: any that is found; calls 7: that one"
        ),
        opens="nothing",
    ),
    row(
        "salvage",
        "Write what can be read of a damaged memory to a new one; the damaged file stays as it is",
        "location.salvage",
        Argument("file", "one", "FILE", "the damaged memory file", file=True),
        Argument("into", "value", "NEW", "where to (beside it, with -salvaged in its name)", file=True),
        opens="nothing",
        apart=True,
    ),
    row("init", "Start a memory for this folder", "location.init", opens="nothing"),
    row(
        "open",
        "Open the memory of another project; without a place, list those that were open before",
        "location.open_other",
        Argument("place", "maybe", "PLACE", "a project's folder, or a memory file"),
        opens="nothing",
    ),
    row(
        "demo",
        "Open an invented project with a year of memory, to try everything on",
        "location.demo",
        Argument(
            "folder", "maybe", "FOLDER", "make it there, and keep it (a temporary place, for as long as it is open)"
        ),
        Argument("keep", "flag", "", "keep it in the temporary place"),
        opens="nothing",
    ),
    row(
        "serve",
        "Show the application in a web browser on this machine, until ^C",
        "agents.serve",
        Argument("port", "value", "N", "the port (8000, or a free one where that is taken)", whole=True),
        Argument("host", "value", "ADDRESS", "listen on another address of this machine (127.0.0.1)", "127.0.0.1"),
        Argument("yes", "flag", "", "listen on an address that others reach, without asking"),
        opens="nothing",
    ),
    row("where", "Which memory file is used here, and why", "location.where", opens="nothing"),
    row(
        "config",
        "Settings: what they are and where from; with a value, set one",
        "settings.config",
        Argument(
            "name",
            "maybe",
            "NAME",
            "one setting, keys.record.forget for a key, or allow",
            choices=(ALLOW_WORD, *(setting.name for setting in SETTINGS)),
        ),
        Argument("value", "maybe", "VALUE", "what it is to be, in your file"),
        Argument("project", "flag", "", "in the project's file, which wins over yours"),
        Argument("unset", "flag", "", "remove it from the file"),
        Argument("yes", "flag", "", "allow what the project's file sets without asking"),
        opens="nothing",
    ),
    row(
        "completion",
        "Print what makes a shell complete this command: bash, zsh or fish",
        "settings.completion",
        Argument("shell", "one", "SHELL", "bash, zsh or fish", choices=SHELLS),
        opens="nothing",
    ),
    row(
        "man",
        "Print the manual page, as memoranda.1; man memoranda shows it where it is installed",
        "settings.man",
        opens="nothing",
    ),
)
