"""The filters of a search: those of a query, by what one can be narrowed, and how one that is being typed goes on.

A filter's field is its name with the colon, `is:`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tui.lists.filters.facets import Choice, Facet
from tui.render.badges import KIND_GLYPHS

KIND, IS, BY = "kind:", "is:", "by:"
SAME = {"author:": BY}  # another name for a filter
TIMES = {
    "since:": ("today", "yesterday", "3d", "1w", "1m"),
    "before:": ("today", "yesterday", "1w", "1m", "1y"),
}  # common values, which are not counted
KINDS = {
    "fact": "Facts", "decision": "Decisions", "commit": "Commits", "event": "Events", "iteration": "Iterations",
    "task": "Tasks", "checkpoint": "Checkpoints", "turn": "Turns", "summary": "Conversations", "document": "Documents",
}  # fmt: skip
# what `is:` knows besides: of tasks, iterations, decisions and commits, and of what records rest on; not counted
OTHER_STATES = (
    *("open", "progress", "done", "abandoned", "reverted", "valid", "void", "any"),
    *("holds", "moved", "changed", "gone"),
)
FACT_STATES = ("stale", "low", "aging", "pinned", "superseded", "forgotten")  # of the facets, those that `is:` knows
OFFERED = 6  # completions shown at a time


def filters_of(query: str) -> dict[str, str]:
    """Return the filters of a query: field → value."""
    from store.search.query.query_parser import filters as query_filters

    found: dict[str, str] = {}
    for start, end in query_filters(query):
        name, _, value = query[start:end].partition(":")
        found[SAME.get(f"{name.lower()}:", f"{name.lower()}:")] = value.strip('"')
    return found


def narrowed(query: str, filters: Mapping[str, str]) -> str:
    """Return a query with these filters instead of its own of the same fields; an empty value takes one away."""
    from store.search.query.query_parser import filters as query_filters

    for start, end in reversed(query_filters(query)):
        name = f"{query[start:end].partition(':')[0].lower()}:"
        if SAME.get(name, name) in filters:
            query = f"{query[:start]} {query[end:]}"
    words = [f'{field}"{value}"' if " " in value else f"{field}{value}" for field, value in filters.items() if value]
    return " ".join([*query.split(), *words])


def kinds(counts: Mapping[str, int], counted: bool = True) -> Facet:
    """Return the kinds of what was found; without numbers if not all of it was `counted`."""
    choices = [
        Choice(kind, word, counts[kind] if counted else None, KIND_GLYPHS[kind], "$dim")
        for kind, word in KINDS.items()
        if counts.get(kind)
    ]
    return Facet(KIND, "Kind", tuple(choices), sum(counts.values()) if counted else None)


def of_search(
    facts: Sequence[Facet],
    counts: Mapping[str, int],
    tags: Sequence[tuple[str, int]] = (),
    authors: Sequence[str] = (),
) -> list[Facet]:
    """Return by what a search can be narrowed: by the facets of the facts, the number of records of each kind, the
    `tags` of all kinds, and whoever wrote anything, also the `authors` of commits; how much that is is not counted."""
    fields = {"state": IS, "domain": "domain:", "origin": BY, "tag": "tag:"}
    found = [kinds(counts)]
    for facet in facts:
        choices = facet.choices
        if facet.field == "state":
            choices = tuple(
                one._replace(value=one.word.casefold()) for one in facet.choices if one.value in FACT_STATES
            ) + _uncounted(OTHER_STATES)
        elif facet.field == "tag":
            choices = tuple(Choice(tag, tag, number) for tag, number in tags)
        elif facet.field == "origin":
            wrote = {one.value.casefold() for one in choices}
            choices = tuple(one._replace(number=None) for one in choices)
            choices += _uncounted([name for name in authors if name.casefold() not in wrote])
        found.append(facet._replace(field=fields[facet.field], choices=choices))
    return [*found, *(Facet(field, field[:-1].capitalize(), _uncounted(values)) for field, values in TIMES.items())]


def _uncounted(values: Sequence[str]) -> tuple[Choice, ...]:
    return tuple(Choice(value, value) for value in values)


def completions(query: str, facets: Sequence[Facet]) -> list[tuple[str, int | None]]:
    """Return how the filter at the end of a query may go on, each with the number of records that have it: `is:st` as
    `is:stale`. Empty if the query ends otherwise, or if the filter is complete."""
    typed = re.search(r"(?<!\S)([a-z]+:)(\S*)$", query, re.IGNORECASE)
    if typed is None:
        return []
    name, start = typed[1].lower(), typed[2].casefold()
    facet = next((one for one in facets if one.field == SAME.get(name, name)), None)
    if facet is None:
        return []
    found = [
        (f"{name}{_quoted(one.value)}", one.number)
        for one in facet.choices
        if one.value.casefold().startswith(start) or one.word.casefold().startswith(start)
    ]
    return [] if [text for text, _ in found] == [typed[0]] else found[:OFFERED]


def completed(query: str, text: str) -> str:
    """Return the query with the filter at its end completed."""
    return f"{query[: len(query) - len(query.split()[-1])]}{text} "


def _quoted(value: str) -> str:
    return f'"{value}"' if " " in value else value
