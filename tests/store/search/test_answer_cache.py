"""Answers that keep: given again while all that they rest on is as it was, and not a moment longer."""

import tempfile
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Clock, examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import embedding_models

from store.base.errors import MemorandaError
from store.embedding.vectors import Vectors
from store.memory import Memory
from store.purge import secret_scan
from store.search.answer_cache import AnswerCache
from store.text.similarity import normalize_question

ASKED = "How big is the team?"
SAID = "The team is five people [F#1]."


@pytest.fixture
def told(memory: Memory) -> Memory:
    memory.facts.remember("the team is five people")
    memory.facts.remember("the office is in Lugo")
    memory.decisions.decide("Use SQLite", "SQLite", rationale="one file")
    assert AnswerCache(memory.database, memory.search).store_answer(ASKED, SAID, ["[F#1]"])
    return memory


def test_it_is_given_again_however_it_is_written(told: Memory):
    for question in (ASKED, "how BIG is the team", "  how big, is the team!! "):
        found = AnswerCache(told.database, told.search).find_answer(question)
        assert found and (found.answer, found.citations, found.note) == (SAID, ("F#1",), "")
    assert AnswerCache(told.database, told.search).find_answer("where is the office?") is None
    assert AnswerCache(told.database, told.search).usage_counts() == (4, 3, 1)


@pytest.mark.parametrize(
    "change",
    [
        lambda memory: memory.facts.correct(1, "the team is six people"),
        lambda memory: memory.facts.forget([1]),
        lambda memory: memory.facts.confirm([1]),
        lambda memory: memory.facts.pin([1]),
        lambda memory: memory.tagging.add_tags([("fact", 1)], "people"),
        lambda memory: memory.mutes.mute([1]),
        lambda memory: memory.facts.remember("the team is five people", domain="work"),  # known: it is confirmed
        lambda memory: memory.facts.remember("a big team eats more"),
        lambda memory: memory.decisions.decide("A big team", "is two teams"),
        lambda memory: memory.turns.add_turns("s1", [("user", "our team grew, it is big", "")]),
        lambda memory: memory.events.log("team_grew", payload={"team": "big"}),
        lambda memory: memory.purge.run_plan(memory.purge.plan([("fact", 2)])),
    ],
    ids="correct forget confirm pin tag mute again match decision turn event purge".split(),
)
def test_a_write_to_what_it_rests_on_or_a_new_match_ends_it(told: Memory, change: Callable[[Memory], object]):
    change(told)
    assert AnswerCache(told.database, told.search).find_answer(ASKED) is None
    assert told.database.value("SELECT count(*) FROM answers_cache") == 0, "and it is gone"


@pytest.mark.parametrize(
    "change",
    [
        lambda memory: memory.facts.remember("lunch is at two"),
        lambda memory: memory.facts.confirm([2]),
        lambda memory: memory.decisions.forget([1]),
        lambda memory: memory.turns.add_turns("s1", [("user", ASKED, ""), ("assistant", SAID, "")]),
        lambda memory: memory.tasks.add_task("water the ficus"),
    ],
    ids="fact confirm decision asked task".split(),
)
def test_what_it_does_not_rest_on_leaves_it(told: Memory, change: Callable[[Memory], object]):
    change(told)
    assert AnswerCache(told.database, told.search).find_answer(ASKED)


def test_what_was_done_and_undone_was_written_all_the_same(told: Memory):
    """The position in history says so, though every record reads as before."""
    told.facts.pin([1])
    told.history.undo()
    assert AnswerCache(told.database, told.search).find_answer(ASKED) is None


def test_it_is_a_day_old_at_most_and_never_from_the_future(told: Memory, clock: Clock):
    clock.advance(days=0.99)
    assert AnswerCache(told.database, told.search).find_answer(ASKED)
    clock.advance(days=0.02)
    assert AnswerCache(told.database, told.search).find_answer(ASKED) is None
    AnswerCache(told.database, told.search).store_answer(ASKED, SAID, ["F#1"])
    clock.advance(days=-2)
    assert AnswerCache(told.database, told.search).find_answer(ASKED) is None


def test_a_fact_that_grew_old_meanwhile_ends_it(memory: Memory, clock: Clock):
    memory.facts.remember("the team is five people")
    clock.advance(days=59.5)
    AnswerCache(memory.database, memory.search).store_answer(ASKED, SAID, ["F#1"])
    assert AnswerCache(memory.database, memory.search).find_answer(ASKED)
    clock.advance(days=0.6)
    assert AnswerCache(memory.database, memory.search).find_answer(ASKED) is None


