"""The inbox: proposals that wait for a decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tui.input.pane import Pane
from tui.render.plurals import count as many
from tui.render.plurals import said_of

if TYPE_CHECKING:
    from tui.lists.view_state import View


def words(view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]) -> list[tuple[str | None, str]]:
    unheard, unread = counts.get("unheard", 0), counts.get("unread", 0)
    of = "" if short else " of your chats"
    heard = f"{many(unheard, 'message')}{of} {said_of(unheard, 'wait to be learned from')}"
    if short:
        text = f"{many(unread, 'chat message')} {said_of(unread, 'need a model')}"
    else:
        text = f"{many(unread, 'message')}{of} {said_of(unread, 'wait to be read by a model')}"
    return [(heard if unheard else None, ""), (f"{text}: {key('model.open')} sets it up" if unread else None, "model")]


PANE = Pane(
    "inbox",
    "6",
    help="To the inbox",
    empty="Nothing to review. What agents, imports and files propose to remember is here, with its evidence, until "
    "you accept it ({record.confirm}) or reject it ({record.forget}): no agent is sent it before. {inbox.duplicates} "
    "looks for facts that say the same, or contradict each other.",
    filtered="Nothing to review from this source. {screen.leave} shows all; {list.only} chooses another source.",
    rows="rows.read",
    counts="rows.counts",
    words=words,
    filters={"asker": None},
    facets="facets.read",
    kinds=("proposal",),
)
