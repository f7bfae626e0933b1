"""The timeline by day: decisions, commits, events."""

from tui.input.pane import Pane

PANE = Pane(
    "timeline",
    "2",
    help="To the timeline",
    empty="Nothing happened here yet. Decisions, commits and events will be here, newest first. Press {record.add} to "
    "record a decision.",
    filtered="Nothing of this kind. {screen.leave} shows all kinds; {list.filter} the next one.",
    filters={"kind": None},
    facets="facets.read",
    kinds=("decision",),
)
