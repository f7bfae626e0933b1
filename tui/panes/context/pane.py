"""The context that an agent would be sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tui.input.pane import Pane

if TYPE_CHECKING:
    from tui.lists.view_state import View

LONGEST = 30  # maximum cells of a question in a title that has no room for all of it


def words(view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]) -> list[tuple[str | None, str]]:
    tokens = f"{counts['tokens']:,}{' tokens' if short > 2 else ' of 3,050 tokens'}" if "tokens" in counts else None
    text = view.question
    asks = f"ask {'another' if text else 'a question'}: {key('context.ask')}"
    if short and len(text) > LONGEST:
        text = f"{text[: LONGEST - 1]}…"
    question = f"“{text}”  {asks}" if text and short < 2 else asks
    return [(question, "ask_for('context.ask')"), (tokens, "")]


PANE = Pane(
    "context",
    "7",
    help="To the context: what an agent would be sent",
    empty="What an agent would be sent will be here, with what it costs and why each fact is in or out. Press "
    "{context.ask} to ask a question.",
    rows="rows.read",
    words=words,
    controller="controller.ContextController",
)
