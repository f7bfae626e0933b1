"""`memoranda inbox`: what it says beside what waits."""

from types import SimpleNamespace

from store.conversations.turns import NewTurn
from store.learning import rule_pass
from store.memory import Memory
from tui.commands import Session
from tui.commands.records.inbox import list_proposals


def test_the_inbox_says_how_many_turns_wait_unread(memory: Memory) -> None:
    """Without a model nothing of what was only told is learned, and the person is told so."""
    memory.turns.add("monday", [NewTurn("user", "Trabajo en una fintech, somos 5."), NewTurn("user", "gracias")])
    rule_pass.run(memory)
    session = Session(memory.location, memory, "", lambda question: False)
    given = SimpleNamespace(state="", origin=None, limit=50)
    assert any(line.startswith("1 turn waits unread") for line in list_proposals(session, given).lines)  # type: ignore[arg-type]
