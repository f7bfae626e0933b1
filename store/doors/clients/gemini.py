"""Gemini CLI: seen with 0.61.0. Its timeouts are milliseconds; in a folder that is not trusted it runs no server."""

import os

from store.doors.clients.client import LOCAL, NAME, PROJECT, SET, USER, Client, ConfigEdit, Health, Place, hook_edits

EVENTS = (  # (event, matcher, timeout in milliseconds)
    ("SessionStart", "", 10_000),
    ("BeforeAgent", "", 5_000),
    ("AfterTool", "run_shell_command|write_file|replace|write_todos", 5_000),
    ("PreCompress", "", 30_000),
    ("AfterAgent", "", 10_000),
    ("SessionEnd", "", 5_000),
)


def edits(place: Place) -> list[ConfigEdit]:
    first, *arguments = place.words("mcp")
    home = place.at_home("GEMINI_CLI_HOME")
    file = os.path.join(home if place.scope == USER else place.root, ".gemini", "settings.json")
    server: dict[str, object] = {"command": first, "args": arguments}
    if variables := place.variables():
        server["env"] = variables
    return [
        ConfigEdit(file, SET, ("mcpServers", NAME), server),
        *hook_edits(file, GEMINI.name, place, EVENTS, named=True),
    ]


_FOLDER = "Gemini runs no server in a folder that you did not trust: answer its question when you start `gemini` there."
GEMINI = Client(
    "gemini",
    "Gemini CLI",
    "gemini",
    edits,
    Health(("mcp", "list"), f"{NAME}:", ("Connected",)),
    {LOCAL: (_FOLDER,), PROJECT: (_FOLDER,), USER: ()},
)
