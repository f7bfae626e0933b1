"""A question is answered by no question, and what states something comes before what asks it once more."""

from __future__ import annotations

import pytest
from support.cases import load_cases
from support.tables import each

from store.conversations.summaries import Summaries
from store.conversations.turns import NewTurn
from store.librarian.librarian import Librarian
from store.memory import Memory
from store.search.ranking import is_only_question

CASES = load_cases(__file__)


@each("text", CASES["asks"])
def test_what_only_asks(text: str) -> None:
    assert is_only_question(text)


@each("text", CASES["states"])
def test_what_states_something(text: str) -> None:
    assert not is_only_question(text)


@pytest.fixture
def asked(memory: Memory) -> Memory:
    """A memory of a fact, questions that were put to an agent, and what one was answered."""
    memory.facts.remember("Ana is allergic to peanuts")
    for number in range(3):
        memory.turns.add_turns(f"hook{number}", [NewTurn("user", "what is Ana allergic to?")])
    memory.turns.add_turns("hook9", [NewTurn("user", "how tall is the Eiffel tower")])
    memory.turns.add_turns(
        "bakery",
        [
            NewTurn("user", "Which bakery makes our croissants?"),
            NewTurn("assistant", "Panadería Solsona, in the calle Mayor."),
            NewTurn("user", "¿Cómo se llama la impresora de tickets?"),
            NewTurn("assistant", "Es una Epson TM-T88VI, conectada por Ethernet."),
        ],
    )
    return memory


@pytest.mark.parametrize(("question", "first"), CASES["sources"])
def test_the_librarian_quotes_what_states_it_and_no_question(asked: Memory, question: str, first: str) -> None:
    answer = Librarian(asked).ask(question)
    assert answer.sentences and f"[{first}]" in answer.sentences[0]
    assert not {"T#1", "T#2", "T#3", "T#4", "T#5", "T#7"} & set(answer.sources)


def test_a_question_that_was_never_answered_is_refused(asked: Memory) -> None:
    answer = Librarian(asked).ask("how tall is the Eiffel tower?")
    assert answer.nothing and "T#4" not in answer.sources


def test_what_was_asked_is_found_where_that_is_the_question(asked: Memory) -> None:
    assert "T#4" in Librarian(asked).ask("what did we ask about the eiffel tower?").sources


def test_a_summary_of_a_question_comes_after_what_was_replied(memory: Memory) -> None:
    reply = "Tests use a fake clock. The ticket printer is an Epson TM-T88VI and stands at the till."
    turns = [NewTurn("user", "What is the ticket printer called?"), NewTurn("assistant", reply)]
    memory.turns.add_turns("s", turns)
    Summaries(memory.database).summarize_due("s", all_of_it=True)
    answer = Librarian(memory).ask("what is the ticket printer called?")
    assert answer.sources[0] == "T#2"


def test_in_a_search_one_asking_is_exact_and_what_states_it_comes_next(asked: Memory) -> None:
    found = asked.search("what is Ana allergic to?")
    levels = [(hit.citation, hit.level) for hit in found.hits[:2]]
    assert levels == [("T#3", "exact"), ("F#1", "near")] or levels == [("T#3", "exact"), ("F#1", "exact")]
    assert found.exact == sum(hit.level == "exact" for hit in found.hits)


def test_words_alone_find_questions_as_before(asked: Memory) -> None:
    assert {hit.citation for hit in asked.search("croissants bakery").hits[:2]} >= {"T#5"}
    assert next(hit.citation for hit in asked.search("Eiffel").hits) == "T#4"
