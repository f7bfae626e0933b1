"""Texts shared by the titles of several panes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.lists.view_state import View


def left_out(view: View, count: int, text: str, short: int, key: Callable[[str], str]) -> str:
    """Return how many rows are hidden or shown in addition, and the key that toggles it; only the number if there is
    little room."""
    if short > 1:
        text = "all" if view.hidden else f"{count:,} hidden"
    return f"{text}: {key('list.hidden')}"
