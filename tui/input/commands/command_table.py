"""The single table of verbs, from which command line, `:` bar, slash commands, keys, footer and help are made. Its rows
are in `records.py`, `reading.py`, `files.py` and `agents.py` beside it.

Handlers are named, not imported: a command imports its own. `VERBS` are all of them in order, `BY_NAME` maps names and
`SLASH` slash commands to them."""

from tui.input.commands.agents import AGENT_COMMANDS
from tui.input.commands.command import Verb
from tui.input.commands.files import FILE_COMMANDS
from tui.input.commands.reading import READING_COMMANDS
from tui.input.commands.records import RECORD_COMMANDS

MEMORY = "memory"  # before any verb, as in `/memory forget 12`
BEFORE = (MEMORY, "memoranda")  # the second as in a shell
VERBS: tuple[Verb, ...] = (*RECORD_COMMANDS, *READING_COMMANDS, *FILE_COMMANDS, *AGENT_COMMANDS)
BY_NAME = {verb.name: verb for verb in VERBS}
SLASH = {slash: verb for verb in VERBS for slash in verb.slash}


def find(words: list[str]) -> tuple[Verb, list[str]] | None:
    """Split a typed line into its verb and the rest: `/memory add x`, `memory add x`, `remember x`, `memory undo`."""
    if not words:
        return None
    first = words[0].removeprefix("/").lower()
    both = f"{first} {words[1].lower()}" if len(words) > 1 else ""
    for verb in VERBS:
        if both in verb.slash:
            return verb, words[2:]
        if first == verb.name or first in verb.slash:
            return verb, words[1:]
    return find(words[1:]) if first in BEFORE else None


def typed_command(text: str) -> tuple[str, bool]:
    """Return the command that a search or a question is, empty if it is none, and whether that is certain:
    `/memory forget 12` is; `memory forget 12` may also be words to look for, after the `/` that opens a search."""
    words = text.split()
    if not words or not (words[0].startswith("/") or words[0].lower() == MEMORY):
        return "", False
    certain = words[0].startswith("/")
    known = find(words) is not None or (certain and len(words) > 1 and words[0].lower() == f"/{MEMORY}")
    return (text.strip(), certain) if known else ("", False)


def command_word(words: list[str]) -> str:
    """Return the word of a line that should name its verb: the second one of `/memory forgt 12`."""
    return words[1] if len(words) > 1 and words[0].removeprefix("/").lower() in BEFORE else words[0]
