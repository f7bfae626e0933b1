"""A proposal in full, as lines: what is asked, by whom and why, its evidence, and what it would stand beside."""

from store.citations import cite
from store.clock import local_time
from store.memory import Memory
from store.models import Proposal
from tui.compare import LABEL, Line


def describe_proposal(memory: Memory, proposal: Proposal, now: str) -> list[Line]:
    """What a person needs to decide."""
    lines: list[Line] = [
        [(proposal.citation, "own"), (f"  proposal · {proposal.kind} · {proposal.state}", "dim")],
        [(proposal.text, "title")],
        [],
        [("Asked".ljust(LABEL), "label"), (local_time(proposal.created_at), "")],
        [("From".ljust(LABEL), "label"), (proposal.origin, "")],
    ]
    if proposal.target is not None:
        lines.append([("About".ljust(LABEL), "label"), (cite("fact", proposal.target), "cite")])
    return lines
