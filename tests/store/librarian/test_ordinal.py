"""Questions that an order answers, or a state, and nothing that a search could find."""

from __future__ import annotations

import pytest
from conftest import Clock
from support.chats import Scripted

from store.librarian.librarian import Librarian
from store.memory import Memory


@pytest.fixture
def told(memory: Memory, clock: Clock) -> Memory:
    """Three decisions of which the first was replaced, two commits, two iterations, two tasks, two facts."""
    memory.iterations.start("feature", "hay for zebras")
    memory.decisions.decide("Feed the zebras oats", "oats", rationale="the mill is near")
    memory.commits.log("a" * 40, message="a trough", author="Ana", committed_at=clock())
    clock.advance(days=3)
    memory.decisions.decide("Feed the zebras hay", "hay", supersedes=1)
    memory.commits.log("b" * 40, message="a bigger trough", author="Bruno", committed_at=clock())
    memory.tasks.add("paint the trough")
    memory.iterations.end(1)
    clock.advance(days=3)
    memory.iterations.start("fix", "the gate")
    memory.decisions.decide("Lock the gate at noon", "a padlock")
    memory.facts.remember("lions are fed at noon")
    clock.advance(days=1)
    memory.facts.remember("zebras sleep late")
    number = memory.tasks.add("oil the gate")
    memory.tasks.move(number, "done")
    return memory


@pytest.mark.parametrize(
    ("question", "citations"),
    [
        ("what was the last decision?", ["D#3"]),
        ("what was the very first decision we took?", ["D#1"]),
        ("qué fue lo último que decidimos", ["D#3"]),
        ("¿cuál fue la primera decisión?", ["D#1"]),
        ("who made the latest commit?", ["C#bbbbbbb"]),
        ("¿quién hizo el primer commit?", ["C#aaaaaaa"]),
        ("when was the last commit?", ["C#bbbbbbb"]),
        ("what was decided first?", ["D#1"]),
        ("what are the last 2 decisions?", ["D#2", "D#3"]),
        ("¿cuáles son las últimas decisiones?", ["D#1", "D#2", "D#3"]),
        ("what is the newest fact?", ["F#2"]),
        ("the oldest fact", ["F#1"]),
        ("which iteration is open?", ["I#2"]),
        ("qué iteración está abierta ahora mismo", ["I#2"]),
        ("which iterations are finished?", ["I#1"]),
        ("what is left to do?", ["A#1"]),
        ("¿qué queda por hacer?", ["A#1"]),
        ("which tasks are open?", ["A#1"]),
        ("¿qué tareas están hechas?", ["A#2"]),
        ("which decisions were superseded?", ["D#1"]),
    ],
)
def test_the_end_of_an_order_and_the_records_of_a_state_are_told(
    told: Memory, question: str, citations: list[str]
) -> None:
    answer = Librarian(told).ask(question)
    cited = [citation for citation in answer.citations if citation[0] == citations[0][0]]
    assert cited == citations, answer.text


@pytest.mark.parametrize("question", ["what was the last decision about lions?", "¿cuál es el último pago del zoo?"])
def test_what_such_a_question_says_besides_is_looked_for(told: Memory, question: str) -> None:
    assert "D#3" not in Librarian(told).ask(question).citations


def test_of_what_answers_besides_the_newest_comes_first(told: Memory) -> None:
    assert Librarian(told).ask("what was the last decision about zebras?").citations[0] == "D#2"


def test_a_time_narrows_the_order(told: Memory, clock: Clock) -> None:
    clock.advance(days=1)
    assert Librarian(told).ask("what was the last decision today?").nothing


def test_the_next_question_leans_on_it(told: Memory) -> None:
    first = Librarian(told).ask("what was the very first decision?")
    assert "the mill is near" in Librarian(told).ask("why?", last=first).text


@pytest.mark.parametrize(
    "question", ["what was the last decision?", "which tasks are open?", "how many facts are there?"]
)
def test_no_model_is_asked_for_what_the_records_themselves_are(told: Memory, question: str) -> None:
    chat = Scripted("There are no records about that.")
    answer = Librarian(told).ask(question, chat)
    assert not (chat.asked or chat.judged or answer.by or answer.nothing)
