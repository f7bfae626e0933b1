"""The lists' order and filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from tui.input.key_table import FACTS, TIMELINE
from tui.input.pane_table import BY_NAME
from tui.lists.view_state import DOMAIN_ORDER, KIND_ORDER, SORT_ORDER, View
from tui.panes.host import Host

if TYPE_CHECKING:
    from tui.workers.engine import Engine

Choice = TypeVar("Choice")


class ViewHost(Host, Protocol):
    """The interface that the view needs of the screen."""

    def reload(self) -> None: ...


class ViewController:
    """Owns the view, and the keys that change it."""

    def __init__(self, host: ViewHost) -> None:
        self.host = host
        self.view = View()

    def change(self, **changes: object) -> None:
        """Apply a change of order or filters."""
        self.view = replace(self.view, **changes)  # type: ignore[arg-type]
        self.host.draw_titles()
        self.host.reload()

    def _narrows(self) -> bool:
        """Return whether the lists are visible that these keys apply to; a search has filters of its own."""
        if self.host.searching:
            text = "A search is narrowed in its words: kind: domain: is: tag: author: iteration: since:"
            self.host.say(text, "warning")
        return not self.host.searching

    def action_sort(self) -> None:
        if self._narrows():
            self.change(sort=_next(SORT_ORDER, self.view.sort))

    def action_filter(self) -> None:
        if not self._narrows():
            return
        if self.host.current == TIMELINE:
            self.change(kind=_next(KIND_ORDER, self.view.kind))
        else:
            self.change(domain=_next(DOMAIN_ORDER, self.view.domain))

    def action_origin(self) -> None:
        engine, name = self.host.engine, self.host.current
        if engine is not None:
            work = lambda: self._next_origin(engine, name)  # noqa: E731
            self.host.in_background(work, "origins", "find out who wrote", exclusive=True)

    def _next_origin(self, engine: Engine, name: str) -> None:
        field = BY_NAME[name].author
        order = (None, *engine.origins(name))
        self.host.later(lambda: self.change(**{field: _next(order, getattr(self.view, field))}))

    def action_hidden(self) -> None:
        if self._narrows():
            self.change(hidden=not self.view.hidden)

    def action_all_facts(self) -> None:
        self.change(**BY_NAME[FACTS].filters)

    def leave(self) -> bool:
        """Clear the filters of the current list; return False if none is set."""
        pane = BY_NAME[self.host.current]
        if pane.is_narrowed(self.view):
            self.change(**pane.filters)
            return True
        return False


def _next(order: Sequence[Choice], now: Choice) -> Choice:
    """Return the choice after `now`; the first after the last, or if `now` is not among them."""
    return order[(order.index(now) + 1) % len(order)] if now in order else order[0]
