"""A proposal in full."""

import pytest

from store.base.clock import format_local_time
from store.inbox.inbox import InboxChoice
from store.memory import Memory
from tui.render.details import _describe_proposal as describe_proposal
from tui.render.lines import writer_name


def test_it_says_under_which_domain_confidence_and_tags(memory: Memory) -> None:
    change = {"fact": "Invoices are numbered by year", "domain": "work", "confidence": "high", "tags": ["billing"]}
    number = memory.inbox.propose("add", change, origin="mcp:claude")
    lines = describe_proposal(memory, memory.inbox.get(number), memory.database.clock())
    shown = [" ".join("".join(text for text, _ in line).split()) for line in lines]
    assert "As work, high, #billing" in shown


@pytest.mark.parametrize(("verb", "said"), [("accept", ", and F#1 came of it"), ("reject", "")])
def test_it_says_what_came_of_it(memory: Memory, verb: str, said: str) -> None:
    number = memory.inbox.propose("add", {"fact": "Invoices are numbered by year"}, origin="mcp:claude")
    memory.inbox.decide([InboxChoice(number, verb)])
    last = "".join(text for text, _ in describe_proposal(memory, memory.inbox.get(number), memory.now)[-1])
    assert last.split() == f"{verb.capitalize()}ed {format_local_time(memory.now)}{said}".split()


def test_it_says_who_asks_as_the_list_does(memory: Memory) -> None:
    for origin, name in (
        *(("mcp:claude", "claude"), ("duplicates", "Memoranda"), ("import:notes", "import from notes")),
        *(("talk:monday", "monday"), ("talk:e1a8114e-bcb9-4bd4-b3e5-d1d3717c953e", "chat e1a8114e")),
    ):
        number = memory.inbox.propose("add", {"fact": f"Invoices of {name} are numbered by year"}, origin=origin)
        first = describe_proposal(memory, memory.inbox.get(number), memory.database.clock())[0]
        assert "".join(text for text, _ in first) == f"P#{number}  add · from {name}"


@pytest.mark.parametrize("name", ["you", "You", "user", "Memoranda", " you "])
def test_an_agent_is_not_taken_for_the_person_by_its_name(name: str) -> None:
    assert writer_name(f"mcp:{name}") == f"mcp:{name}"
    assert writer_name(f"team:{name} (4f2a)") == f"team:{name} (4f2a)"
    assert writer_name("user") == "you"
