"""OpenCode: seen with 1.18.33. It has no hooks but plugins: a file of ours, which runs our hook."""

import json
import os

from store.doors.clients.client import (
    LOCAL,
    NAME,
    PROJECT,
    SET,
    USER,
    WHOLE,
    Client,
    ConfigEdit,
    Health,
    Place,
    first_of,
)

PLUGIN = os.path.join(os.path.dirname(__file__), "opencode_plugin.js")
COMMAND = '["memoranda", "hook", "opencode"]'  # in the plugin: what is run at each event, in words


def edits(place: Place) -> list[ConfigEdit]:
    own = os.path.join(place.root, ".opencode")
    if place.scope == USER:
        own = os.path.join(place.at_home("XDG_CONFIG_HOME", ".config"), "opencode")
        file = first_of(os.path.join(own, "opencode.jsonc"), os.path.join(own, "opencode.json"))
    elif place.scope == PROJECT:
        file = first_of(*(os.path.join(place.root, f"opencode.{end}") for end in ("jsonc", "json")))
    else:
        file = first_of(os.path.join(own, "opencode.jsonc"), os.path.join(own, "opencode.json"))
    with open(PLUGIN, encoding="utf-8") as plugin:
        source = plugin.read().replace(COMMAND, json.dumps(place.hook_words(OPENCODE.name)), 1)
    return [
        ConfigEdit(file, SET, ("mcp", NAME), {"type": "local", "command": place.words("mcp")}),
        ConfigEdit(os.path.join(own, "plugins", f"{NAME}.js"), WHOLE, (), source),
    ]


OPENCODE = Client(
    "opencode",
    "OpenCode",
    "opencode",
    edits,
    Health(("mcp", "list"), NAME, ("connected",)),
    {LOCAL: (), PROJECT: (), USER: ()},
    ("node_modules", "package.json", "package-lock.json", "bun.lock", "bun.lockb", ".gitignore"),
)
