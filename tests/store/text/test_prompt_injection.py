"""An order to whatever reads a text is told from words about orders."""

import pytest
from support.cases import bench_cases, load_cases
from support.tables import each

from store.text.fence import is_order_to_reader, is_suspicious

CASES = load_cases(__file__)


@each("text", CASES["orders"])
def test_an_order_and_hidden_characters(text: str) -> None:
    assert is_order_to_reader(text)


@each("text", CASES["about_orders"])
def test_words_about_orders_are_none(text: str) -> None:
    assert not is_order_to_reader(text)


@each("text", CASES["innocent"])
def test_manuals_release_notes_commits_and_requests_are_no_orders(text: str) -> None:
    assert not is_suspicious(text)


@each("text", CASES["suspicious"])
def test_what_resembles_them_or_orders_an_agent_about_is_one(text: str) -> None:
    assert is_suspicious(text)


@pytest.mark.parametrize("half", ["dev", "held"])
def test_nine_of_ten_are_found_and_two_of_a_hundred_others_at_most(half: str) -> None:
    rows = [row for row in bench_cases("orders") if row["half"] == half]
    found = {order: [is_suspicious(row["text"]) for row in rows if row["order"] is order] for order in (True, False)}
    assert sum(found[True]) / len(found[True]) >= 0.9
    assert sum(found[False]) / len(found[False]) <= 0.02
