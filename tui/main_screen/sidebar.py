"""The sidebar: the panes and the filters of the current one, with counts, and at its foot what is under way. It stands
beside the lists where there is room, and over them where it is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from rich.cells import cell_len

from tui.input.key_table import INBOX, NUMBERS, PANES, named
from tui.input.pane_table import BY_NAME
from tui.lists.filters.facets import Choice, Facet, active
from tui.lists.view_state import DIM, LABELS, STRONG
from tui.lists.wrapping import wrapped
from tui.panes.host import Host
from tui.theme.escape import visible
from tui.theme.line_filters import fit
from tui.theme.pieces import Piece
from tui.widgets.sidebar import Sidebar

if TYPE_CHECKING:
    from tui.main_screen.lists.search_filters import SearchFilters

ROOM = 22  # cells of a line


class SidebarHost(Host, Protocol):
    """The interface that the sidebar needs of the screen."""

    @property
    def name_of_memory(self) -> str: ...
    @property
    def search_filters(self) -> SearchFilters: ...
    def facet_of(self, name: str) -> Facet | None: ...
    def read_side(self) -> None: ...
    def find(self, kind: type[Any]) -> Any: ...
    def set_class(self, add: bool, *names: str) -> object: ...


class SidebarController:
    """Owns whether the sidebar is shown, and its lines."""

    def __init__(self, host: SidebarHost) -> None:
        self.host = host
        self._wanted: bool | None = None  # what the key said last; None: where there is room

    @property
    def shown(self) -> bool:
        """Whether it is on the screen."""
        return self.host.form == "-huge" if self._wanted is None else self._wanted

    @property
    def beside(self) -> bool:
        """Whether it stands in the place of the tabs, and not over the lists."""
        return self.shown and self.host.form == "-huge"

    def action_sidebar(self) -> None:
        """Show the sidebar, or hide it."""
        self._wanted = not self.shown
        self.host.draw_titles()
        self.host.read_side()

    def leave(self) -> bool:
        """Hide it, if it covers the lists."""
        if not self.shown or self.beside:
            return False
        self._wanted = None
        self.host.draw_titles()
        return True

    def draw(self, sizes: Mapping[str, int], waiting: int, status: Sequence[Piece]) -> None:
        """Draw it, with the number of records of each pane, those that wait in the inbox, and what is under way."""
        host = self.host
        host.set_class(self.shown, "-sidebar")
        bar = host.find(Sidebar)
        if bar is None or not self.shown:
            return
        counts = {**sizes, INBOX: waiting}
        panes = [_pane(name, name == host.current, counts.get(name)) for name in PANES]
        more: list[Piece] = [(f" {named('more.open')} More", DIM, "more")]
        if host.searching:
            facet: Facet | None = host.search_filters.kinds
            narrowed: Mapping[str, object] = host.search_filters.now()
        else:
            facet = host.facet_of(host.current)
            narrowed = active(host.view, BY_NAME[host.current].filters)
        only: list[list[Piece]] = []
        if facet is not None and facet.choices:
            chosen = narrowed.get(facet.field)
            only = [[], [(f" Only  {named('list.only')}", "bold", "choose_filter")]]
            only += [_choice(facet.field, one, one.value == chosen) for one in facet.choices]
        name: list[Piece] = [(f" {fit(visible(host.name_of_memory), ROOM)}", "bold", "open_memory")]
        foot = [
            [(f" {line}", *piece[1:])] for piece in status if piece[0].strip() for line in wrapped(piece[0], ROOM, ROOM)
        ]
        bar.put_lines([name, [], *panes, more, *only], foot)


def _pane(name: str, current: bool, count: int | None) -> list[Piece]:
    text = f"{'▸' if current else ' '}{NUMBERS[name]} {LABELS[name]}"
    number = "" if not count else f"{count:,}"
    look = STRONG if current else "bold $text-warning" if name == INBOX and count else ""
    return [(f"{text}{number:>{ROOM - cell_len(text)}}", look, f"pane('{name}')")]


def _choice(field: str, one: Choice, chosen: bool) -> list[Piece]:
    number = "" if one.number is None else f"{one.number:,}"
    text = f" {one.glyph or ' '} {fit(visible(one.word), ROOM - 5 - len(number)).rstrip()}{' ×' if chosen else ''}"
    action = f"only({field!r}, {'' if chosen else one.value!r})"
    return [(f"{text}{number:>{ROOM - cell_len(text)}}", "bold reverse" if chosen else "", action)]
