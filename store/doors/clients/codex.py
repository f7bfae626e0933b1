"""Codex: seen with 0.169.0. It passes a dozen variables to a server, and runs only hooks that the person trusts."""

import os

from store.doors.clients.client import (
    LOCAL,
    NAME,
    PROJECT,
    SET,
    USER,
    VARIABLES,
    Client,
    ConfigEdit,
    Health,
    Place,
    hook_edits,
)

EVENTS = (  # (event, matcher, timeout in seconds)
    ("SessionStart", "", 10),
    ("UserPromptSubmit", "", 5),
    ("PostToolUse", "", 5),
    ("PreCompact", "", 30),
    ("Stop", "", 10),
    ("SessionEnd", "", 3),  # it complains at every start about more
)
TRUST = "Codex runs no hook until you trust it: start `codex`, type /hooks, and trust those of memoranda."


def folder(place: Place) -> str:
    return place.at_home("CODEX_HOME", ".codex") if place.scope == USER else os.path.join(place.root, ".codex")


def edits(place: Place) -> list[ConfigEdit]:
    first, *arguments = place.words("mcp")
    server: dict[str, object] = {"command": first, "args": arguments}
    if place.scope == PROJECT:
        server["env_vars"] = list(VARIABLES)  # from the environment of the person who starts it
    elif variables := place.variables():
        server["env"] = variables
    return [
        ConfigEdit(os.path.join(folder(place), "config.toml"), SET, ("mcp_servers", NAME), server),
        *hook_edits(os.path.join(folder(place), "hooks.json"), CODEX.name, place, EVENTS),
    ]


_PROJECT = "Codex reads a project's .codex only once the project is trusted: it asks when you start `codex` there."
CODEX = Client(
    "codex",
    "Codex",
    "codex",
    edits,
    Health(("mcp", "list"), NAME, ("enabled",)),
    {LOCAL: (_PROJECT, TRUST), PROJECT: (_PROJECT, TRUST), USER: (TRUST,)},
)
