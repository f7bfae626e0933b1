"""What waits in the inbox is found by a person who searches, apart from what is known, and by nobody else."""

from __future__ import annotations

import pytest
from support.cases import load_cases
from support.team import Join, join, remote

from store.inbox.proposals import ProposalQuestion
from store.memory import Memory
from store.search.pipeline import search_for_person
from store.search.query_parser import INBOX_NOTE
from store.search.results import EXACT_HIT, NEAR_HIT, SearchAnswer
from store.upkeep.as_of import PastMemory, point_in_time, read_past

CASES = load_cases(__file__)

__all__ = ["join", "remote"]


def propose(memory: Memory, text: str, origin: str = "agent", **change: object) -> int:
    with memory.database.write(origin, "propose") as write:
        asked = ProposalQuestion("add", {"fact": text, "domain": "work", **change}, None, (), origin, "heard")
        return memory.inbox.propose_within(write, asked)[0]


def asked(memory: Memory, query: str, limit: int = 20) -> SearchAnswer:
    return search_for_person(memory.search, memory.database, query, limit, meaning=False)


def waiting(memory: Memory, query: str) -> list[str]:
    return [hit.citation for hit in asked(memory, query).waiting]


@pytest.fixture
def filled(memory: Memory) -> Memory:
    memory.facts.remember("The ledger rounds half up", domain="work")
    propose(memory, "Deploy policies of the ledger are in the handbook", tags=["ops"])
    propose(memory, "La decisión del café la tomó Íñigo", "import:notes", domain="general")
    propose(memory, "Ledger for invoices", "team:Ana", decision={"chosen": "A single table", "rationale": "go slowly"})
    propose(memory, "請求書の締め切りは金曜日です", "team:Ana")
    return memory


@pytest.mark.parametrize(("query", "found"), CASES["queries"])
def test_what_waits_is_found_beside_what_is_known(filled: Memory, query: str, found: list[str]) -> None:
    assert waiting(filled, query) == found
    answer = asked(filled, f"in:inbox {query}")
    if found:
        assert [hit.citation for hit in answer.hits] == found and not answer.waiting and answer.total == len(found)
    assert INBOX_NOTE not in answer.notes


@pytest.mark.parametrize("typed", ["i", "I", "í", "y i"])
def test_the_letter_i_alone_is_looked_for_as_any_other(memory: Memory, typed: str) -> None:
    """It is what a search for invoices begins with; of a longer stem the last `i` may be a `y`."""
    assert search_for_person(memory.search, memory.database, typed, typing=True).waiting == []
    propose(memory, "The ledger is on paper")
    propose(memory, "Go slowly")
    found = search_for_person(memory.search, memory.database, typed, typing=True).waiting
    assert [hit.citation for hit in found] == ["P#1"]


def test_a_hit_says_who_proposed_it_and_which_words_it_has(filled: Memory) -> None:
    first, second = asked(filled, "ledger handbook").waiting
    assert (first.level, second.level) == (EXACT_HIT, NEAR_HIT) and first.kind == "proposal"
    assert [first.snippet[start:end] for start, end in first.marks] == ["ledger", "handbook"]
    assert asked(filled, "in:inbox").total == 4
    (note,) = asked(filled, "in:inbox is:pinned").notes
    assert note == "in:inbox goes with kind:fact, kind:decision, domain:, tag:, by:, since:, before:"


def test_what_was_decided_or_proposed_meanwhile_is_known_at_once(filled: Memory) -> None:
    assert waiting(filled, "ledger") == ["P#3", "P#1"]
    filled.inbox.accept(1)
    assert waiting(filled, "ledger") == ["P#3"]
    propose(filled, "The ledger has no holidays")
    assert waiting(filled, "ledger") == ["P#5", "P#3"]
    answer = asked(filled, "ledger", limit=1)
    assert [hit.citation for hit in answer.waiting] == ["P#5"] and answer.waits == 2


def test_in_the_past_it_is_found_as_it_waited(filled: Memory) -> None:
    then = filled.now
    filled.inbox.accept(1)
    propose(filled, "The ledger has no holidays")
    with PastMemory(filled.location, "cli", read_past(filled, point_in_time(filled, then))) as past:
        assert waiting(past, "ledger") == ["P#3", "P#1"]


def test_what_was_purged_is_not_found(filled: Memory) -> None:
    assert waiting(filled, "ledger") == ["P#3", "P#1"]
    filled.purge.run_plan(filled.purge.plan([("proposal", 3)]))
    assert waiting(filled, "ledger") == ["P#1"] and waiting(filled, "table") == []


def test_no_other_search_finds_it(filled: Memory) -> None:
    plain = filled.search("in:inbox ledger", meaning=False)
    assert not plain.hits and not plain.waiting and plain.notes == [INBOX_NOTE]
    assert not filled.search.count_by_kind("in:inbox ledger")
    found = filled.search("ledger single table handbook", meaning=False)
    assert {hit.kind for hit in found.hits} == {"fact"} and not found.waiting


def test_what_a_teammate_shared_is_found_before_it_is_accepted(join: Join) -> None:
    """With who shared it, in no answer to an agent."""
    ana, bob = join("ana"), join("bob")
    ana.remember("Invoices leave on the fifth")
    ana.sync()
    bob.sync()
    (hit,) = search_for_person(bob.memory.search, bob.memory.database, "invoices").waiting
    assert getattr(hit.record, "origin", "").startswith("team:ana (")
    assert not bob.memory.search("invoices").hits
    bob.decide("accept")
    answer = search_for_person(bob.memory.search, bob.memory.database, "invoices")
    assert [found.kind for found in answer.hits] == ["fact"] and not answer.waiting
