"""What a client is: its program, the files of its configuration for each scope, and the changes that connect it."""

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from store.base.errors import InvalidInput, StorageError
from store.base.location import checkout_root
from store.doors import memoranda_hook
from store.doors.hook_events import CLIENT_TABLE
from store.version import __version__

# of our server, our hooks and our plugin in every client
CONNECTION_NAME = "memoranda"
SCOPE_LOCAL, SCOPE_PROJECT, SCOPE_USER = "local", "project", "user"
CONNECTION_SCOPES = (SCOPE_LOCAL, SCOPE_PROJECT, SCOPE_USER)

PASSED_VARIABLES = ("MEMORANDA_DB", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
HOOK_FILE = "memoranda_hook.py"
EDIT_SET, EDIT_APPEND, EDIT_WHOLE, EDIT_LINE = "set", "append", "whole", "line"


class ClientPlace(NamedTuple):
    """Where a client is connected: `scope`; `root`, the project's folder; the person's `home` and variables; the
    `command` that starts us, in words, and `hook`, the Python and the file that it runs at each event (see
    `hook_program`): empty where a client was connected before there was one, or where the file is shared."""

    scope: str
    root: str
    home: str
    environ: Mapping[str, str]
    command: tuple[str, ...]
    hook: tuple[str, ...] = ()

    def config_folder(self, variable: str, *steps: str) -> str:
        """Return a folder that a variable names, else one below the home."""
        named = self.environ.get(variable, "")
        return os.path.expanduser(named) if named else os.path.join(self.home, *steps)

    def command_words(self, *more: str) -> list[str]:
        """Return a command of ours, word by word."""
        return [*self.command, *more]

    def variables(self) -> dict[str, str]:
        """Return the variables that say where our files are, as far as the person has set them. A client that passes
        only some of its variables to a server must be given these, else the memory is not recognised as the
        person's."""
        if self.scope == SCOPE_PROJECT:
            return {}
        return {name: value for name in PASSED_VARIABLES if (value := self.environ.get(name, ""))}

    def hook_words(self, client: str) -> list[str]:
        """Return the command that a client runs at each event. In a file that is shared it holds no path."""
        if self.scope == SCOPE_PROJECT or not self.hook:
            return self.command_words("hook", client)
        python, file = self.hook
        return [python, "-IS", file, client, *self.command[1:]]

    def hook_line(self, client: str) -> str:
        """Return the same as a line for a shell, that does nothing where we are not installed: an agent would take the
        failure of a Python that does not find its file for a wish to stop."""
        command = shlex.join(self.hook_words(client))
        if self.scope == SCOPE_PROJECT:
            return f"if command -v {shlex.quote(self.command[0])} >/dev/null 2>&1; then {command}; fi"
        return f"test ! -f {shlex.quote(self.hook[1])} || exec {command}" if self.hook else command


class ConfigEdit(NamedTuple):
    """One change of one file. `form`: `set` the value at `path` (JSON, or TOML by its name), `append` an element to the
    array there, `whole`: the file is ours, `line`: one line more. `alone`: the client writes the file all the time, so
    nothing of it is kept but what stood at the path."""

    file: str
    form: str
    path: tuple[str, ...] = ()
    value: object = None
    alone: bool = False


class HealthCheck(NamedTuple):
    """How a client's own command says that it sees our server: the `words` after its program, a text that the line
    about us contains (`line`), and texts of which that line has one if all is well (`good`)."""

    words: Sequence[str]
    line: str
    good: Sequence[str]


class AgentClient(NamedTuple):
    """One client. `edits` are the changes that connect it in a place, `steps` what is left to the person there;
    `events` for which our hook is registered (event, matcher, timeout as the client counts it), `installs` what the
    client itself puts into a folder of its configuration that it finds."""

    name: str
    title: str
    program: str
    edits: Callable[[ClientPlace], list[ConfigEdit]]
    health: HealthCheck
    steps: Mapping[str, Sequence[str]]
    events: Sequence[tuple[str, str, int]]
    installs: Sequence[str]


def make_hook_edits(file: str, client: str, place: ClientPlace, named: bool = False) -> list[ConfigEdit]:
    """Return the changes that register our hooks, the same form in three clients."""
    name = {"name": CONNECTION_NAME} if named else {}
    return [
        ConfigEdit(
            file, EDIT_APPEND, ("hooks", event), _hook_entry(place.hook_line(client), matcher, timeout, **name)
        )
        for event, matcher, timeout in CLIENTS[client].events
    ]


def _hook_entry(command: str, matcher: str, timeout: int, **more: str) -> dict[str, object]:
    """Return the entry of an array of hooks that runs one command."""
    hook = {**more, "type": "command", "command": command, "timeout": timeout}
    return {**({"matcher": matcher} if matcher else {}), "hooks": [hook]}


def is_our_hook(entry: object, client: str) -> bool:
    """Return whether an element of an array of hooks runs us, and nothing else."""
    if not isinstance(entry, dict) or not isinstance(hooks := entry.get("hooks"), list) or len(hooks) != 1:
        return False
    command = hooks[0].get("command") if isinstance(hooks[0], dict) else None
    return isinstance(command, str) and runs_hook(command, client)


def runs_hook(command: str, client: str) -> bool:
    """Return whether a command line runs our hook for a client, by its file or as `memoranda hook`."""
    if CONNECTION_NAME not in command:
        return False
    return f" hook {client}" in command or re.search(rf"/{HOOK_FILE}['\"]? {client}\b", command) is not None


def hook_program() -> tuple[str, ...]:
    """Return the Python and the file of this installation that answer a hook; empty where Python does not know its own
    path."""
    return (sys.executable, os.path.abspath(memoranda_hook.__file__)) if sys.executable else ()


# Claude Code: seen with 2.1.197 and 2.1.330. A SessionEnd without a timeout of its own is killed after 1.5 s.


def make_claude_edits(place: ClientPlace) -> list[ConfigEdit]:
    """Return the changes that connect Claude Code in a place."""
    first, *arguments = place.command_words("mcp")
    server = {"type": "stdio", "command": first, "args": arguments, "env": {}}
    if place.scope == SCOPE_PROJECT:
        file = os.path.join(place.root, ".claude", "settings.json")
        return [
            ConfigEdit(os.path.join(place.root, ".mcp.json"), EDIT_SET, ("mcpServers", CONNECTION_NAME), server),
            *make_hook_edits(file, "claude-code", place),
        ]
    if place.scope == SCOPE_LOCAL:
        key: tuple[str, ...] = (
            "projects",
            checkout_root(place.root) or place.root,
            "mcpServers",
            CONNECTION_NAME,
        )
        file = os.path.join(place.root, ".claude", "settings.local.json")
    else:
        key = ("mcpServers", CONNECTION_NAME)
        file = os.path.join(place.config_folder("CLAUDE_CONFIG_DIR", ".claude"), "settings.json")
    return [
        ConfigEdit(
            os.path.join(place.config_folder("CLAUDE_CONFIG_DIR"), ".claude.json"), EDIT_SET, key, server, True
        ),
        *make_hook_edits(file, "claude-code", place),
    ]


# Codex: seen with 0.169.0. It passes a dozen variables to a server, and runs only hooks that the person trusts, and
# complains at every start about a SessionEnd of more than 3 s.


def make_codex_edits(place: ClientPlace) -> list[ConfigEdit]:
    """Return the changes that connect Codex in a place."""
    first, *arguments = place.command_words("mcp")
    server: dict[str, object] = {"command": first, "args": arguments}
    if place.scope == SCOPE_PROJECT:
        # from the environment of the person who starts it
        server["env_vars"] = list(PASSED_VARIABLES)
    elif variables := place.variables():
        server["env"] = variables
    own = place.config_folder("CODEX_HOME", ".codex")
    folder = own if place.scope == SCOPE_USER else os.path.join(place.root, ".codex")
    return [
        ConfigEdit(os.path.join(folder, "config.toml"), EDIT_SET, ("mcp_servers", CONNECTION_NAME), server),
        *make_hook_edits(os.path.join(folder, "hooks.json"), "codex", place),
    ]


# Gemini CLI: seen with 0.61.0. Its timeouts are milliseconds; in a folder that is not trusted it runs no server.


def make_gemini_edits(place: ClientPlace) -> list[ConfigEdit]:
    """Return the changes that connect Gemini CLI in a place."""
    first, *arguments = place.command_words("mcp")
    home = place.config_folder("GEMINI_CLI_HOME")
    file = os.path.join(home if place.scope == SCOPE_USER else place.root, ".gemini", "settings.json")
    server: dict[str, object] = {"command": first, "args": arguments}
    if variables := place.variables():
        server["env"] = variables
    return [
        ConfigEdit(file, EDIT_SET, ("mcpServers", CONNECTION_NAME), server),
        *make_hook_edits(file, "gemini", place, named=True),
    ]


# OpenCode: seen with 1.18.33. It has no hooks but plugins: a file of ours, which runs our hook.

OPENCODE_PLUGIN_FILE = os.path.join(os.path.dirname(__file__), "opencode_plugin.js")
# in the plugin: what is run at each event, in words
PLUGIN_COMMAND = '["memoranda", "hook", "opencode"]'


def make_opencode_edits(place: ClientPlace) -> list[ConfigEdit]:
    """Return the changes that connect OpenCode in a place."""
    own = os.path.join(place.root, ".opencode")
    if place.scope == SCOPE_USER:
        own = os.path.join(place.config_folder("XDG_CONFIG_HOME", ".config"), "opencode")
    folder = place.root if place.scope == SCOPE_PROJECT else own
    commented, plain = (os.path.join(folder, f"opencode.{ending}") for ending in ("jsonc", "json"))
    file = commented if os.path.lexists(commented) else plain
    source = Path(OPENCODE_PLUGIN_FILE).read_text(encoding="utf-8")
    source = source.replace(PLUGIN_COMMAND, json.dumps(place.hook_words("opencode")), 1)
    return [
        ConfigEdit(
            file, EDIT_SET, ("mcp", CONNECTION_NAME), {"type": "local", "command": place.command_words("mcp")}
        ),
        ConfigEdit(os.path.join(own, "plugins", f"{CONNECTION_NAME}.js"), EDIT_WHOLE, (), source),
    ]


# A plugin of Claude Code as a folder: our server, our hooks and one skill; no configuration is changed.

# the files that are the same everywhere
PLUGIN_FOLDER = os.path.join(os.path.dirname(__file__), "claude_plugin")
PLUGIN_STARTER = "bin/memoranda"
PLUGIN_TEXTS = ("skills/memoranda/SKILL.md", PLUGIN_STARTER, "README.md", "LICENSE")
# in the starter: the program beside the Python that wrote the plugin
STARTER_PROGRAM = "MEMORANDA"


def write_claude_plugin(folder: str) -> list[str]:
    """Write the plugin's files to a folder, which must be new, empty, or such a plugin; return their names. Raise
    InvalidInput, StorageError."""
    manifest = os.path.join(folder, ".claude-plugin", "plugin.json")
    if os.path.lexists(folder) and not os.path.isfile(manifest):
        try:
            if os.listdir(folder):
                raise InvalidInput(f"{folder} holds something else.", "Name a new folder.")
        except NotADirectoryError:
            raise InvalidInput(f"{folder} is a file.", "Name a new folder.") from None
    files = make_plugin_files()
    try:
        for name, text in files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, 0o755 if name == PLUGIN_STARTER else 0o644)
    except OSError as error:
        raise StorageError(f"{folder} cannot be written: {error.strerror}.", "Name another folder.") from None
    return list(files)


