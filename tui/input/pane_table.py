"""The single table of panes, in the order of their tabs. Each line is a folder of `tui/panes`, whose module `pane`
holds the declaration, `PANE`, from which tabs, keys, footer, help and the screen are made."""

from collections.abc import Mapping
from importlib import import_module

from tui.input.pane import Pane

NAMES = (
    "facts",
    "timeline",
    "checkpoints",
    "history",
    "tasks",
    "inbox",
    "context",
    "librarian",
    "health",
)


def load(names: tuple[str, ...]) -> dict[str, Pane]:
    """Import the declarations of these panes."""
    return {name: import_module(f"tui.panes.{name}.pane").PANE for name in names}


BY_NAME: Mapping[str, Pane] = load(NAMES)
