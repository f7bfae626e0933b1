"""The single table of panes, in the order of their tabs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from tui.input.key import Key


class Pane(NamedTuple):
    """The declaration of a pane: what is known of it before anything is drawn."""

    name: str
    """Its id and its folder."""
    key: str
    """The key that focuses it, as Textual names it."""
    help: str
    """The help of that key."""
    empty: str
    """The text of its empty list: what it is for, and the key that adds to it. `{record.add}` is the key of that id."""
    filtered: str = ""
    """The text if a filter hides everything."""
    label: str = ""
    """Its label, if that is not its name."""
    filters: Mapping[str, object] = MappingProxyType({})
    """The fields of the view that filter it, with their neutral values."""
    kinds: tuple[str, ...] = ()
    """The kinds of records whose rows are highlighted when another program changes them."""
    keys: tuple[Key, ...] = ()
    """Keys that only this pane has; their `panes` name it."""
    listed: bool = True
    """Whether it is a list; else a widget of its own."""
    read: bool = True
    """Whether its list is read by itself; else with the facts."""
    records: bool = True
    """Whether its rows are records, which can be marked and copied."""

    def is_narrowed(self, view: object) -> bool:
        """Return whether a filter is active."""
        return any(getattr(view, name) != value for name, value in self.filters.items())


PANES = (
    Pane(
        "facts",
        "1",
        help="To the facts",
        empty="No facts yet. Press {record.add} to add the first one: what should be remembered here?",
        filtered="No facts match. {screen.leave} shows all facts; {list.only} chooses another filter.",
        filters={"state": None, "words": "", "domain": None, "origin": None, "tag": None},
        kinds=("fact",),
        read=False,
    ),
    Pane(
        "timeline",
        "2",
        help="To the timeline",
        empty="Nothing happened here yet. Decisions, commits and events will be here, newest "
        "first. Press {record.add} to "
        "record a decision.",
        filtered="Nothing of this kind. {screen.leave} shows all kinds; {list.filter} the next one.",
        filters={"kind": None},
        kinds=("decision",),
        read=False,
    ),
    Pane(
        "checkpoints",
        "3",
        help="To the checkpoints",
        empty="No checkpoints yet. Press {record.add} to add a checkpoint; "
        "{checkpoint.restore} then shows what going back "
        "to it would change.",
    ),
    Pane(
        "history",
        "4",
        help="To the changes: the history of every record",
        empty="Nothing was changed yet. Every change will be here, with who made it, and {step.undo} undoes it.",
        filtered="Nothing by this author. {screen.leave} shows all changes; {list.only} chooses another author.",
        label="Changes",
        filters={"actor": None},
    ),
    Pane(
        "tasks",
        "5",
        help="To the tasks",
        empty="No tasks to be done. Press {record.add} to add one; {task.move} starts and finishes it.",
        filters={"progress": None},
        filtered="No such tasks. {screen.leave} shows all; {list.filter} chooses the next status.",
        kinds=("task",),
    ),
    Pane(
        "inbox",
        "6",
        help="To the inbox",
        empty="Nothing to review. What agents, imports and files propose to remember is here, with its evidence, until "
        "you accept it ({record.confirm}) or reject it ({record.forget}): no agent is "
        "sent it before. {inbox.duplicates} "
        "looks for facts that say the same, or contradict each other.",
        filtered="Nothing to review from this source. {screen.leave} shows all; {list.only} chooses another source.",
        filters={"asker": None},
        kinds=("proposal",),
    ),
    Pane(
        "context",
        "7",
        help="To the context: what an agent would be sent",
        empty="What an agent would be sent will be here, with what it costs and why each fact is in or out. Press "
        "{context.ask} to ask a question.",
    ),
    Pane(
        "librarian",
        "8",
        help="To the Librarian: ask about the past; there, to the question",
        empty="Ask what was decided, done or said, when, by whom and why, in English or Spanish: type it, and enter "
        "asks. Each sentence of an answer cites the record it rests on, and enter opens it. Where nothing is recorded "
        "it says so. For example:",
        label="Ask",
        listed=False,
        read=False,
    ),
    Pane(
        "health",
        "9",
        help="To the health: the state of the memory, in figures",
        empty="The state of the memory will be here: how old its facts are, what conversations and contexts cost, how "
        "searches and the reading of turns went.",
        records=False,
    ),
)

BY_NAME: Mapping[str, Pane] = {pane.name: pane for pane in PANES}
NAMES = tuple(BY_NAME)
