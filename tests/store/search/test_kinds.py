"""How many records of each kind a search finds, also where it shows the first of them alone."""

from __future__ import annotations

import pytest
from conftest import Clock
from support.filled import share_memory

from store.memory import Memory


def fill(memory: Memory, clock: Clock) -> None:
    for number in range(150):
        memory.facts.remember(f"The ledger keeps entry {number}", domain="work" if number % 3 else "projects")
    for number in range(4):
        memory.decisions.decide(f"Ledger {number}", "kept")
    memory.facts.forget([1, 2])


filled = share_memory(fill)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("ledger", {"fact": 148, "decision": 4}),
        ("ledger domain:projects", {"fact": 49}),
        ("led", {"fact": 148, "decision": 4}),
        ('"keeps entry"', {"fact": 148}),
        ("ledger is:forgotten", {"fact": 2}),
        ("kind:decision", {"decision": 4}),
        ("zebra", {}),
    ],
)
def test_each_kind_is_counted_as_the_search_counts(filled: Memory, query: str, expected: dict[str, int]) -> None:
    assert filled.search.count_by_kind(query) == expected
    answer = filled.search(query, limit=3, meaning=False, typing=True)
    assert answer.total == sum(expected.values()) and len(answer.hits) == min(3, answer.total)


def test_what_is_related_is_not_counted(filled: Memory) -> None:
    assert filled.search.count_by_kind("related:F#3") == {}


def test_filters_alone_say_how_many_they_hide(memory: Memory) -> None:
    first = memory.decisions.decide("Store invoices in PostgreSQL", "PostgreSQL")
    memory.decisions.decide("Store invoices in a file", "SQLite", supersedes=first)
    memory.facts.remember("The team is five")
    found = {query: memory.search(query) for query in ("kind:decision", "kind:decision is:replaced", "kind:fact")}
    assert [(one.total, one.left_out) for one in found.values()] == [(1, 1), (1, 0), (1, 0)]
