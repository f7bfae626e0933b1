"""A pane of the main screen, as its folder in `tui/panes` declares it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from tui.input.key import Key

Words = Callable[[Any, Mapping[str, int], int, Callable[[str], str]], Sequence[tuple[str | None, str]]]


def _nothing(
    view: Any, counts: Mapping[str, int], short: int, key: Callable[[str], str]
) -> list[tuple[str | None, str]]:
    return []


@dataclass(frozen=True)
class Pane:
    """The declaration of a pane. Members imported only on demand are named `module.member`, relative to the pane's
    folder."""

    name: str
    """Its id, its folder, and the word of its tab and title."""
    key: str
    """The key that leads to it, as Textual names it."""
    help: str
    """What that key does."""
    empty: str
    """What an empty list says: what will be here, and the key that makes the first. `{record.add}` is the key of that
    id."""
    filtered: str = ""
    """What it says where a filter leaves nothing."""
    short: str = ""
    """A shorter name, where there is little room."""
    rows: str = ""
    """The function of (engine, memory, view) that gives the rows of its list; empty for one that is read otherwise."""
    counts: str = ""
    """The function of a memory that gives the figures which `words` needs."""
    words: Words = _nothing
    """(view, counts, short, key) → what the title says at its right, as (text, action of a click); in fewer words the
    higher `short`, up to 3; `key` names the key of an id."""
    filters: Mapping[str, object] = field(default_factory=dict)
    """The fields of the view that narrow it, and what each is while they do not."""
    author: str = "origin"
    """The field of the view that says whose records are shown."""
    kinds: tuple[str, ...] = ()
    """The kinds of records whose rows light up when another program changes them."""
    keys: tuple[Key, ...] = ()
    """Keys that only this pane has; their `panes` name it."""
    records: bool = True
    """Whether its rows are records, which can be marked and copied."""
    beside: bool = True
    """Whether another list may stand beside it."""
    controller: str = ""
    """The class of its controller, if it does more than show rows."""
    widget: str = ""
    """The widget that it is in the place of a list, by its whole path."""

    def load(self, reference: str) -> Any:
        """Import `module.member` from the pane's folder."""
        module, _, member = reference.rpartition(".")
        return getattr(import_module(f"tui.panes.{self.name}.{module}"), member)

    def is_narrowed(self, view: object) -> bool:
        """Return whether a filter is active."""
        return any(getattr(view, name) != value for name, value in self.filters.items())
