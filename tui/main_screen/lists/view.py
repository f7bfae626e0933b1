"""The lists' order and filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from tui.input.pane_table import BY_NAME
from tui.lists.filters.facets import Facet, active, following
from tui.lists.pane_facets import FACETS
from tui.lists.view_state import SORT_ORDER, View
from tui.panes.host import Host

if TYPE_CHECKING:
    from store.base.errors import MemorandaError
    from tui.main_screen.lists.search_filters import SearchFilters
    from tui.workers.engine import Engine

Option = TypeVar("Option")


class ViewHost(Host, Protocol):
    """The interface that the view needs of the screen."""

    @property
    def search_filters(self) -> SearchFilters: ...
    def reload(self) -> None: ...
    def facet_of(self, name: str) -> Facet | None: ...


class ViewController:
    """Owns the view, and the keys that change it."""

    def __init__(self, host: ViewHost) -> None:
        self.host = host
        self.view = View()

    def change(self, **changes: object) -> None:
        """Apply a change of order or filters."""
        self.view = self.view._replace(**changes)  # type: ignore[arg-type]
        self.host.draw_titles()
        self.host.reload()

    def _narrows(self) -> bool:
        """Return whether the lists are visible that these keys apply to; a search has an order of its own."""
        if self.host.searching:
            self.host.say(
                "A search has its own order and shows what holds now: is:forgotten shows the rest.", "warning"
            )
        return not self.host.searching

    def action_sort(self) -> None:
        if self._narrows():
            self.change(sort=_next(SORT_ORDER, self.view.sort))

    def action_hidden(self) -> None:
        if self._narrows():
            self.change(hidden=not self.view.hidden)

    # filters

    def action_filter(self) -> None:
        """Take the next chip."""
        if self.host.searching:
            self.host.search_filters.next_kind()
        elif (facet := self.host.facet_of(self.host.current)) is None:
            self.host.say("This list cannot be narrowed.", "warning")
        else:
            self.change(**{facet.field: following(facet, getattr(self.view, facet.field))})

    def action_only(self, field: str, value: str) -> None:
        """Narrow the list by a value, for a click; an empty one clears that filter."""
        if self.host.searching:
            self.host.search_filters.narrow({field: value})
        elif (filters := BY_NAME[self.host.current].filters).keys() >= {field}:
            self.change(**{field: value or filters[field]})

    def action_show_all(self) -> None:
        """Clear all filters of the current list."""
        if self.host.searching:
            self.host.search_filters.narrow(dict.fromkeys(self.host.search_filters.now(), ""))
        else:
            self.leave()

    def action_choose_filter(self) -> None:
        """Open the menu of all filters, once they are counted."""
        engine, name = self.host.engine, self.host.current
        if engine is None:
            return
        if not self.host.searching and name not in FACETS:
            self.host.say("This list cannot be narrowed.", "warning")
            return
        searching = self.host.searching
        work = lambda: self._count(engine, "" if searching else name)  # noqa: E731
        self.host.in_background(work, "facets", "count what each filter leaves", exclusive=True)

    def _count(self, engine: Engine, name: str) -> None:
        from store.base.errors import MemorandaError

        try:
            facets = engine.facets(name) if name else self.host.search_filters.facets(engine)
        except MemorandaError as error:
            self.host.later(self._failed, error)
            return
        self.host.later(self._choose, name, facets)

    def _failed(self, error: MemorandaError) -> None:
        self.host.say(str(error), "error")

    def _choose(self, name: str, facets: Sequence[Facet]) -> None:
        from tui.screens.menus.only import OnlyScreen

        now = active(self.view, BY_NAME[name].filters) if name else self.host.search_filters.now()
        self.host.app.push_screen(OnlyScreen(facets, now), lambda chosen: self._chosen(name, chosen))

    def _chosen(self, name: str, chosen: Mapping[str, str] | None) -> None:
        if chosen is None:
            return
        if not name:
            self.host.search_filters.narrow({**dict.fromkeys(self.host.search_filters.now(), ""), **chosen})
        elif name == self.host.current:
            self.change(**{**BY_NAME[name].filters, **chosen})

    def leave(self) -> bool:
        """Clear the filters of the current list; return False if none is set."""
        pane = BY_NAME[self.host.current]
        if pane.is_narrowed(self.view):
            self.change(**pane.filters)
            return True
        return False


def _next(order: Sequence[Option], now: Option) -> Option:
    """Return the option after `now`; the first after the last, or if `now` is not among them."""
    return order[(order.index(now) + 1) % len(order)] if now in order else order[0]
