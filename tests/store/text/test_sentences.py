"""Sentences of a text, without what stands in fences of code; and whether a text says anything by itself."""

import pytest
from support.cases import load_cases
from support.tables import each

from store.text.sentences import extract_statements, says_something

CASES = load_cases(__file__)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Before it.\n```\ncode = 1\n```\nAfter it.", ["Before it.", "After it."]),
        ("Before it.\n```\n~~~\ncode = 1\n```\nAfter it.", ["Before it.", "After it."]),
        ("Before it.\n~~~\n```\ncode = 1\n```\n~~~\nAfter it.", ["Before it.", "After it."]),
        ("Before it.\n```\nnever closed.", ["Before it."]),
    ],
)
def test_a_fence_ends_at_its_own_mark(text: str, found: list[str]) -> None:
    assert extract_statements(text) == found


@each("text", CASES["nothing"])
def test_what_says_nothing(text: str) -> None:
    assert not says_something(text)


@each("text", ["peanuts", "ok, Redis", "42", "C++", "日本語", "Anotado: a las nueve", "ñandú", "no " * 40])
def test_what_says_something(text: str) -> None:
    assert says_something(text)
