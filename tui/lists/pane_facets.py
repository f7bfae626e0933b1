"""By what the list of each pane can be narrowed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from store.base.vocabulary import TASK_WORDS
from tui.lists.fact_groups import GONE, NEEDS, counts
from tui.lists.filters.facets import Choice, Facet, counted, written_by
from tui.render.badges import FACT_BADGES, KIND_GLYPHS, TASK_GLYPHS
from tui.theme.styles import piece_style

if TYPE_CHECKING:
    from store.memory import Memory

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


def _facts(memory: Memory) -> Sequence[Facet]:
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


ENTRIES = {
    "decision": "Decisions", "commit": "Commits", "event": "Events", "iteration": "Iterations",
    "checkpoint": "Checkpoints", "summary": "Summaries, not in All",
}  # fmt: skip
APART = "summary"  # shown only if it is chosen, and not among all


def kinds(counts: Mapping[str, int]) -> Facet:
    """Return the kinds by the number of entries of each."""
    choices = [
        Choice(kind, word, counts[kind], KIND_GLYPHS[kind], "$text-primary" if kind == "decision" else "$dim")
        for kind, word in ENTRIES.items()
        if counts.get(kind)
    ]
    return Facet("kind", "Kind", tuple(choices), sum(count for kind, count in counts.items() if kind != APART))


def _timeline(memory: Memory) -> Sequence[Facet]:
    """Count the entries of every kind."""
    return [kinds(memory.timeline.counts())]


def _history(memory: Memory) -> Sequence[Facet]:
    """Count the steps of everybody."""
    return [written_by("actor", memory.history.actors())]


def _tasks(memory: Memory) -> Sequence[Facet]:
    """Count the tasks of every status."""
    counts = dict(memory.database.rows("SELECT status, count(*) FROM tasks GROUP BY status"))
    choices = [
        Choice(status, TASK_WORDS[status].capitalize(), counts[status], TASK_GLYPHS[status], "$dim")
        for status in ("in_progress", "pending", "done")
        if counts.get(status)
    ]
    return [Facet("progress", "Status", tuple(choices), sum(counts.values()) - counts.get("done", 0))]


def _inbox(memory: Memory) -> Sequence[Facet]:
    """Count the waiting proposals of everybody."""
    return [written_by("asker", memory.inbox.origins())]


FACETS: Mapping[str, Callable[[Memory], Sequence[Facet]]] = {
    "facts": _facts,
    "timeline": _timeline,
    "history": _history,
    "tasks": _tasks,
    "inbox": _inbox,
}
