"""How a memory fares: every measure against what was told, and what nobody can know yet is unknown."""

import threading

import pytest
from conftest import Clock

from store.conversation import Said
from store.measures import SESSIONS, TOLD, measure
from store.memory import Memory
from store.search.timed import KEPT


def test_of_a_new_memory_nothing_is_known(memory: Memory):
    found = measure(memory)
    assert found.states == dict.fromkeys(("fresh", "aging", "low", "stale"), 0)
    assert (found.oldest, found.sessions, found.contexts, found.answers) == (None, (), 0, (0, 0, 0))
    assert found.context_tokens is found.useful is found.reading.success is None
    assert found.searches.milliseconds == () and found.queries == ()
    assert found.searches.keywords is found.searches.meaning is found.searches.found is None
    assert (found.conversations, found.covered, found.backups) == (0, 0, 0)
    assert found.sizes["memory"] > 0 and found.sizes["backups"] == 0 and not any(found.records.values())


def test_of_a_lived_one_all_of_it_is(memory: Memory, clock: Clock):
    memory.facts.remember("nobody eats nuts", pinned=True)
    memory.facts.remember("the team is five")
    first = memory.facts.get(2).last_confirmed_at
    clock.advance(days=200)
    memory.facts.remember("the office is in Lugo")
    memory.turns.add("s1", [("user", "how big is the team?", ""), ("assistant", "x" * 400, "")])
    memory.checkpoints.session_end(session="s1")
    memory.turns.add("s2", [("user", "hello there", "")])
    context = memory.context("where is the office?", "s2")
    number = memory.context.sent.keep(context)
    memory.context.sent.answered(number, valid=True, cited=["F#3"])
    memory.answers.keep("where is the office?", "In Lugo [F#3].", ["F#3"])
    memory.answers.lookup("where is the office?")
    memory.answers.lookup("who is there?")
    found = measure(memory)
    assert found.states == {"fresh": 2, "aging": 0, "low": 0, "stale": 1} and found.pinned == 1
    assert found.oldest == (2, first), "a pinned one waits for nobody"
    assert [(one.name, one.turns, one.contexts, one.sent) for one in found.sessions] == [
        ("s2", 1, 1, context.tokens),
        ("s1", 2, 0, 0),
    ]
    assert found.sessions[1].tokens >= 100
    assert (found.contexts, found.answered, found.context_tokens) == (1, 1, context.tokens)
    cited = next(one.tokens for one in context.considered if one.fact.id == 3)
    assert found.useful == pytest.approx(cited / context.tokens)
    assert found.answers == (2, 1, 1)
    assert (found.covered, found.conversations) == (1, 2)
    assert found.records["facts"] == 3 and found.records["turns"] == 3


def test_searches_tell_how_long_they_took_what_they_found_and_what_is_asked_most(memory: Memory):
    memory.facts.remember("the team is five")
    for query in ("team", "team", "zebra", "five", "team"):
        memory.search.asked.add(query)
        memory.search.timed.add(memory.search(query, meaning=False))
    found = measure(memory)
    assert found.queries == (("team", 3), ("five", 1), ("zebra", 1)), "of as frequent ones the newest first"
    assert len(found.searches.milliseconds) == 5 and found.searches.found == 0.8
    assert found.searches.keywords == sorted(found.searches.milliseconds)[2] and found.searches.meaning is None


def test_of_searches_the_last_are_kept_and_none_of_their_words(memory: Memory):
    answer = memory.search("a word that is nobody else's", meaning=False)
    for number in range(KEPT + 3):
        answer.milliseconds = float(number)
        memory.search.timed.add(answer)
    last = [milliseconds for milliseconds, _, _ in memory.search.timed.last()]
    assert last == [float(number) for number in range(3, KEPT + 3)]
    assert memory.database.value("SELECT count(*) FROM searches") == KEPT
    assert "nobody" not in str(memory.database.rows("SELECT * FROM searches"))
    assert memory.history.steps() == []


def test_a_busy_memory_keeps_nobody_waiting_for_a_note(memory: Memory):
    """Whoever waited for the other to end would find the file free, and note it after all."""
    answer = memory.search("team", meaning=False)
    writing, noted = threading.Event(), threading.Event()

    def write() -> None:
        with Memory.open(memory.location.path) as other, other.database.write("user", "long"):
            writing.set()
            noted.wait(5)

    other = threading.Thread(target=write)
    other.start()
    writing.wait()
    memory.search.timed.add(answer)
    noted.set()
    other.join()
    assert memory.search.timed.last() == []
    memory.facts.remember("who writes a fact waits as before")
    memory.search.timed.add(answer)
    assert len(memory.search.timed.last()) == 1


def test_many_conversations_are_told_newest_first_without_a_look_at_every_turn(memory: Memory):
    for number in range(SESSIONS + 4):
        memory.turns.add(f"s{number}", [Said("user", f"turn {turn}") for turn in range(3)])
    memory.turns.add("s2", [Said("user", "and once more")])
    memory.checkpoints.session_end(session="s2")
    found = measure(memory)
    assert [one.name for one in found.sessions] == ["s2", *(f"s{number}" for number in range(11, 4, -1))]
    assert (found.covered, found.conversations) == (1, SESSIONS + 4) and found.sessions[0].turns == 4
    plan = " ".join(row[3] for row in memory.database.rows(f"EXPLAIN QUERY PLAN {TOLD}"))
    assert "SCAN turns" not in plan and "SCAN t " not in plan and "SCAN c" not in plan.replace("SCAN CONSTANT", "")
