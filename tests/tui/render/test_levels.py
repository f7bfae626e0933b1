"""Headings of what a search found."""

from store import Memory
from tui.render.levels import grouped


def test_each_level_counts_all_of_its_records_not_only_those_shown(memory: Memory) -> None:
    for number in range(6):
        memory.facts.remember(f"The nightly backup {number} is kept")
        memory.facts.remember(f"A backup of shard {number} goes to Madrid")
    answer = memory.search("nightly backup", limit=8)
    assert (answer.total, answer.exact) == (12, 6)
    assert [(heading, len(hits)) for heading, hits in grouped(answer)] == [("Exact 6", 6), ("Near 6", 2)]
