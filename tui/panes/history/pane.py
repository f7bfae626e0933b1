"""The steps of history: every change and its author."""

from tui.input.pane import Pane

PANE = Pane(
    "history",
    "4",
    help="To the changes: the history of every record",
    empty="Nothing was changed yet. Every change will be here, with who made it, and {step.undo} undoes it.",
    filtered="Nothing by this author. {screen.leave} shows all changes; {list.only} chooses another author.",
    label="Changes",
    rows="rows.read",
    filters={"actor": None},
    facets="facets.read",
)
