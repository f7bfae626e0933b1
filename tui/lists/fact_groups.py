"""The facts in the groups of their list: by how much they need a person, or all in one."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tui.render.badges import FACT_BADGES

if TYPE_CHECKING:
    from store.memory import Memory
    from tui.lists.record_rows import Heading
    from tui.lists.view_state import View

Group = tuple[str, "array[int]"]
"""The need of facts (a key of NEEDS, REST, or "" for all in one), and their ids."""

REST = "gone"
GONE = {"superseded": ("superseded", "contradicted"), "forgotten": ("forgotten",)}
"""States of facts that hold no longer, and the statuses in each."""
# need → what `Facts.order` filters by, and why the group stands apart; in the order of the list
NEEDS: dict[str, tuple[dict[str, Any], str]] = {
    "stale": ({"state": 3}, "too old: agents no longer get them"),
    "low": ({"state": 2}, "weak or old: sent only if they fit well"),
    "aging": ({"state": 1}, "soon too old: confirm while you remember"),
    "pinned": ({"pinned": True}, "never too old"),
    "fresh": ({"state": 0, "pinned": False}, ""),
}
NOTHING: Mapping[str, tuple[int, int]] = {}
LARGEST = 20_000  # facts from which a changed list is not kept in place: comparing orders takes 1 µs a fact


GLOBAL = 1 << 40  # added to the number of a global fact: the keys of the list are numbers of facts


def list_key(kind: str, number: int) -> int:
    """Return the key of a fact, or a global fact, in the list of facts."""
    return number + GLOBAL if kind == "global" else number


def numbers(keys: Sequence[int], kind: str) -> list[int]:
    """Return the numbers of the facts of one kind among the keys of the list."""
    shared = kind == "global"
    return [key - GLOBAL * shared for key in keys if (key >= GLOBAL) is shared]


def counts(memory: Memory, now: str) -> dict[str, int]:
    """Count the facts in each state, as `Facts.counts`, with the global ones."""
    here, shared = memory.facts.counts(now), memory.globals.counts(now)
    return {name: count + shared.get(name, 0) for name, count in here.items()}


def _order(memory: Memory, now: str, limit: int, **filters: Any) -> array[int]:
    """Return the keys of the facts that match the filters, those of the project before the global ones; at most `limit`
    if that is not negative."""
    order = memory.facts.order(now, limit=limit, **filters)
    left = limit if limit < 0 else limit - len(order)
    shared = memory.globals.order(now, limit=left, **filters) if left else ()
    return array("q", [*order, *(number + GLOBAL for number in shared)]) if shared else order


def read(memory: Memory, view: View, now: str, limit: int = -1) -> list[Group]:
    """Return the groups of a view, without empty ones; at most `limit` facts if that is not negative."""
    filters: dict[str, Any] = {"domain": view.domain, "origin": view.origin, "tag": view.tag, "words": view.words}
    if view.state in GONE:
        sort = "newest" if view.sort == "need" else view.sort
        order = _order(memory, now, limit, statuses=GONE[view.state], sort=sort, **filters)
        return [(REST, order)] if order else []
    if view.sort != "need":
        needed = NEEDS[view.state][0] if view.state else {}
        order = _order(memory, now, limit, statuses=view.statuses, sort=view.sort, **needed, **filters)
        return [("", order)] if order else []
    groups: list[Group] = []
    left = limit
    for need, (condition, _) in NEEDS.items():
        if view.state in (None, need) and left:
            order = _order(memory, now, left, sort="oldest", **condition, **filters)
            groups.append((need, order))
            left -= len(order) if limit > 0 else 0
    gone = tuple(status for status in view.statuses if status != "active")
    if gone and view.state is None and left:
        groups.append((REST, _order(memory, now, left, statuses=gone, sort="newest", **filters)))
    return [group for group in groups if group[1]]


def parted(keys: Sequence[int], sizes: Sequence[tuple[str, int]]) -> list[tuple[str, Sequence[int]]]:
    """Return the keys of a list in its groups of (need, size)."""
    groups: list[tuple[str, Sequence[int]]] = []
    first = 0
    for need, size in sizes:
        groups.append((need, keys[first : first + size]))
        first += size
    return groups


def settled(
    before: Sequence[tuple[str, Sequence[int]]], after: Sequence[Group], successors: Mapping[int, int]
) -> list[Group]:
    """Return the groups `after` with every fact where it stood `before`, and a new one where its order puts it.

    `successors` maps a corrected fact to the one that replaces it, which takes its place. So a change moves nothing
    below the cursor until the list is sorted or filtered again."""
    kinds = [need for need, _ in before] + [need for need, _ in after]
    if "" in kinds or sum(len(keys) for _, keys in (*before, *after)) > 2 * LARGEST:
        return list(after)
    present = {key for _, keys in after for key in keys}
    groups: dict[str, list[int]] = {need: [] for need in (*NEEDS, REST) if need in kinds}
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


def changed_since(shown: Sequence[Group], true: Sequence[Group]) -> dict[str, tuple[int, int]]:
    """Return, for each need, how many facts have it, and how many stand under it that no longer do (`settled`)."""
    if list(shown) == list(true):
        return {}
    having = {need: set(keys) for need, keys in true}
    return {
        need: (len(having.get(need, ())), sum(key not in having.get(need, ()) for key in keys)) for need, keys in shown
    }


def headings(sizes: Sequence[tuple[str, int]], changed: Mapping[str, tuple[int, int]] = NOTHING) -> list[Heading]:
    """Return the headings of groups of (need, size): (index of the first fact, name and count, reason). `changed` as
    `changed_since` gives it: a fact that was confirmed or corrected keeps its place, and is not counted as stale."""
    found: list[Heading] = []
    first = 0
    for need, size in sizes:
        if need == REST:
            found.append((first, f"Replaced and forgotten {size:,}", "kept, never sent"))
        elif need:
            having, others = changed.get(need, (size, 0))
            kept = f" + {others:,} changed" if others else ""
            found.append((first, f"{FACT_BADGES[need][1].capitalize()} {having:,}{kept}", NEEDS[need][1]))
        first += size
    return found


def joined(groups: Sequence[Group]) -> array[int]:
    """Return the ids of all groups in the order of the list."""
    code = "q" if any(keys.typecode == "q" for _, keys in groups) else groups[0][1].typecode if groups else "q"
    keys = array(code)
    for _, group in groups:
        keys.extend(group if group.typecode == code else array(code, group))
    return keys
