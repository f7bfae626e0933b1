"""Clocks, parts of a day, dates in figures and short lengths, as people type them in either language."""

import pytest
from support.cases import load_cases
from support.tables import each

from store.base.errors import InvalidInput
from store.text.dates import parse_typed_moment

CASES = load_cases(__file__)
NOW = "2026-11-27T15:00:00.000Z"  # a Friday


@each("text, moment", [pair for table in CASES["read"].values() for pair in table.items()])
def test_a_time_is_read_as_people_type_it(text: str, moment: str) -> None:
    assert parse_typed_moment(text, NOW)[:16] == moment
    assert parse_typed_moment(text.upper(), NOW)[:16] == moment


TWO_WAYS = dict.fromkeys(("03/04/2026", "3-4-2026", "since 3/4/2026 18:00"), "two ways: 2026-04-03 and 2026-03-04")


@each("text, says", [*((text, "2026-11-01") for text in CASES["refused"]), *TWO_WAYS.items()])
def test_what_is_not_understood_whole_or_in_two_ways_is_refused_and_not_guessed(text: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        parse_typed_moment(text, NOW)


def test_a_release_that_is_called_like_a_date_is_the_release() -> None:
    known = {"2026.11.20": "2026-11-21T10:00:00.000Z"}
    assert parse_typed_moment("2026.11.20", NOW, lambda name: known.get(name, "")) == known["2026.11.20"]
    assert parse_typed_moment("2026.11.19", NOW, lambda name: known.get(name, ""))[:16] == "2026-11-19T00:00"
