"""What a pane is: which rows it lists, by what they can be narrowed, and what keys do with them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from store.base.citations import parse_citation
from store.base.errors import MemorandaError
from store.base.models import Record
from store.memory import Memory
from store.search.lookup import get_record
from tui.lists.filters import Facet
from tui.lists.record_rows import ListedRows, Row, RowLine, Rows, heading_row
from tui.render.lines import StyledLine
from tui.theme.line_filters import Piece

# the first facts are shown before these are imported
if TYPE_CHECKING:
    from store.upkeep.as_of import PastState
    from tui.actions.action import Action
    from tui.workers.engine import Engine

# rows of a list that are shown before its whole order is known
FIRST_ROWS = 256


class View(NamedTuple):
    """How a pane is narrowed: field → value, in the order in which they were chosen; its order of rows (empty: its
    own); and whether what it usually leaves out is shown too."""

    chosen: tuple[tuple[str, str], ...] = ()
    sort: str = ""
    hidden: bool = False

    def get(self, field: str) -> str | None:
        """Return the value chosen for a field; None if none is."""
        return dict(self.chosen).get(field)

    def choose(self, **fields: str | None) -> View:
        """Return the view with these fields; None or an empty value removes one."""
        now = {**dict(self.chosen), **fields}
        return self._replace(chosen=tuple((name, value) for name, value in now.items() if value))


class Entry(NamedTuple):
    """A row that is no record of the memory: a setting, a figure, a file, what an agent did. `thing` is what actions
    get; `draw` returns its lines at a width, and `describe` those of the preview, on a worker if it is `slow`."""

    key: Hashable
    thing: Any
    draw: Callable[[int], list[RowLine]]
    describe: Callable[[], list[StyledLine]] = list
    slow: bool = False


class Heading(NamedTuple):
    """A line above entries: its name, and why they stand apart."""

    name: str
    reason: str = ""


class EntryRows(ListedRows):
    """Entries below headings, all there at once."""

    def __init__(self, entries: Sequence[Entry | Heading]) -> None:
        self.entries = entries
        super().__init__(
            [
                Row(one.key, one.draw, one)
                if isinstance(one, Entry)
                else heading_row(("heading", index, one.name), one.name, one.reason)
                for index, one in enumerate(entries)
            ]
        )


class Reading(NamedTuple):
    """What a pane is read from, on a worker: the memory of that thread, the view, the first `limit` rows or all, and
    what was read before of the same view, whose places stay; `kept` is what the pane kept of its last reading of any.
    `tell` shows in the title how far it is."""

    engine: Engine
    memory: Memory
    view: View
    limit: int = -1
    last: Loaded | None = None
    kept: Any = None
    tell: Callable[[str], None] = lambda words: None

    @property
    def past(self) -> PastState | None:
        """The past state that is shown; None for the present."""
        return self.engine.past

    def find_record(self, citation: str) -> Record | None:
        """Return the record of a citation; None if it is gone, or the citation is none."""
        try:
            return get_record(self.memory.database, parse_citation(citation))
        except MemorandaError:
            return None


class Loaded(NamedTuple):
    """One reading of a pane: its rows, by what they can be narrowed (the first facet is its chips), what its title says
    beside them, each piece with the action of a click, and the text of the list where it has no rows, if that is not
    the pane's. `whole` once the order is complete; `kept` is what the pane needs for its next reading."""

    rows: Rows
    facets: Sequence[Facet] = ()
    says: Sequence[Piece] = ()
    size: int | None = None
    empty: str = ""
    whole: bool = True
    kept: Any = None


class Pane(NamedTuple):
    """A pane, or a view that is reached by its name. `read` is called on a worker. `kinds` are those of the records
    whose rows flash when another program changes them; `seconds` is how often it is read again by itself; `actions` are
    those of its own entries, which come before all others; one that `finds` is narrowed by the words typed in the find
    line (the field `words` of its view), in others they search the memory. Of one that is `paged` the first rows are
    read before all."""

    name: str
    title: str
    read: Callable[[Reading], Loaded]
    empty: str = ""
    filtered: str = ""
    kinds: tuple[str, ...] = ()
    actions: Sequence[Action] = ()
    seconds: float = 0
    finds: bool = False
    paged: bool = False
