"""A proposal in full."""

from store import Memory
from tui.render.details.proposal_detail import describe_proposal


def test_it_says_under_which_domain_confidence_and_tags(memory: Memory) -> None:
    change = {"fact": "Invoices are numbered by year", "domain": "work", "confidence": "high", "tags": ["billing"]}
    number = memory.inbox.propose("add", change, origin="mcp:claude")
    lines = describe_proposal(memory, memory.inbox.get(number), memory.database.clock())
    shown = [" ".join("".join(text for text, _ in line).split()) for line in lines]
    assert "As work, high, #billing" in shown
