"""A pane of the main screen, as its folder in `tui/panes` declares it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

from tui.input.key import Key

Words = Callable[[Any, Mapping[str, int], int, Callable[[str], str]], Sequence[tuple[str | None, str]]]


def _nothing(
    view: Any, counts: Mapping[str, int], short: int, key: Callable[[str], str]
) -> list[tuple[str | None, str]]:
    return []


class Pane(NamedTuple):
    """The declaration of a pane. Members imported only on demand are named `module.member`, relative to the pane's
    folder."""

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
    rows: str = ""
    """The function of (engine, memory, view) that returns the rows of its list; empty if they are loaded otherwise."""
    counts: str = ""
    """The function of a memory that returns the counts for `words`."""
    words: Words = _nothing
    """(view, counts, short, key) → the right part of the title, as (text, action of a click); shorter for a higher
    `short`, up to 3; `key` returns the key of an id."""
    filters: Mapping[str, object] = MappingProxyType({})
    """The fields of the view that filter it, with their neutral values."""
    facets: str = ""
    """The function of a memory that returns by what the list can be narrowed, the facet of its chips first; empty if it
    cannot be."""
    kinds: tuple[str, ...] = ()
    """The kinds of records whose rows are highlighted when another program changes them."""
    keys: tuple[Key, ...] = ()
    """Keys that only this pane has; their `panes` name it."""
    records: bool = True
    """Whether its rows are records, which can be marked and copied."""
    controller: str = ""
    """The class of its controller, if it does more than show rows."""
    widget: str = ""
    """The widget that it uses instead of a list, by its full path."""

    def load(self, reference: str) -> Any:
        """Import `module.member` from the pane's folder."""
        module, _, member = reference.rpartition(".")
        return getattr(import_module(f"tui.panes.{self.name}.{module}"), member)

    def is_narrowed(self, view: object) -> bool:
        """Return whether a filter is active."""
        return any(getattr(view, name) != value for name, value in self.filters.items())
