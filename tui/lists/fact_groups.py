"""The facts in the groups of their list: by how much they need a person, or all in one."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from store.base.vocabulary import TASK_STATUS_LABELS
from store.memory import Memory
from tui.lists.filters import Facet, FacetChoice, counted_facet, writer_facet
from tui.lists.record_rows import RowHeading
from tui.lists.view_state import View
from tui.render.lines import FACT_BADGES, KIND_GLYPHS, TASK_GLYPHS
from tui.theme.styles import piece_style

FactGroup = tuple[str, "array[int]"]
"""The need of facts (a key of FACT_NEEDS, REST, or "" for all in one), and their ids."""

GONE_GROUP = "gone"
GONE_STATES = {"superseded": ("superseded", "contradicted"), "forgotten": ("forgotten",)}
"""States of facts that hold no longer, and the statuses in each."""
# need → what `Facts.order` filters by, and why the group stands apart; in the order of the list
FACT_NEEDS: dict[str, tuple[dict[str, Any], str]] = {
    "stale": ({"state": 3}, "too old: agents no longer get them"),
    "low": ({"state": 2}, "weak or old: sent only if they fit well"),
    "aging": ({"state": 1}, "soon too old: confirm while you remember"),
    "pinned": ({"pinned": True}, "never too old"),
    "fresh": ({"state": 0, "pinned": False}, ""),
}
NO_CHANGES: Mapping[str, tuple[int, int]] = {}
LARGEST_SETTLED = 20_000  # facts from which a changed list is not kept in place: comparing orders takes 1 µs a fact


GLOBAL_OFFSET = 1 << 40  # added to the number of a global fact: the keys of the list are numbers of facts


def fact_list_key(kind: str, number: int) -> int:
    """Return the key of a fact, or a global fact, in the list of facts."""
    return number + GLOBAL_OFFSET if kind == "global" else number


def fact_numbers(keys: Sequence[int], kind: str) -> list[int]:
    """Return the numbers of the facts of a kind among the keys of the list."""
    shared = kind == "global"
    return [key - GLOBAL_OFFSET * shared for key in keys if (key >= GLOBAL_OFFSET) is shared]


def count_facts(memory: Memory, now: str) -> dict[str, int]:
    """Count the facts in each state, with the global facts."""
    here, shared = memory.facts.count_by_state(now), memory.globals.count_by_state(now)
    return {name: count + shared.get(name, 0) for name, count in here.items()}


def _fact_order(memory: Memory, now: str, limit: int, **filters: Any) -> array[int]:
    """Return the keys of the facts that match the filters, the project's facts before the global facts; at most
    `limit`, unless it is negative."""
    order = memory.facts.order(now, limit=limit, **filters)
    left = limit if limit < 0 else limit - len(order)
    shared = memory.globals.order(now, limit=left, **filters) if left else ()
    return array("q", [*order, *(number + GLOBAL_OFFSET for number in shared)]) if shared else order


def read_groups(memory: Memory, view: View, now: str, limit: int = -1) -> list[FactGroup]:
    """Return the groups of a view, without empty groups; at most `limit` facts, unless it is negative."""
    filters: dict[str, Any] = {"domain": view.domain, "origin": view.origin, "tag": view.tag, "words": view.words}
    if view.state in GONE_STATES:
        sort = "newest" if view.sort == "need" else view.sort
        order = _fact_order(memory, now, limit, statuses=GONE_STATES[view.state], sort=sort, **filters)
        return [(GONE_GROUP, order)] if order else []
    if view.sort != "need":
        needed = FACT_NEEDS[view.state][0] if view.state else {}
        order = _fact_order(memory, now, limit, statuses=view.statuses, sort=view.sort, **needed, **filters)
        return [("", order)] if order else []
    groups: list[FactGroup] = []
    left = limit
    for need, (condition, _) in FACT_NEEDS.items():
        if view.state in (None, need) and left:
            order = _fact_order(memory, now, left, sort="oldest", **condition, **filters)
            groups.append((need, order))
            left -= len(order) if limit > 0 else 0
    gone = tuple(status for status in view.statuses if status != "active")
    if gone and view.state is None and left:
        groups.append((GONE_GROUP, _fact_order(memory, now, left, statuses=gone, sort="newest", **filters)))
    return [group for group in groups if group[1]]


def split_in_groups(keys: Sequence[int], sizes: Sequence[tuple[str, int]]) -> list[tuple[str, Sequence[int]]]:
    """Return the keys of a list in its groups of (need, size)."""
    groups: list[tuple[str, Sequence[int]]] = []
    first = 0
    for need, size in sizes:
        groups.append((need, keys[first : first + size]))
        first += size
    return groups


def settle_groups(
    before: Sequence[tuple[str, Sequence[int]]], after: Sequence[FactGroup], successors: Mapping[int, int]
) -> list[FactGroup]:
    """Return the groups `after` with every fact where it stood `before`, and a new one where its order puts it.

    `successors` maps a corrected fact to the one that replaces it, which takes its place. So a change moves nothing
    below the cursor until the list is sorted or filtered again."""
    kinds = [need for need, _ in before] + [need for need, _ in after]
    if "" in kinds or sum(len(keys) for _, keys in (*before, *after)) > 2 * LARGEST_SETTLED:
        return list(after)
    present = {key for _, keys in after for key in keys}
    groups: dict[str, list[int]] = {need: [] for need in (*FACT_NEEDS, GONE_GROUP) if need in kinds}
    placed: set[int] = set()
    for need, keys in before:
        for key in keys:
            there = key if key in present else successors.get(key)
            if there in present and there not in placed:
                placed.add(there)
                groups[need].append(there)
    for need, keys in after:
        previous: int | None = None
        for key in keys:
            if key not in placed:
                place = groups[need].index(previous) + 1 if previous in groups[need] else 0
                groups[need].insert(place, key)
            previous = key
    code = "q" if not after or any(keys.typecode == "q" for _, keys in after) else after[0][1].typecode
    return [(need, array(code, keys)) for need, keys in groups.items() if keys]


def changed_groups(shown: Sequence[FactGroup], true: Sequence[FactGroup]) -> dict[str, tuple[int, int]]:
    """Return, for each need, how many facts have it, and how many stand under it that no longer do (`settled`)."""
    if list(shown) == list(true):
        return {}
    having = {need: set(keys) for need, keys in true}
    return {
        need: (len(having.get(need, ())), sum(key not in having.get(need, ()) for key in keys))
        for need, keys in shown
    }


def group_headings(
    sizes: Sequence[tuple[str, int]], changed: Mapping[str, tuple[int, int]] = NO_CHANGES
) -> list[RowHeading]:
    """Return the headings of groups of (need, size): (index of the first fact, name and count, reason). `changed` as
    `changed_groups` gives it: a fact that was confirmed or corrected keeps its place, and is not counted as stale."""
    found: list[RowHeading] = []
    first = 0
    for need, size in sizes:
        if need == GONE_GROUP:
            found.append((first, f"Replaced and forgotten {size:,}", "kept, never sent"))
        elif need:
            having, others = changed.get(need, (size, 0))
            kept = f" + {others:,} changed" if others else ""
            found.append((first, f"{FACT_BADGES[need][1].capitalize()} {having:,}{kept}", FACT_NEEDS[need][1]))
        first += size
    return found


def join_groups(groups: Sequence[FactGroup]) -> array[int]:
    """Return the ids of all groups in the order of the list."""
    code = "q" if any(keys.typecode == "q" for _, keys in groups) else groups[0][1].typecode if groups else "q"
    keys = array(code)
    for _, group in groups:
        keys.extend(group if group.typecode == code else array(code, group))
    return keys


# By what the list of each pane can be narrowed.

STATE_LETTERS = {
    "stale": "s",
    "low": "l",
    "aging": "a",
    "pinned": "p",
    "fresh": "f",
    "superseded": "r",
    "forgotten": "g",
}


def state_facet(found: Mapping[str, int], every: bool = False) -> Facet:
    """Return the states by the counts of the facts; with `every`, those of replaced and forgotten facts too."""
    numbers = {**found, "fresh": found.get("fresh", 0) - found.get("pinned", 0)}
    names = (*FACT_NEEDS, *(GONE_STATES if every else ()))
    return Facet(
        "state",
        "State",
        tuple(
            FacetChoice(
                name,
                FACT_BADGES[name][1].capitalize(),
                number,
                FACT_BADGES[name][0],
                piece_style(f"glyph-{name}"),
                STATE_LETTERS[name],
            )
            for name in names
            if (number := numbers.get(name, 0))
        ),
        found.get("active"),
    )


def _fact_facets(memory: Memory) -> Sequence[Facet]:
    """Count the facts of every choice; takes a second for a million facts."""
    return [
        state_facet(count_facts(memory, memory.now), every=True),
        counted_facet(
            "domain",
            "Domain",
            _count_by_column(memory, "domain"),
        ),
        writer_facet("origin", _count_by_column(memory, "origin")),
        counted_facet("tag", "Tag", memory.facts.tags()),
    ]


def _count_by_column(memory: Memory, column: str) -> list[tuple[str, int]]:
    """Count the active facts by a column, with the global facts; the highest number first."""
    found = dict(memory.database.rows(f"SELECT {column}, count(*) FROM facts WHERE status = 'active' GROUP BY 1"))
    for value, count in memory.globals.tally(column):
        found[value] = found.get(value, 0) + count
    return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))


TIMELINE_WORDS = {
    "decision": "Decisions", "commit": "Commits", "event": "Events", "iteration": "Iterations",
    "checkpoint": "Checkpoints", "summary": "Summaries, not in All",
}  # fmt: skip
SHOWN_APART = "summary"  # shown only if it is chosen, and not among all


def kind_facet(counts: Mapping[str, int]) -> Facet:
    """Return the kinds by the number of entries of each."""
    choices = [
        FacetChoice(kind, word, counts[kind], KIND_GLYPHS[kind], "$text-primary" if kind == "decision" else "$dim")
        for kind, word in TIMELINE_WORDS.items()
        if counts.get(kind)
    ]
    return Facet(
        "kind", "Kind", tuple(choices), sum(count for kind, count in counts.items() if kind != SHOWN_APART)
    )


def _timeline_facets(memory: Memory) -> Sequence[Facet]:
    """Count the entries of every kind."""
    return [kind_facet(memory.timeline.count_kinds())]


def _history_facets(memory: Memory) -> Sequence[Facet]:
    """Count the steps of everybody."""
    return [writer_facet("actor", memory.history.actors())]


def _task_facets(memory: Memory) -> Sequence[Facet]:
    """Count the tasks of every status."""
    counts = dict(memory.database.rows("SELECT status, count(*) FROM tasks GROUP BY status"))
    choices = [
        FacetChoice(status, TASK_STATUS_LABELS[status].capitalize(), counts[status], TASK_GLYPHS[status], "$dim")
        for status in ("in_progress", "pending", "done")
        if counts.get(status)
    ]
    return [Facet("progress", "Status", tuple(choices), sum(counts.values()) - counts.get("done", 0))]


def _inbox_facets(memory: Memory) -> Sequence[Facet]:
    """Count the waiting proposals of everybody."""
    return [writer_facet("asker", memory.inbox.origins())]


PANE_FACETS: Mapping[str, Callable[[Memory], Sequence[Facet]]] = {
    "facts": _fact_facets,
    "timeline": _timeline_facets,
    "history": _history_facets,
    "tasks": _task_facets,
    "inbox": _inbox_facets,
}
