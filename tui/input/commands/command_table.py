"""The single table of verbs, from which command line, `:` bar, slash commands, keys, footer and help are made. Its rows
are in `records.py`, `reading.py`, `files.py` and `agents.py` beside it.

Handlers are named, not imported: a command imports only its own."""

from tui.input.commands.agents import AGENT_COMMANDS
from tui.input.commands.command import Verb
from tui.input.commands.files import FILE_COMMANDS
from tui.input.commands.reading import READING_COMMANDS
from tui.input.commands.records import RECORD_COMMANDS

VERBS = (*RECORD_COMMANDS, *READING_COMMANDS, *FILE_COMMANDS, *AGENT_COMMANDS)
BY_NAME = {verb.name: verb for verb in VERBS}
SLASH = {slash: verb for verb in VERBS for slash in verb.slash}


def find(words: list[str]) -> tuple[Verb, list[str]] | None:
    """Split a typed line into its verb and the rest: `/memory add x`, `memory add x`, `remember x`."""
    if not words:
        return None
    first = words[0].removeprefix("/").lower()
    if len(words) > 1 and (verb := SLASH.get(f"{first} {words[1].lower()}")):
        return verb, words[2:]
    found = BY_NAME.get(first) or SLASH.get(first)
    return (found, words[1:]) if found else None