def make_plugin_files() -> dict[str, str]:
    """Return the files of the plugin, by name."""
    program = '"${CLAUDE_PLUGIN_ROOT}"/' + PLUGIN_STARTER
    hooks = {
        event: [_hook_entry(f"{program} hook claude-code", matcher, timeout)]
        for event, matcher, timeout in CLIENTS["claude-code"].events
    }
    plugin = {
        "name": "memoranda",
        "version": __version__,
        "description": "Memory that you can see, correct and take back: search, citations, decisions, sessions.",
        "license": "MIT",
        "keywords": ["memory"],
    }
    server = {"memoranda": {"command": "${CLAUDE_PLUGIN_ROOT}/" + PLUGIN_STARTER, "args": ["mcp"]}}
    texts = {name: Path(PLUGIN_FOLDER, name).read_text(encoding="utf-8") for name in PLUGIN_TEXTS}
    beside = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), "memoranda")
    texts[PLUGIN_STARTER] = texts[PLUGIN_STARTER].replace(STARTER_PROGRAM, shlex.quote(beside))
    return {
        ".claude-plugin/plugin.json": _format_json(plugin),
        "hooks/hooks.json": _format_json({"hooks": hooks}),
        ".mcp.json": _format_json({"mcpServers": server}),
        **texts,
    }


def _format_json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


# The clients that can be connected.

CLIENT_EDITS = {
    "claude-code": make_claude_edits,
    "codex": make_codex_edits,
    "gemini": make_gemini_edits,
    "opencode": make_opencode_edits,
}


def make_client(
    name: str, one: Mapping[str, Any], edits: Callable[[ClientPlace], list[ConfigEdit]]
) -> AgentClient:
    """Return a client of its entry in `clients.json`."""
    events = [(event, *rest) for event, _, *rest in one["events"] if rest]
    return AgentClient(
        name,
        title=one["title"],
        program=one["program"],
        edits=edits,
        health=HealthCheck(*one["health"]),
        steps=one["steps"],
        events=events,
        installs=one["installs"],
    )


CLIENTS = {name: make_client(name, one, CLIENT_EDITS[name]) for name, one in CLIENT_TABLE.items()}
