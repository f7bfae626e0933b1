"""Duplicates are nominated by themselves: after a flush and once a day, and not where nothing is new."""

from conftest import Clock

from store.conversations.turns import NewTurn
from store.memory import Memory
from store.upkeep import session_flush


def test_a_flush_nominates_what_the_new_facts_repeat_and_says_nothing_twice(memory: Memory) -> None:
    memory.turns.add_turns("monday", [NewTurn("user", "hello there")])
    memory.facts.remember("The API freeze starts on the 15th of May")
    memory.facts.remember("The API freeze starts on the 16th of May")
    session_flush.flush_session(memory)
    (asked,) = memory.inbox.waiting()
    assert (asked.kind, asked.origin) == ("supersede", "duplicates")
    assert memory.history.steps(record=("proposal", asked.id))[0].actor == "duplicates", "one name, here and there"
    steps = len(memory.history.steps())
    session_flush.flush_session(memory)
    assert len(memory.inbox.waiting()) == 1 and len(memory.history.steps()) == steps


def test_once_a_day_it_looks_when_nobody_is_at_work(memory: Memory, clock: Clock) -> None:
    """A conversation that was left open long ago is no work."""
    memory.turns.add_turns("left", [NewTurn("user", "hello there")])
    clock.advance(days=1)
    memory.facts.remember("The API freeze starts on the 15th of May")
    session_flush.flush_due_sessions(memory)
    memory.facts.remember("The API freeze starts on the 16th of May")
    session_flush.flush_due_sessions(memory)
    assert memory.inbox.waiting() == [], "a day has not passed"
    clock.advance(days=1)
    session_flush.flush_due_sessions(memory)
    assert len(memory.inbox.waiting()) == 1


def test_it_is_bounded(memory: Memory) -> None:
    for number in range(3 * session_flush.MOST_CONSOLIDATIONS):
        word = chr(97 + number) * 5
        memory.facts.remember(f"The {word} service keeps its logs for 15 days")
        memory.facts.remember(f"The {word} service keeps its logs for 16 days")
    assert len(session_flush.propose_consolidation(memory)) <= session_flush.MOST_CONSOLIDATIONS
