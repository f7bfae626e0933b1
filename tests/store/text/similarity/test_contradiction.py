"""What two sentences say of one name."""

import pytest

from store.text.similarity import CONTRADICTS, compare_sentences, parse_sentence


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
