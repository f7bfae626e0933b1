"""The screens that have no pane: the menu behind `0`, each with a letter."""

from collections.abc import Sequence
from typing import NamedTuple

from tui.input.commands.command_table import BY_NAME


class Further(NamedTuple):
    """A screen: its letter, its name, the line that opens it, and what it shows."""

    letter: str
    name: str
    verb: str
    shows: str


TABLE = (
    Further("a", "Agents", "agents", "who is connected, what each did and was sent"),
    Further("c", "Scan", "scan", "what other tools remember, and what is wrong"),
    Further("d", "Doctor", "doctor", "whether anything is wrong, and what to do"),
    Further("e", "Evidence", "verify", "what facts rest on, and whether it still holds"),
    Further("g", "Guard", "guard", "what changed in your agents' memory files"),
    Further("m", "Model", "model", "the language model: which, and how it does"),
    Further("p", "Plots", "stats --plot -", "growth, recall and age over time"),
    Further("r", "Replica", "replica", "what teams shared, in a database; read-only"),
    Further("s", "Settings", "config", "every setting: value, default, where it is from"),
    Further("t", "Team", "team", "who shares with you, and what"),
    Further("u", "Guests", "guest", "what other tools remember: correct and delete it"),
)


def further() -> Sequence[Further]:
    """Return the screens whose verb exists."""
    return [one for one in TABLE if one.verb.split()[0] in BY_NAME]
