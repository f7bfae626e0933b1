"""Questions for the last or the first of something: the words are searched for, and the date decides."""

from __future__ import annotations

import pytest
from conftest import Clock
from support.cases import load_cases
from support.filled import own_memory, share_memory
from support.tables import each

from store.librarian.librarian import Librarian
from store.librarian.question import parse_question
from store.memory import Memory

CASES = load_cases(__file__)

# as in the history of a public web framework, the oldest first
COMMITS = (
    ("Add a changelog for the first beta", "Armin"),
    ("Preparing for release", "Armin"),
    ("Started work on blueprint based template loading", "Armin"),
    ("release version 1.0", "David"),
    ("Fix typo in the docs", "Grey"),
    ("Bump Werkzeug to 2.3.7", "pgjones"),
    ("Merge blueprints after the last release", "David"),
    ("release version 1.1", "David"),
    ("fix typo", "David"),
    ("remove Werkzeug host tests", "David"),
    ("Split the app and its blueprints\n\nNothing of the changelog or of a release is touched.", "pgjones"),
    ("pre-commit: add codespell", "Christian"),
)


def fill_history(memory: Memory, clock: Clock) -> None:
    """A commit every 30 days from 17 October 2025 on, numbered from 1."""
    clock.advance(days=-400)
    for number, (message, author) in enumerate(COMMITS, 1):
        memory.commits.log(f"{number:x}" * 40, message=message, author=author)
        clock.advance(days=30)


shared, history = share_memory(fill_history), own_memory(fill_history)


@each("question, first", CASES["dated"])
def test_the_date_decides_which_was_the_last_or_the_first(shared: Memory, question: str, first: str) -> None:
    answer = Librarian(shared).ask(question)
    assert answer.citations[0] == first and answer.exact
    assert {hit.citation for hit in shared.search(answer.filter).hits} >= set(answer.citations)


def test_more_than_one_search_returns_are_compared(memory: Memory, clock: Clock) -> None:
    clock.advance(days=-500)
    for number in range(260):
        memory.commits.log(f"{number + 1:07x}{0:033x}", message=f"release {number} of the parser", author="Ana")
        clock.advance(days=1)
    assert memory.commits.log("f" * 40, message="A release of the parser that nobody asked for", author="Ana")
    assert Librarian(memory).ask("when was the last release of the parser?").citations[0] == "C#fffffff"
    assert Librarian(memory).ask("when was the first release of the parser?").citations[0] == "C#0000001"


def test_what_a_person_stated_comes_before_dates(history: Memory) -> None:
    history.facts.remember("The last release was 1.2, made by hand")
    assert Librarian(history).ask("when was the last release?").citations[0] == "F#1"


def test_what_is_called_the_first_comes_before_what_is_older(history: Memory, clock: Clock) -> None:
    history.commits.log("b7" * 20, message="Add a table of customers", author="Ana")
    clock.advance(days=1)
    history.facts.remember("The first customer was Vetalia")
    assert Librarian(history).ask("who was the first customer?").citations == ("F#1",)


def test_what_happened_comes_before_what_was_said(history: Memory) -> None:
    history.facts.remember("A release is made on Fridays")
    history.turns.add_turns("talk", [("user", "the release waits for Grey", "")])
    assert Librarian(history).ask("when was the last release?").citations[0] == "C#8888888"


@pytest.mark.parametrize("question", ["why was the last release delayed?", "which tests ran after the last release?"])
def test_a_last_that_is_no_date_is_searched_for(shared: Memory, question: str) -> None:
    assert not parse_question(question, shared).lists


def test_where_no_record_says_it_the_nearest_are_shown(shared: Memory) -> None:
    answer = Librarian(shared).ask("when was the last migration of the warehouse?")
    assert answer.nothing or not answer.exact


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("which releases were there in May 2026?", "C#8888888"),
        ("what did we change in the blueprints in April 2026?", "C#7777777"),
        ("¿qué se hizo con la release en mayo de 2026?", "C#8888888"),
    ],
)
def test_a_time_in_a_question_is_where_its_words_are_looked_for(shared: Memory, question: str, first: str) -> None:
    answer = Librarian(shared).ask(question)
    assert answer.citations[0] == first and answer.exact


def test_a_number_that_is_not_counted_is_not_answered_by_a_record(shared: Memory) -> None:
    answer = Librarian(shared).ask("how many releases were there in January 2026?")
    assert answer.citations[0] == "C#4444444" and not answer.exact


def test_a_time_that_a_record_names_itself_comes_first(history: Memory) -> None:
    history.facts.remember("The budget for the release of March 2026 was 900 euros")
    assert Librarian(history).ask("what was the budget for the release of March 2026?").citations[0] == "F#1"


def test_what_is_asked_to_be_shown_need_not_name_its_kind(shared: Memory) -> None:
    for question in (
        "show me the commits about codespell",
        "list all commits on codespell",
        "mostrame los commits de codespell",
    ):
        answer = Librarian(shared).ask(question)
        assert answer.citations == ("C#ccccccc",) and answer.exact


def test_what_git_reverted_was_reverted(history: Memory) -> None:
    assert Librarian(history).ask("what was reverted?").nothing
    message = 'Revert "pre-commit: add codespell"\n\nThis reverts commit ccccccc.'
    history.commits.log("d" * 40, message=message, author="Ana")
    history.commits.log("e" * 40, message="Reverting the docs is not needed", author="Ana")
    answer = Librarian(history).ask("what was reverted?")
    assert answer.citations == ("C#ddddddd",) and answer.filter == "is:reverted"


def test_a_merged_pull_request_is_quoted_once(history: Memory) -> None:
    history.commits.log("a1" * 20, message="release version 1.2", author="David")
    history.commits.log("a2" * 20, message="release version 1.2 (#5924)", author="David")
    for question in ("when was the last release?", "release version 1.2"):
        cited = Librarian(history).ask(question).citations
        assert len({"C#a1a1a1a", "C#a2a2a2a"} & set(cited)) == 1, question
