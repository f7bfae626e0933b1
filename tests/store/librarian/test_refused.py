"""What is said where nothing answers: the nearest are listed as such, and nothing is claimed that a record denies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Clock
from support.cases import load_cases

from store.librarian.answer import LibrarianAnswer
from store.librarian.librarian import Librarian
from store.memory import Memory
from store.upkeep.background_embedding import embed_waiting

CASES = load_cases(__file__)


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A small memory whose texts have vectors."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMORANDA_WITHOUT", "agent")
        path: Path = tmp_path_factory.mktemp("ferry") / ".memoranda" / "memory.db"
        clock = Clock()
        with Memory.open(str(path), "cli", clock) as memory:
            for text in CASES["facts"]:
                memory.facts.remember(text)
            memory.tasks.add_task("renew the mooring contract")
            memory.decisions.decide("Paint the hull", "blue")
            clock.advance(days=1)
        with Memory.open(str(path), "cli", clock) as memory:
            embed_waiting(memory)
            yield memory


def ask(memory: Memory, question: str) -> LibrarianAnswer:
    return Librarian(memory).ask(question)


@pytest.mark.parametrize(("question", "nothing", "near"), CASES["another_time"])
def test_what_passes_at_another_time_is_nearest(memory: Memory, question: str, nothing: str, near: str) -> None:
    memory.tasks.add_task("renew the mooring contract")
    memory.decisions.decide("Paint the hull", "blue")
    answer = ask(memory, question)
    assert answer.nothing and answer.text == nothing and answer.filter
    assert answer.near is not None and answer.near.citations == (near,)


@pytest.mark.parametrize("question", CASES["nearest"])
def test_the_nearest_are_listed_where_no_word_occurs(ferry: Memory, question: str) -> None:
    """As they are where a word does; a search does not show them."""
    answer = ask(ferry, question)
    assert not ferry.search(question).nearest or not answer.nothing
    assert not answer.nothing or (answer.near is not None and 1 <= len(answer.near.citations) <= 3)


def test_where_nothing_came_near_nothing_is_listed(memory: Memory) -> None:
    """Without vectors and a word in common."""
    memory.facts.remember("The ferry leaves Colonia at eight")
    answer = ask(memory, "who works at the customs desk?")
    assert answer.nothing and answer.near is None


def test_a_count_of_nothing_stays_a_count(memory: Memory) -> None:
    memory.tasks.add_task("renew the mooring contract")
    answer = ask(memory, "how many tasks were added in 2019?")
    assert answer.text.startswith("0 tasks: none matches") and not answer.nothing


@pytest.mark.parametrize(
    "language, question, head", [(language, *row) for language in ("spanish", "english") for row in CASES[language]]
)
def test_most_words_of_the_question_raise_no_doubt(memory: Memory, language: str, question: str, head: str) -> None:
    for text in CASES["pier"][language]:
        memory.facts.remember(text)
    answer = ask(memory, question)
    assert answer.text.startswith(head) and not answer.exact


def test_no_answer_by_rule_claims_that_no_record_says_it(memory: Memory) -> None:
    memory.facts.remember(CASES["pier"]["spanish"][0])
    memory.facts.remember("La hora se ve en la torre")
    for question in ("¿a qué hora cierra el muelle?", "¿la torre del muelle?", "muelle torre hora"):
        assert "Ningún registro dice" not in ask(memory, question).text
