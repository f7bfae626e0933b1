"""Headings of what a search found."""

import pytest

from store.memory import Memory
from tui.render.search_results import group_hits, none_exact_words


def test_each_level_counts_all_of_its_records_not_only_those_shown(memory: Memory) -> None:
    for number in range(6):
        memory.facts.remember(f"The nightly backup {number} is kept")
        memory.facts.remember(f"A backup of shard {number} goes to Madrid")
    answer = memory.search("nightly backup", limit=8)
    assert (answer.total, answer.exact) == (12, 6)
    groups = group_hits("nightly backup", answer)
    assert [(heading, len(hits)) for heading, hits in groups] == [("Exact 6", 6), ("Near 6", 2)]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("backup", ""),
        ("kind:fact", ""),
        ("*", "“*” holds no letter or digit to look for."),
        ("kind:fact (", ""),
        ("kind:task (", "“(” holds no letter or digit to look for."),
        ("🚒", "No record contains “🚒”."),
        ("周刊", "No record contains “周刊”."),
        ("kind:task backup", "No record that passes the filters contains “backup”."),  # a fact does
        ("in:code nightly", "No record that passes the filters contains “nightly”."),
    ],
)
def test_an_empty_answer_says_whether_there_was_anything_to_look_for(memory: Memory, query: str, says: str) -> None:
    memory.facts.remember("The nightly backup is kept")
    assert none_exact_words(query, memory.search(query)) == says
