"""How a memory fares: every measure against what was told, and what nobody can know yet is unknown."""

import pytest
from conftest import Clock

from store.measures import measure
from store.memory import Memory


def test_of_a_new_memory_nothing_is_known(memory: Memory):
    found = measure(memory)
    assert found.states == dict.fromkeys(("fresh", "aging", "low", "stale"), 0)
    assert (found.oldest, found.sessions, found.contexts, found.answers) == ("", (), 0, (0, 0, 0))
    assert found.context_tokens is found.useful is found.search_ms is found.covered is None
    assert found.sizes["memory"] > 0 and found.sizes["backups"] == 0


def test_of_a_lived_one_all_of_it_is(memory: Memory, clock: Clock):
    memory.facts.remember("the team is five")
    first = memory.facts.get(1).last_confirmed_at
    clock.advance(days=200)
    memory.facts.remember("the office is in Lugo")
    memory.turns.add("s1", [("user", "how big is the team?", ""), ("assistant", "x" * 400, "")])
    memory.checkpoints.session_end(session="s1")
    memory.turns.add("s2", [("user", "hello there", "")])
    memory.search.asked.add("team")
    context = memory.context("where is the office?")
    number = memory.context.sent.keep(context)
    memory.context.sent.answered(number, valid=True, cited=["F#2"])
    memory.answers.keep("where is the office?", "In Lugo [F#2].", ["F#2"])
    memory.answers.lookup("where is the office?")
    memory.answers.lookup("who is there?")
    found = measure(memory)
    assert found.states == {"fresh": 1, "aging": 0, "low": 0, "stale": 1} and found.oldest == first
    assert [(name, turns) for name, turns, _ in found.sessions] == [("s2", 1), ("s1", 2)]
    assert found.sessions[1][2] >= 100
    assert (found.contexts, found.context_tokens) == (1, context.tokens)
    assert found.useful == pytest.approx(context.considered[0].tokens / context.tokens)
    assert found.answers == (2, 1, 1) and found.queries == ("team",) and (found.search_ms or 0) > 0
    assert found.covered == 0.5
