"""Words that several panes have in their titles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.lists.view_state import View

NEWEST = "newest first"


def left_out(view: View, count: int, text: str, short: int, key: Callable[[str], str]) -> str:
    """What the list leaves out, or shows all the same, and the key that changes it; where there is little room by the
    number alone."""
    if short > 2:
        text = "all" if view.hidden else f"+{count:,}"
    return f"{text}: {key('list.hidden')}"


def newest(short: int, narrowed: object) -> str | None:
    """That the newest comes first, where there is room for it."""
    return None if short > 2 or (short and narrowed) else NEWEST
