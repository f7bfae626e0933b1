"""The top line, the figures beside the search, the titles of the panes, and the footer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from tui.lists.view_state import DIM, tabs, title
from tui.panes.host import Host
from tui.theme.escape import visible
from tui.theme.pieces import Piece, width
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from tui.panes.host import PaneController
    from tui.widgets.bars import Footer, Split
    from tui.widgets.search_bar import SearchBar


class TopBarHost(Host, Protocol):
    """The interface that the bars need of the screen."""

    @property
    def name_of_memory(self) -> str: ...
    @property
    def search_bar(self) -> SearchBar: ...
    @property
    def footer(self) -> Footer: ...
    def bar(self, name: str) -> Split | None: ...
    def controller_of(self, name: str) -> PaneController: ...
    def background_pieces(self) -> Sequence[Piece]: ...
    def model_forms(self) -> Sequence[Sequence[Piece]]: ...


class TopBarController:
    """Owns the texts of the bars."""

    def __init__(self, host: TopBarHost) -> None:
        self.host = host
        self.counts: dict[str, int] = {}
        self._sizes: dict[str, int] = {}  # the number of rows of each list, once known
        self._status = "opening"
        self._backups = ""  # what is wrong with them
        self._waiting = 0  # proposals in the inbox
        self._held = False  # whether another program prevents a checkpoint of the WAL

    def set_status(self, status: str) -> None:
        """Show a status; empty for none."""
        self._status = status
        self.draw()

    def set_backups(self, trouble: str) -> None:
        self._backups = trouble
        self.draw()

    def set_held(self, held: bool) -> None:
        self._held = held
        self.draw()

    def set_waiting(self, count: int) -> None:
        self._waiting = count
        self.draw()

    def set_size(self, name: str, size: int | None) -> None:
        """Set the number of rows of a list; None if they are not counted."""
        if size is None:
            self._sizes.pop(name, None)
        else:
            self._sizes[name] = size

    def _under_way(self) -> list[Piece]:
        """Return the status of background work."""
        pieces: list[Piece] = [("log held ", "$text-warning")] if self._held else []
        if self._status:
            pieces.append((f"{self._status} ", "$text-warning", "leave"))
        return [*pieces, *self.host.background_pieces()]

    def draw(self) -> None:
        bar = self.host.bar("top")
        if bar is None:
            return  # another memory has replaced this one
        room, left = bar.size.width or 120, [*self._name(" ", "  ")]
        if self.host.form == "-narrow":  # the name is in the title of the list, the status beside the search
            bar.put_both([(" ", ""), *tabs(self.host.current, self._waiting, room - 2)], ())
        else:
            status = self._under_way()
            names = tabs(self.host.current, self._waiting, room - width(left) - width(status) - 2)
            bar.put_both([*left, *names], [*status, (" ", "")])
        self._draw_figures()

    def _name(self, before: str, after: str) -> list[Piece]:
        return [(f"{before}{visible(self.host.name_of_memory)}{after}", "bold", "open_memory")]

    def _draw_figures(self) -> None:
        """Show the status of the facts and of the model beside the empty search bar."""
        figures = self._under_way() if self.host.form == "-narrow" else []
        if counts := self.counts:
            figures.append((f"{counts['active']:,} fact{'' if counts['active'] == 1 else 's'}", ""))
            for state, style in (("aging", "$text-warning"), ("low", DIM), ("stale", "$text-error")):
                if counts[state]:
                    figures += [("  ", ""), (f"{counts[state]:,} {state}", style, f"search_for('is:{state}')")]
        if self._backups:
            figures += [("  ", ""), (self._backups, "$text-error", "doctor")]
        self.host.search_bar.tell(figures, self.host.model_forms())

    def draw_titles(self) -> None:
        """Draw the title of the current pane, and the top line."""
        host, name = self.host, self.host.current
        self.draw()
        bar = host.bar(f"{name}-title")
        if bar is not None:
            size = f"{self._sizes[name]:,}" if name in self._sizes else ""
            found = host.found(name)
            marked = len(found.marks) if found is not None else 0
            before = self._name("", " ") if host.form == "-narrow" else []
            room = (bar.size.width or 40) - width(before)
            left, right = title(name, host.view, self.counts, size, marked, room)
            bar.put_both([*before, *left], right)

    def draw_footer(self) -> None:
        """Show the keys of the current pane, or the text of its controller."""
        focused = self.host.focused
        if pieces := self.host.controller_of(self.host.current).footer():
            self.host.footer.hint(*pieces)
        elif isinstance(focused, RecordList | Preview):
            self.host.footer.show_pane(focused.id or "")
        elif focused is not None and focused.id == "query":
            self.host.footer.hint(
                (" enter", "$footer-key-foreground bold", "to_hits"),
                (" goes to what was found ", "", "to_hits"),
                (" esc", "$footer-key-foreground bold", "leave"),
                (" leaves   kind: domain: is: tag: author: iteration: since: before: related:", "", "leave"),
            )
