"""The tasks among the facts, without an application."""

import os

from store.memory import Memory
from tui.panes.facts import PANE
from tui.panes.pane import Reading, View
from tui.workers.engine import Engine


def test_what_is_done_is_hidden_until_it_is_asked_for(memory: Memory) -> None:
    """And the title says which of both it is."""
    memory.tasks.add_task("to be done")
    memory.tasks.move(memory.tasks.add_task("done already"), "done")
    engine = Engine(memory.location, os.fspath("."), lambda *call: None, memory.database.clock)
    for hidden, size, said in ((False, 1, "1 done hidden"), (True, 2, "1 done shown")):
        view = View(hidden=hidden).choose(state="tasks")
        found = PANE.read(Reading(engine, engine.screen, view, -1, None))
        assert (found.size, found.says[0][0]) == (size, said)
    engine.close()