def test_what_depends_on_the_moment_or_on_feelings_is_not_kept(told: Memory):
    for question in ("how big is the team today?", "¿cuántos somos ahora?", "why do I feel bad about the team?"):
        assert not AnswerCache(told.database, told.search).store_answer(question, SAID, ["F#1"])
        assert AnswerCache(told.database, told.search).find_answer(question) is None


def test_an_answer_that_a_write_overtook_is_not_kept(told: Memory):
    """What was found at step `seq` knows nothing of what was written while the model thought."""
    seq = told.history.steps(limit=1)[0].seq
    told.facts.remember("another big team")
    assert not AnswerCache(told.database, told.search).store_answer(ASKED, SAID, ["F#1"], seq=seq)
    told.facts.confirm([2])
    assert AnswerCache(told.database, told.search).store_answer("where is the office?", "In Lugo [F#2].", ["F#2"])
    assert not AnswerCache(told.database, told.search).store_answer(ASKED, "six [F#99]", ["F#99"]), (
        "what cites nothing that is there"
    )


def test_a_secret_in_an_answer_does_not_reach_the_disk(told: Memory):
    secret = "ghp_" + "Zq7Xv2Lk9Rt4Wm1Bn8Pc5Hd3Jf6Gs0Ya2UeQ"
    AnswerCache(told.database, told.search).store_answer("what is the token?", f"It is {secret} [F#1].", ["F#1"])
    assert secret not in str(told.database.rows("SELECT * FROM answers_cache"))


def test_a_secret_that_no_rule_knew_then_is_found_and_cut_out(told: Memory):
    """In an answer that was kept, and in a question that an agent was sent a context for."""
    secret = "ghp_" + "Zq7Xv2Lk9Rt4Wm1Bn8Pc5Hd3Jf6Gs0Ya2UeQ"
    told.context.sent_log.log_context(told.context("how big is the team?"))
    for table, column in ("answers_cache", "answer"), ("contexts", "question"):
        told.database.connection.execute(f"UPDATE {table} SET {column} = {column} || ?", (f" {secret}",))
    leaks = secret_scan.scan_secrets(told.database)
    assert sorted(leak.citation for leak in leaks) == ["a question that was sent", "an answer that was kept"]
    secret_scan.scrub_secrets(told.database, leaks)
    assert AnswerCache(told.database, told.search).usage_counts()[2] == 0
    assert told.database.value("SELECT question FROM contexts") == "how big is the team? [REDACTED:GITHUB_TOKEN]"


