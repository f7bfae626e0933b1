"""By what the facts can be narrowed: state, domain, who wrote them, tag."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tui.lists.fact_groups import GONE, NEEDS, counts
from tui.lists.filters.facets import Choice, Facet, counted, written_by
from tui.render.badges import FACT_BADGES
from tui.theme.styles import piece_style

if TYPE_CHECKING:
    from store import Memory

LETTERS = {"stale": "s", "low": "l", "aging": "a", "pinned": "p", "fresh": "f", "superseded": "r", "forgotten": "g"}


def states(found: Mapping[str, int], every: bool = False) -> Facet:
    """Return the states by the counts of the facts; with `every`, those of replaced and forgotten facts too."""
    numbers = {**found, "fresh": found.get("fresh", 0) - found.get("pinned", 0)}
    names = (*NEEDS, *(GONE if every else ()))
    return Facet(
        "state",
        "State",
        tuple(
            Choice(
                name,
                FACT_BADGES[name][1].capitalize(),
                number,
                FACT_BADGES[name][0],
                piece_style(f"glyph-{name}"),
                LETTERS[name],
            )
            for name in names
            if (number := numbers.get(name, 0))
        ),
        found.get("active"),
    )


def read(memory: Memory) -> Sequence[Facet]:
    """Count the facts of every choice; takes a second for a million facts."""
    return [
        states(counts(memory, memory.now), every=True),
        counted(
            "domain",
            "Domain",
            _tally(memory, "domain"),
        ),
        written_by("origin", _tally(memory, "origin")),
        counted("tag", "Tag", memory.facts.tags()),
    ]


def _tally(memory: Memory, column: str) -> list[tuple[str, int]]:
    """Count the active facts by a column, the global ones too; most first."""
    found = dict(memory.database.rows(f"SELECT {column}, count(*) FROM facts WHERE status = 'active' GROUP BY 1"))
    for value, count in memory.globals.tally(column):
        found[value] = found.get(value, 0) + count
    return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
