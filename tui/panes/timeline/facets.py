"""By what the timeline can be narrowed: the kind of its entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tui.lists.filters.facets import Choice, Facet
from tui.render.badges import KIND_GLYPHS

if TYPE_CHECKING:
    from store import Memory

WORDS = {
    "decision": "Decisions", "commit": "Commits", "event": "Events", "iteration": "Iterations",
    "checkpoint": "Checkpoints", "summary": "Summaries, not in All",
}  # fmt: skip
APART = "summary"  # shown only if it is chosen, and not among all


def kinds(counts: Mapping[str, int]) -> Facet:
    """Return the kinds by the number of entries of each."""
    choices = [
        Choice(kind, word, counts[kind], KIND_GLYPHS[kind], "$text-primary" if kind == "decision" else "$dim")
        for kind, word in WORDS.items()
        if counts.get(kind)
    ]
    return Facet("kind", "Kind", tuple(choices), sum(count for kind, count in counts.items() if kind != APART))


def read(memory: Memory) -> Sequence[Facet]:
    """Count the entries of every kind."""
    return [kinds(memory.timeline.counts())]
