"""A plugin of Claude Code as a folder: our server, our hooks and one skill; no configuration is changed."""

import json
import os
import shlex
import sys

from store.base.errors import InvalidInput, StorageError
from store.doors.clients.claude_code import EVENTS
from store.version import __version__

START = "bin/memoranda"
README = """# Memoranda

Memory for Claude Code that you can see, correct and take back. This plugin starts each session with what matters of
this project's memory, lets the agent search and cite it, and records what you say, what was decided and what was
committed, in one file on this machine. Nothing leaves it.

The program `memoranda` is taken from `PATH`, or from where it was when this plugin was written. Open the application
with `memoranda` to see all of it arrive, and to take any of it back.

Try the plugin: `claude --plugin-dir FOLDER`. Remove it: delete the folder.
"""
LICENSE = """MIT License

Copyright (c) 2026 The Memoranda authors

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
"""
SKILL = """---
name: memoranda
description: Look up or record project memory (facts, decisions, tasks, past sessions) when the user refers to earlier
  work, asks why something is as it is, or decides something.
---

Search with `memory_search` before you answer from memory, and cite what you rely on, as in [F#12] or [D#3].
Record a decision with `memory_log_decision`; propose a fact with `memory_remember`. A person accepts or rejects it.
"""


def write(folder: str) -> list[str]:
    """Write the plugin's files to a folder, which must be new, empty, or such a plugin: their names. Raise
    InvalidInput, StorageError."""
    manifest = os.path.join(folder, ".claude-plugin", "plugin.json")
    if os.path.lexists(folder) and not os.path.isfile(manifest):
        try:
            if os.listdir(folder):
                raise InvalidInput(f"{folder} holds something else.", "Name a new folder.")
        except NotADirectoryError:
            raise InvalidInput(f"{folder} is a file.", "Name a new folder.") from None
    files = contents()
    try:
        for name, text in files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, 0o755 if name == START else 0o644)
    except OSError as error:
        raise StorageError(f"{folder} cannot be written: {error.strerror}.", "Name another folder.") from None
    return list(files)


def contents() -> dict[str, str]:
    """Return the files of the plugin, by name."""
    program = '"${CLAUDE_PLUGIN_ROOT}"/' + START
    hooks = {
        event: [
            {
                **({"matcher": matcher} if matcher else {}),
                "hooks": [{"type": "command", "command": f"{program} hook claude-code", "timeout": timeout}],
            }
        ]
        for event, matcher, timeout in EVENTS
    }
    plugin = {
        "name": "memoranda",
        "version": __version__,
        "description": "Memory that you can see, correct and take back: search, citations, decisions, sessions.",
        "license": "MIT",
        "keywords": ["memory"],
    }
    server = {"memoranda": {"command": "${CLAUDE_PLUGIN_ROOT}/" + START, "args": ["mcp"]}}
    return {
        ".claude-plugin/plugin.json": _json(plugin),
        "hooks/hooks.json": _json({"hooks": hooks}),
        ".mcp.json": _json({"mcpServers": server}),
        "skills/memoranda/SKILL.md": SKILL,
        START: _starter(),
        "README.md": README,
        "LICENSE": LICENSE,
    }


def _starter() -> str:
    """Return the program that is started: `memoranda` of PATH, else the one that wrote the plugin."""
    beside = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), "memoranda")
    return "\n".join(
        (
            "#!/bin/sh",
            "# Starts memoranda: that of PATH, else the one that wrote this plugin. Without one hooks do nothing.",
            'if command -v memoranda >/dev/null 2>&1; then exec memoranda "$@"; fi',
            f'if [ -x {shlex.quote(beside)} ]; then exec {shlex.quote(beside)} "$@"; fi',
            '[ "$1" = hook ] && exit 0',
            'echo "memoranda is not installed: see its README." >&2',
            "exit 1",
            "",
        )
    )


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"
