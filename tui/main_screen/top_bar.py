"""The top line, the figures beside the search, the titles of the panes, and the footer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from tui.input.key_table import LIBRARIAN, named
from tui.lists.view_state import tabs, title
from tui.main_screen.preview import kind_at_cursor, states_at_cursor
from tui.main_screen.sidebar import SidebarController, SidebarHost
from tui.theme.escape import visible
from tui.theme.pieces import Piece, width
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from tui.panes.host import PaneController
    from tui.widgets.bars import Footer, Split
    from tui.widgets.search_bar import SearchBar

ZOOM = "zoom('preview')"


class TopBarHost(SidebarHost, Protocol):
    """The interface that the bars need of the screen."""

    @property
    def search_bar(self) -> SearchBar: ...
    @property
    def footer(self) -> Footer: ...
    def bar(self, name: str) -> Split | None: ...
    def controller_of(self, name: str) -> PaneController: ...
    def background_pieces(self) -> Sequence[Piece]: ...
    def model_forms(self) -> Sequence[Sequence[Piece]]: ...
    def draw_found(self) -> None: ...


class TopBarController:
    """Owns the texts of the bars."""

    def __init__(self, host: TopBarHost) -> None:
        self.host = host
        self.sidebar = SidebarController(host)
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

    @property
    def _roomy(self) -> bool:
        """Return whether the status has room beside the tabs: elsewhere they would move as it comes and goes."""
        return self.host.form == "-huge"

    def _under_way(self) -> list[Piece]:
        """Return the status of background work, two cells between any two parts."""
        pieces: list[Piece] = [("log held ", "$text-warning")] if self._held else []
        if self._status:
            pieces.append((f"{self._status} ", "$text-warning", "leave"))
        pieces += self.host.background_pieces()
        return [one for piece in pieces for one in ((" ", ""), piece)][1:]

    def draw(self) -> None:
        bar = self.host.bar("top")
        if bar is None:
            return  # another memory has replaced this one
        room, left = bar.size.width or 120, [*self._name(" ", "  ")]
        narrow = self.host.form == "-narrow"  # the name and the status are beside the search
        self.host.search_bar.name_memory(self._name("", " ") if narrow else ())
        if narrow:
            names = tabs(self.host.current, self._waiting, room - 1)
            bar.put_both([*([(" ", "")] if width(names) < room - 1 else []), *names], ())
        elif not self.sidebar.beside:
            status = self._under_way() if self._roomy else []
            names = tabs(self.host.current, self._waiting, room - width(left) - width(status) - 2)
            bar.put_both([*left, *names], [*status, (" ", "")])
        self.sidebar.draw(self._sizes, self._waiting, self._under_way())
        self._draw_figures()

    def _name(self, before: str, after: str) -> list[Piece]:
        return [(f"{before}{visible(self.host.name_of_memory)}{after}", "bold", "open_memory")]

    def _draw_figures(self) -> None:
        """Show what is under way or wrong, and the model, beside the empty search bar."""
        figures = [] if self._roomy else self._under_way()
        if self._backups:
            figures += [("  ", ""), (self._backups, "$text-error", "doctor")]
        self.host.search_bar.tell(figures, self.host.model_forms())

    def draw_titles(self) -> None:
        """Draw the line above the current list, and the top line; name the keys by what the record at the cursor is."""
        host, name = self.host, self.host.current
        self.draw()
        if isinstance(host.focused, RecordList):
            host.footer.show_kind(kind_at_cursor(host.focused), states_at_cursor(host.focused))
        bar = host.bar("chips")
        if host.searching:
            host.draw_found()
        elif bar is not None:
            found = host.found(name)
            marked = len(found.marks) if found is not None else 0
            room = bar.size.width or 80
            facet = host.facet_of(name)
            bar.put_both(*title(name, host.view, self.counts, facet, self._sizes.get(name), marked, room))

    def draw_footer(self) -> None:
        """Show the keys of the current pane, or the text of its controller."""
        focused = self.host.focused
        if pieces := self.host.controller_of(self.host.current).footer():
            self.host.footer.hint(*pieces)
        elif isinstance(focused, Preview):
            keys = f"{named('list.page-up')} {named('list.page-down')}"
            # there z begins a question
            more = focused.paging(keys) if focused.id == LIBRARIAN else _whole()  # type: ignore[attr-defined]
            self.host.footer.show_pane(focused.id or "", [*_opens(focused.link), *more])
        elif isinstance(focused, RecordList):
            kind, states = kind_at_cursor(focused), states_at_cursor(focused)
            self.host.footer.show_pane(focused.id or "", _marked(focused), kind, states)
        elif focused is not None and focused.id == "query" and (found := self.host.search_filters.completions()):
            pieces = [(" tab ", "$footer-key-foreground bold", f"complete_filter({found[0][0]!r})")]
            for text, count in found:
                number = "" if count is None else f" {count:,}"
                action = f"complete_filter({text!r})"
                pieces += [(f" {visible(text)}", "", action), (f"{number} ", "$dim", action)]
            self.host.footer.hint(*pieces)
        elif focused is not None and focused.id == "query":
            self.host.footer.hint(
                (" enter", "$footer-key-foreground bold", "to_hits"),
                (" goes to what was found ", "", "to_hits"),
                (" esc", "$footer-key-foreground bold", "leave"),
                (" leaves   kind: domain: is: tag: author: iteration: since: before: related:", "", "leave"),
            )


def _opens(link: str) -> list[Piece]:
    """Return what Enter does in the preview."""
    if not link:
        return []
    return [(" enter", "$footer-key-foreground bold", "open"), (f" opens {visible(link)} ", "", "open")]


def _whole() -> list[Piece]:
    """Return the key that shows what does not fit below a list; in a list's footer it comes late."""
    return [(f" {named('preview.alone')}", "$footer-key-foreground bold", ZOOM), (" zoom ", "", ZOOM)]


def _marked(shown: RecordList) -> list[Piece]:
    """Return what the keys apply to, if records are marked."""
    return [(f" {len(shown.marks):,} marked:", "$text-accent")] if shown.marks else []
