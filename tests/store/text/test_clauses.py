"""Sentences of a text, without what stands in fences of code."""

import pytest

from store.text.sentences import extract_statements


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
