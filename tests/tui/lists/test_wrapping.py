"""Texts on a few lines, and the order of the facts that a change does not disturb."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.lists.fact_groups import changed_groups, group_headings, join_groups, settle_groups, split_in_groups
from tui.lists.record_rows import row_lines, wrap_text

LONG = "Eight threads, two hundred numbers, no gap: tests/test_numbering.py"


@pytest.mark.parametrize(
    ("text", "first", "rest", "most", "lines"),
    [
        ("short", 10, 10, 2, ["short"]),
        ("two words", 5, 10, 2, ["two", "words"]),
        ("two words more", 5, 7, 2, ["two", "words …"]),
        ("two words more", 5, 7, 3, ["two", "words", "more"]),
        ("abcdefghij", 4, 4, 3, ["abcd", "efgh", "ij"]),
        ("日本語日本語", 6, 6, 2, ["日本語", "日本語"]),
        ("", 5, 5, 2, [""]),
    ],
)
def test_a_text_is_wrapped_at_spaces(text: str, first: int, rest: int, most: int, lines: list[str]) -> None:
    assert wrap_text(text, first, rest, most) == lines


@given(text=st.text("ab 日é", max_size=80), first=st.integers(4, 20), rest=st.integers(4, 20), most=st.integers(1, 4))
def test_no_line_is_wider_than_its_room_and_nothing_is_lost(text: str, first: int, rest: int, most: int) -> None:
    lines = wrap_text(text, first, rest, most)
    assert 1 <= len(lines) <= most
    assert cell_len(lines[0]) <= first and all(cell_len(line) <= rest for line in lines[1:])
    if not lines[-1].endswith("…"):
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize("width", [20, 34, 58, 69, 120])
def test_the_note_stands_at_the_right_of_the_first_line(width: int) -> None:
    lines = row_lines([("▲ ", "glyph-stale")], LONG, "title", [("341 d", "dim")], width, second=[("Why not", "dim")])
    texts = ["".join(text for text, _ in line) for line in lines]
    assert all(cell_len(text) <= width for text in texts)
    assert texts[0].startswith("▲ Eight") and texts[0].endswith(" 341 d")
    assert texts[-1] == "  Why not"


def test_without_room_the_note_is_left_out() -> None:
    lines = row_lines([("▲ ", "")], LONG, "", [("a note of many cells", "dim")], 24)
    assert "".join(text for text, _ in lines[0]).startswith("▲ Eight threads, two")


def groups(**found: list[int]) -> list[tuple[str, array[int]]]:
    return [(need, array("q", keys)) for need, keys in found.items()]


@pytest.mark.parametrize(
    ("before", "after", "successors", "expected"),
    [
        # confirmed: it stays among the stale ones
        (
            groups(stale=[1, 2, 3], fresh=[9]),
            groups(stale=[1, 3], fresh=[9, 2]),
            {},
            {"stale": [1, 2, 3], "fresh": [9]},
        ),
        # corrected: the new one takes the old one's place
        (groups(stale=[1, 2, 3]), groups(stale=[1, 3], fresh=[4]), {2: 4}, {"stale": [1, 4, 3]}),
        # forgotten: it goes
        (groups(stale=[1, 2, 3]), groups(stale=[1, 3]), {}, {"stale": [1, 3]}),
        # learned: where its order puts it
        (groups(stale=[1], fresh=[9]), groups(stale=[1], fresh=[9, 10]), {}, {"stale": [1], "fresh": [9, 10]}),
        (groups(stale=[1, 3]), groups(stale=[1, 2, 3]), {}, {"stale": [1, 2, 3]}),
        # brought back by undo
        (groups(stale=[1, 3]), groups(stale=[1, 3], low=[5]), {}, {"stale": [1, 3], "low": [5]}),
    ],
)
def test_a_change_moves_nothing(
    before: list[tuple[str, array[int]]],
    after: list[tuple[str, array[int]]],
    successors: dict[int, int],
    expected: dict[str, list[int]],
) -> None:
    found = settle_groups(before, after, successors)
    assert {need: list(keys) for need, keys in found} == expected
    sizes = [(need, len(keys)) for need, keys in found]
    assert [(need, list(keys)) for need, keys in split_in_groups(join_groups(found), sizes)] == list(expected.items())
    assert [first for first, _, _ in group_headings(sizes)][:1] == [0]


def test_a_fact_that_keeps_its_place_is_not_counted_under_the_state_it_had() -> None:
    true = groups(stale=[1, 3], fresh=[9, 2])
    shown = settle_groups(groups(stale=[1, 2, 3], fresh=[9]), true, {})
    titles = group_headings([(need, len(keys)) for need, keys in shown], changed_groups(shown, true))
    assert [(first, title) for first, title, _ in titles] == [(0, "Stale 2 + 1 changed"), (3, "Fresh 2")]
    assert changed_groups(true, true) == {}
