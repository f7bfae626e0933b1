"""What a client is: its program, the files of its configuration for each scope, and the changes that connect it."""

import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from store.doors import memoranda_hook

NAME = "memoranda"  # of our server, our hooks and our plugin in every client
LOCAL, PROJECT, USER = "local", "project", "user"
SCOPES = (LOCAL, PROJECT, USER)

VARIABLES = ("MEMORANDA_DB", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
HOOK_FILE = "memoranda_hook.py"
SET, APPEND, WHOLE, LINE = "set", "append", "whole", "line"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client is connected: `scope`; `root`, the project's folder; the person's `home` and variables; the
    `command` that starts us, in words, and `hook`, the Python and the file that it runs at each event (see
    `hook_program`): empty where a client was connected before there was one, or where the file is shared."""

    scope: str
    root: str
    home: str
    environ: Mapping[str, str]
    command: tuple[str, ...]
    hook: tuple[str, ...] = ()

    def at_home(self, variable: str, *steps: str) -> str:
        """Return a folder that a variable names, else one below the home."""
        named = self.environ.get(variable, "")
        return os.path.expanduser(named) if named else os.path.join(self.home, *steps)

    def words(self, *more: str) -> list[str]:
        """Return a command of ours, word by word."""
        return [*self.command, *more]

    def variables(self) -> dict[str, str]:
        """Return the variables that say where our files are, as far as the person has set them. A client that passes
        only some of its variables to a server must be given these, else the memory is not recognised as the
        person's."""
        if self.scope == PROJECT:
            return {}
        return {name: value for name in VARIABLES if (value := self.environ.get(name, ""))}

    def hook_words(self, client: str) -> list[str]:
        """Return the command that a client runs at each event. In a file that is shared it holds no path."""
        if self.scope == PROJECT or not self.hook:
            return self.words("hook", client)
        python, file = self.hook
        return [python, "-IS", file, client, *self.command[1:]]

    def hook_line(self, client: str) -> str:
        """Return the same as a line for a shell, that does nothing where we are not installed: an agent would take the
        failure of a Python that does not find its file for a wish to stop."""
        command = shlex.join(self.hook_words(client))
        if self.scope == PROJECT:
            return f"if command -v {shlex.quote(self.command[0])} >/dev/null 2>&1; then {command}; fi"
        return f"test ! -f {shlex.quote(self.hook[1])} || exec {command}" if self.hook else command


@dataclass(frozen=True, slots=True)
class ConfigEdit:
    """One change of one file. `form`: `set` the value at `path` (JSON, or TOML by its name), `append` an element to the
    array there, `whole`: the file is ours, `line`: one line more. `alone`: the client writes the file all the time, so
    nothing of it is kept but what stood at the path."""

    file: str
    form: str
    path: tuple[str, ...] = ()
    value: object = None
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Health:
    """How a client's own command says that it sees our server: the `words` after its program, a text that the line
    about us contains (`line`), and texts of which that line has one if all is well (`good`)."""

    words: tuple[str, ...]
    line: str
    good: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Client:
    """One client. `edits` are the changes that connect it in a place, `steps` what is left to the person there;
    `installs` what the client itself puts into a folder of its configuration that it finds."""

    name: str
    title: str
    program: str
    edits: Callable[[Place], list[ConfigEdit]]
    health: Health
    steps: Mapping[str, tuple[str, ...]]
    installs: tuple[str, ...] = ()


def hook_edits(
    file: str, client: str, place: Place, events: Sequence[tuple[str, str, int]], named: bool = False
) -> list[ConfigEdit]:
    """Return the changes that register our hooks, the same form in three clients: (event, matcher, timeout) each."""
    edits = []
    for event, matcher, timeout in events:
        hook: dict[str, object] = {"name": NAME} if named else {}
        hook |= {"type": "command", "command": place.hook_line(client), "timeout": timeout}
        entry: dict[str, object] = {"matcher": matcher} if matcher else {}
        edits.append(ConfigEdit(file, APPEND, ("hooks", event), {**entry, "hooks": [hook]}))
    return edits


def is_ours(entry: object, client: str) -> bool:
    """Return whether an element of an array of hooks runs us, and nothing else."""
    if not isinstance(entry, dict) or not isinstance(hooks := entry.get("hooks"), list) or len(hooks) != 1:
        return False
    command = hooks[0].get("command") if isinstance(hooks[0], dict) else None
    return isinstance(command, str) and runs_hook(command, client)


def runs_hook(command: str, client: str) -> bool:
    """Return whether a command line runs our hook for a client, by its file or as `memoranda hook`."""
    if NAME not in command:
        return False
    return f" hook {client}" in command or re.search(rf"/{HOOK_FILE}['\"]? {client}\b", command) is not None


def hook_program() -> tuple[str, ...]:
    """Return the Python and the file of this installation that answer a hook; empty where Python does not know its own
    path."""
    return (sys.executable, os.path.abspath(memoranda_hook.__file__)) if sys.executable else ()


def first_of(*paths: str) -> str:
    """Return the first of these files that is there, else the last."""
    return next((path for path in paths if os.path.lexists(path)), paths[-1])
