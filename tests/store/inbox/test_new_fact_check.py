"""What a person remembers is written at once; something like it becomes a question in the inbox, asked one time."""

from __future__ import annotations

import pytest

from store.inbox import duplicates
from store.inbox.duplicates import DUPLICATES_ORIGIN, propose_duplicates
from store.memory import Memory


def look(memory: Memory) -> list[tuple[str, int | None, tuple[str, ...]]]:
    """What is asked of what was remembered since the last look."""
    new = duplicates.compare_new_facts(memory.database, memory.facts, memory.inbox)
    assert not duplicates.has_uncompared_facts(memory.database)
    return [(one.kind, one.target, one.others) for one in memory.inbox.get_many(new)]


def test_something_alike_is_written_and_asked_about(memory: Memory):
    friday, _ = memory.facts.remember("We deploy on Fridays after lunch")
    assert look(memory) == []
    later, new = memory.facts.remember("We deploy on Friday, after lunch")
    assert new and memory.facts.get(later).status == "active", "the fact is there before anybody looks"
    assert look(memory) == [("merge", friday, (f"F#{later}",))]
    (asked,) = memory.inbox.waiting()
    assert asked.origin == DUPLICATES_ORIGIN
    assert {one.citation for one in asked.evidence} == {f"F#{friday}", f"F#{later}"}
    memory.inbox.accept(asked.id)
    assert memory.facts.get(later).status == "superseded"


def test_a_contradiction_is_asked_about_and_the_newer_one_would_hold(memory: Memory, clock):
    five, _ = memory.facts.remember("The team is 5 people")
    clock.advance(days=1)
    six, _ = memory.facts.remember("The team is 6 people")
    assert look(memory) == [("supersede", five, (f"F#{six}",))]


def test_nothing_is_asked_of_what_is_new_or_one_of_a_list(memory: Memory):
    for text in ("Ana likes tea", "Eva likes tea", "Port 80 is for Caddy", "Port 81 is for Caddy", "Lunch is at noon"):
        memory.facts.remember(text)
    look(memory)
    memory.facts.remember("Port 82 is for Caddy")
    memory.facts.remember("Port 83 is for Caddy")
    assert look(memory) == []


@pytest.mark.parametrize("answer", ["waiting", "rejected"])
def test_the_same_question_is_never_asked_twice(memory: Memory, answer: str):
    """Not by the next look, not by a pass over everything, not when the words are remembered once more."""
    memory.facts.remember("We deploy on Fridays after lunch")
    memory.facts.remember("We deploy on Friday, after lunch")
    assert len(look(memory)) == 1
    if answer == "rejected":
        memory.inbox.reject(memory.inbox.ids())
    assert memory.facts.remember("we deploy on friday, after lunch.") == (2, False), "the same words confirm"
    assert look(memory) == []
    assert propose_duplicates(memory.database, memory.facts, memory.inbox, memory.now).proposals == ()
    assert len(memory.inbox.ids(state=answer)) == 1


def test_only_a_persons_own_word_is_looked_at(memory: Memory):
    """What others propose is shown beside what it is like; what they were let write is for the pass."""
    memory.facts.remember("We deploy on Fridays after lunch", actor="mcp:claude-code")
    memory.facts.remember("We deploy on Friday, after lunch", actor="mcp:claude-code")
    assert not duplicates.has_uncompared_facts(memory.database)


def test_it_is_no_step_of_the_persons(memory: Memory):
    """`u` takes back what they remembered, and not the question; a fact that went meanwhile is asked nothing about."""
    memory.facts.remember("We deploy on Fridays after lunch")
    memory.facts.remember("We deploy on Friday, after lunch")
    assert len(look(memory)) == 1
    assert memory.history.steps(limit=1)[0].actor == DUPLICATES_ORIGIN
    memory.history.undo()
    assert memory.facts.ids(memory.now) == [1] and memory.inbox.count_waiting() == 1
    memory.facts.remember("Lunch is at noon")
    memory.facts.remember("Lunch is at 1 pm")
    memory.facts.forget([3])
    assert look(memory) == []


def test_of_two_who_look_at_once_one_asks(memory: Memory, monkeypatch):
    from store.inbox import duplicates

    memory.facts.remember("We deploy on Fridays after lunch")
    memory.facts.remember("We deploy on Friday, after lunch")
    real = duplicates.question_about_new_fact

    def slow(database, facts, fact):
        monkeypatch.undo()
        with Memory.open(memory.location.path, "worker", memory.database.clock) as other:
            look(other)
        return real(database, facts, fact)

    monkeypatch.setattr(duplicates, "question_about_new_fact", slow)
    assert look(memory) == [] and memory.inbox.count_waiting() == 1