def test_they_are_bounded(told: Memory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("store.search.answer_cache.MAX_CACHED_ANSWERS", 3)
    for number in range(5):
        AnswerCache(told.database, told.search).store_answer(f"question number {number}?", "x", [])
    assert AnswerCache(told.database, told.search).usage_counts()[2] == 3


# by meaning -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def meant(memory: Memory) -> Memory:
    """A memory with vectors by the real model."""
    for text in ("We deploy with Docker Compose, on Tuesdays", "The server listens on port 8080", "Lugo has a wall"):
        memory.facts.remember(text)
    Vectors(memory.database).embed_queue(embedding_models.nano())
    assert AnswerCache(memory.database, memory.search).store_answer(
        "How do we deploy?", "With Docker Compose [F#1].", ["F#1"]
    )
    return memory


@pytest.mark.parametrize("question", ["What is the deployment process?", "¿Cómo se despliega?", "how are we deploying"])
def test_the_same_in_other_words_is_answered_with_a_note_of_ours(meant: Memory, clock: Clock, question: str):
    clock.advance(days=0.1)
    found = AnswerCache(meant.database, meant.search).find_answer(question)
    assert found and found.answer == "With Docker Compose [F#1]."
    assert found.note == "[Recovered from an earlier answer, 2 h ago, to “How do we deploy?”]"


@pytest.mark.parametrize(
    "question",
    [
        "Where do we deploy?", "How do we not deploy?", "Do we deploy with Podman?", "Which port does the server use?",
        "How do we deploy to Lugo?", "How do we deploy version 2?", "Who built the wall?",
        "How do we deploy the server?",
    ],
)  # fmt: skip
def test_what_is_only_near_is_not_answered(meant: Memory, question: str):
    assert AnswerCache(meant.database, meant.search).find_answer(question) is None


def test_while_a_text_waits_for_its_vector_nothing_is_given(meant: Memory):
    """In another language: no word of it would be found, and nobody knows yet what it is near to."""
    meant.facts.remember("Se publica a mano, sin contenedores")
    assert AnswerCache(meant.database, meant.search).find_answer("How do we deploy?") is None
    assert AnswerCache(meant.database, meant.search).usage_counts()[2] == 1, "it may hold still"
    Vectors(meant.database).embed_queue(embedding_models.nano())
    AnswerCache(meant.database, meant.search).find_answer("How do we deploy?")


def test_a_new_match_by_meaning_alone_ends_it(meant: Memory):
    meant.facts.remember("El despliegue se hace a mano")
    Vectors(meant.database).embed_queue(embedding_models.nano())
    assert AnswerCache(meant.database, meant.search).find_answer("How do we deploy?") is None


# the law --------------------------------------------------------------------------------------------------------------

WORDS = ("team", "office", "cache", "deploy")
ACTS = st.lists(
    st.tuples(
        st.sampled_from("remember correct forget confirm mute undo purge wait turn keep ask ask ask".split()),
        st.integers(0, 5),
        st.sampled_from(WORDS),
    ),
    min_size=4,
    max_size=25,
)


def rows(memory: Memory, numbers: list[int]) -> list[Any]:
    return [memory.database.row("SELECT * FROM facts WHERE id = ?", (number,)) for number in numbers]


def live(memory: Memory, word: str) -> set[tuple[str, int]]:
    """The records with a word that somebody could still be told."""
    sql = (
        "SELECT 'fact', id FROM facts WHERE status = 'active' AND fact LIKE ?1"
        " UNION ALL SELECT 'turn', id FROM turns WHERE text LIKE ?1"
    )
    return set(memory.database.rows(sql, (f"%{word}%",)))


@settings(max_examples=examples(7), deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
@given(ACTS)
def test_whatever_happens_an_answer_is_given_again_only_while_it_holds(acts: list[tuple[str, int, str]]):
    """Lived through at random, and compared with what a test remembers: not older than a day, what it cites untouched,
    no record with its word since, no purge since."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(f"{folder}/memory.db", "cli", clock := Clock()) as memory:
        memory.database.connection.pragma("synchronous", 0)
        kept: dict[str, tuple[str, list[int], list[Any], set[tuple[str, int]], int]] = {}
        days, purges, number = 0.0, 0, 0
        for act, at, word in acts:
            facts = [row[0] for row in memory.database.rows("SELECT id FROM facts ORDER BY id")]
            one = facts[at % len(facts)] if facts else 1
            question = f"what of the {word}?"
            number += 1
            try:
                if act == "remember":
                    memory.facts.remember(f"{word} {number}")
                elif act == "turn":
                    memory.turns.add_turns("s", [("user", f"{word} {number}", "")])
                elif act == "correct":
                    memory.facts.correct(one, f"{word} corrected {number}")
                elif act in ("forget", "confirm"):
                    getattr(memory.facts, act)([one])
                elif act == "mute":
                    memory.mutes.mute([one])
                elif act == "undo":
                    memory.history.undo()
                elif act == "purge":
                    memory.purge.run_plan(memory.purge.plan([("fact", one)]))
                    purges += 1
                elif act == "wait":
                    clock.advance(days=at / 5)
                    days += at / 5
                elif act == "keep":
                    cited = facts[at % 3 : at % 3 + 2]
                    if AnswerCache(memory.database, memory.search).store_answer(
                        question, f"answer {number}", [f"F#{fact}" for fact in cited]
                    ):
                        state = f"{days}", cited, rows(memory, cited), live(memory, word), purges
                        kept[normalize_question(question)] = state
                        kept[f"{normalize_question(question)} answer"] = (f"answer {number}", [], [], set(), 0)
                elif (found := AnswerCache(memory.database, memory.search).find_answer(question)) is not None:
                    when, cited, before, words, purged = kept[normalize_question(question)]
                    assert found.answer == kept[f"{normalize_question(question)} answer"][0]
                    assert days - float(when) < 1 and purges == purged
                    assert rows(memory, cited) == before and live(memory, word) <= words, "nothing with its word came"
            except MemorandaError:
                continue
