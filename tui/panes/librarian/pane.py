"""The librarian: questions, and answers that cite records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tui.input.pane import Pane

if TYPE_CHECKING:
    from tui.lists.view_state import View


def words(view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]) -> list[tuple[str | None, str]]:
    return [("every sentence cites its record" if not short else None, "")]


PANE = Pane(
    "librarian",
    "8",
    help="To the Librarian: ask about the past; there, to the question",
    empty="Ask what was decided, done or said, when, by whom and why, in English or Spanish: type it, and enter "
    "asks. Each sentence of an answer cites the record it rests on, and enter opens it. Where nothing is recorded "
    "it says so. For example:",
    label="Ask",
    words=words,
    controller="controller.LibrarianController",
    widget="tui.widgets.chat_pane.TalkPane",
)
