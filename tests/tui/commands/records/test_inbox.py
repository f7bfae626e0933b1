"""`memoranda today`: what it says beside what waits."""

from store.conversations.turns import NewTurn
from store.learning import rule_pass
from store.memory import Memory
from tui.commands.call import Call, Outcome
from tui.commands.facts import confirm
from tui.commands.inbox import today
from tui.commands.search import search


def test_the_inbox_says_how_many_turns_wait_unread(memory: Memory) -> None:
    """Without a model nothing of what was only told is learned, and the person is told so."""
    memory.turns.add_turns("monday", [NewTurn("user", "Trabajo en una fintech, somos 5."), NewTurn("user", "gracias")])
    rule_pass.run_rule_pass(memory)
    call = Call(memory.location, memory, "", lambda question: False)
    assert any(line.startswith("1 turn waits unread") for line in today(call).lines)


def test_the_inbox_says_how_many_turns_wait_for_rules(memory: Memory) -> None:
    """Hooks only add turns: before a flush, nothing is to be reviewed of them."""
    said = [NewTurn("user", text) for text in ("Recordá que usamos uv", "Trabajo en una fintech")]
    memory.turns.add_turns("monday", said)
    call = Call(memory.location, memory, "", lambda question: False)
    waits = "2 turns wait to be learned from: the application does it, or memoranda session flush."
    assert today(call).lines[-1] == waits
    rule_pass.run_rule_pass(memory)
    assert not any("learned from" in line for line in today(call).lines)


def test_a_search_says_how_much_waits_and_shows_it_where_asked(memory: Memory) -> None:
    """Agents run `search` too: they are told no words of what nobody accepted."""
    memory.inbox.propose("add", {"fact": "Ledger of Ana"}, origin="team:Ana (abcdefgh2345)")
    session = Call(memory.location, memory, "", lambda question: False)

    def searched(*query: str) -> Outcome:
        return search(session, [*query], keywords=True)

    found = searched("ledger", "is it")
    assert not any("Ana" in line for line in found.lines)
    assert "1 proposal in the inbox: memoranda search in:inbox ledger 'is it'" in found.lines
    assert found.data is not None and found.data()["waiting"] == 1 and found.data()["hits"] == []  # type: ignore[index]
    waiting = searched("in:inbox", "ledger")
    assert "◇ P#1        Ana: «Ledger» of Ana" in waiting.lines
    assert waiting.data is not None and [one["kind"] for one in waiting.data()["hits"]] == ["proposal"]  # type: ignore[index]


def test_accepting_names_the_decision_that_it_recorded(memory: Memory) -> None:
    """As it names facts, in the answer and in the history."""
    chosen = {"chosen": "CSV", "alternatives": ["Excel"], "rationale": "", "impact": "high"}
    memory.inbox.propose("add", {"fact": "Exports are CSV", "decision": chosen}, origin="model:qwen2.5")
    memory.inbox.propose("add", {"fact": "Lunch is at one"}, origin="model:qwen2.5")
    said = confirm(Call(memory.location, memory, "", lambda question: False), ["P#1", "P#2"])
    assert said.message == "Accepted 2 proposals: D#1 F#1."
    assert memory.history.steps(limit=1)[0].reason == "accept P#1 D#1 P#2 F#1"
