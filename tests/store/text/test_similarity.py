"""Which questions have an answer that keeps, and which of those that are near in meaning are not the same."""

import pytest
from support.cases import load_cases
from support.tables import each

from store.text.similarity import (
    CONTRADICTS,
    SIMILAR_STATEMENT,
    compare_sentences,
    is_contrary_question,
    is_deterministic,
    may_be_same_question,
    normalize_question,
    parse_sentence,
)

CASES = load_cases(__file__)


@each("question", CASES["keeps"])
def test_what_the_records_alone_decide_keeps(question: str):
    assert is_deterministic(question)


@each("question", (*CASES["passes"], *CASES["feels"], *CASES["lists"], "", "  ", "?!"))
def test_what_depends_on_the_moment_or_on_how_somebody_feels_does_not(question: str):
    assert not is_deterministic(question)


@each("one, other, same", CASES["written"])
def test_what_the_ways_of_writing_one_question_have_in_common(one: str, other: str, same: bool):
    assert (normalize_question(one) == normalize_question(other)) is same


@each("one, other, same", CASES["near"])
def test_what_is_near_in_meaning_is_not_always_the_same(one: str, other: str, same: bool):
    assert may_be_same_question(one, other) is same and may_be_same_question(other, one) is same


@each("one, other", CASES["others"])
def test_the_opposite_is_another_question_however_near_it_is(one: str, other: str):
    for first, second in ((one, other), (other, one)):
        assert not may_be_same_question(first, second) or is_contrary_question(first, second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How do we deploy?", "what is our way of deploying?"),
        ("which cache do we use?", "what cache do we use"),
        ("where does the server listen?", "where do the servers listen?"),
        ("what does the importer refuse?", "which rows are refused by the importer?"),
    ],
)
def test_other_words_for_the_same_are_not_told_apart(one: str, other: str):
    assert may_be_same_question(one, other) and may_be_same_question(other, one)
    assert not is_contrary_question(one, other)


# what two sentences say of one name


@pytest.mark.parametrize(
    ("one", "other", "against"),
    [
        ("The database is Postgres", "The database is Oracle", True),
        ("The database is Postgres", "The database is slow", False),
        ("The database is slow", "The database is Postgres", False),
        ("The database is slow", "The database is large", False),
    ],
)
def test_two_names_exclude_each_other_and_two_qualities_do_not(one: str, other: str, against: bool) -> None:
    assert (compare_sentences(parse_sentence(one), parse_sentence(other), 0.7) == CONTRADICTS) is against


@each(
    "other, says",
    [
        ("The team has 3 members", SIMILAR_STATEMENT),
        ("The team has four members", CONTRADICTS),
        ("The team has 4 members", CONTRADICTS),
    ],
)
def test_a_number_in_words_is_one(other: str, says: str) -> None:
    assert compare_sentences(parse_sentence("The team has three members"), parse_sentence(other), 0.9) == says
