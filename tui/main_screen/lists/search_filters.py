"""The filters of a search: the kinds of what was found, and how a filter that is being typed goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from store.base.errors import MemorandaError
from tui.input.key_table import FACTS
from tui.lists.filters.facets import Facet, chips, following
from tui.lists.filters.query_filters import KIND, completed, completions, filters_of, kinds, narrowed, of_search
from tui.panes.host import Host

if TYPE_CHECKING:
    from store.search.results import Answer
    from tui.theme.pieces import Piece
    from tui.workers.engine import Engine


class SearchFilters:
    """Reads and changes the filters of the query. `query` returns it, `ask` searches for another one."""

    def __init__(self, host: Host, query: Callable[[], str], ask: Callable[[str], None]) -> None:
        self.host = host
        self._query, self._ask = query, ask
        self._kinds = kinds({})  # of what was found without the filter for a kind
        self._asked: str | None = None  # the query without that filter, of which they are
        self._facets: Sequence[Facet] = ()  # by what a search can be narrowed, once counted

    def now(self) -> dict[str, str]:
        """Return the filters of the query: field → value."""
        return filters_of(self._query())

    @property
    def kinds(self) -> Facet:
        """The kinds of what was found."""
        return self._kinds

    def narrow(self, filters: Mapping[str, str]) -> None:
        """Search with these filters instead of those of the same fields; an empty value takes one away."""
        self._ask(narrowed(self._query(), filters))

    def next_kind(self) -> None:
        """Narrow the search to the next kind of what was found, at last to none."""
        self.narrow({KIND: following(self._kinds, self.now().get(KIND)) or ""})

    def found(self, answer: Answer) -> None:
        """Count what was found by kind; under a filter for a kind the others stay as they were counted without it."""
        asked = narrowed(self._query(), {KIND: ""})
        filtered = KIND in self.now()
        if not filtered or asked != self._asked:
            whole = not filtered and answer.total == len(answer.hits)
            self._asked = asked
            shown = Counter(hit.kind for hit in answer.hits)
            self._kinds = kinds(shown, whole)._replace(total=None if filtered else answer.total)
            if not whole and (engine := self.host.engine) is not None:
                work = lambda: self.host.later(self._number, asked, shown, engine.seeker.kinds(asked))  # noqa: E731
                self.host.in_background(work, "kinds", "count what was found by kind", exclusive=True)

    def _number(self, asked: str, shown: Counter[str], counts: Mapping[str, int]) -> None:
        """Show how many records of each kind were found; by meaning alone at least those that are `shown`."""
        if counts and asked == self._asked:
            every = {kind: max(counts.get(kind, 0), shown[kind]) for kind in {*counts, *shown}}
            known = self._kinds.total
            self._kinds = kinds(every)._replace(total=sum(every.values()) if known is None else known)
            self.host.draw_titles()

    def chips(self, room: int) -> list[Piece]:
        """Return the chips of the search."""
        return chips(self._kinds, self.now(), room)

    # completion

    def facets(self, engine: Engine) -> Sequence[Facet]:
        """Return by what a search can be narrowed; for a worker thread."""
        return of_search(engine.facets(FACTS), *engine.searchable())

    def count(self) -> None:
        """Count what completes a filter, on a worker thread."""
        engine = self.host.engine
        if engine is not None:
            work = lambda: self._count(engine)  # noqa: E731
            self.host.in_background(work, "facets", "count what each filter leaves", exclusive=True)

    def _count(self, engine: Engine) -> None:
        try:
            facets = self.facets(engine)
        except MemorandaError:
            return  # the search itself says what is wrong
        self.host.later(self._counted, facets)

    def _counted(self, facets: Sequence[Facet]) -> None:
        self._facets = facets
        self.host.draw_footer()

    def completions(self) -> Sequence[tuple[str, int | None]]:
        """Return how the filter that is being typed may go on, with numbers of records."""
        return completions(self._query(), self._facets)

    def complete(self, text: str = "") -> bool:
        """Complete the filter that is being typed by `text`, or by the first completion; return False if there is
        none."""
        found = self.completions()
        if found:
            self._ask(completed(self._query(), text or found[0][0]))
        return bool(found)
