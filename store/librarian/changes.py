"""What happened to records in the time that a question names, as the history of the memory says it."""

from dataclasses import replace

from store.base.citations import parse
from store.history.happenings import happenings
from store.librarian.question import TIMES, ParsedQuestion
from store.librarian.sources import Source, sources
from store.memory import Memory
from store.search import lookup
from store.search.query.filters import wrote


def changes(memory: Memory, asked: ParsedQuestion, matches: list[Source], number: int) -> tuple[list[Source], int]:
    """Return (the records that changed in the time of a question, each with what happened to it, and the `matches` of
    its filters; how many there are, with all `number` that pass these). What came into a state then, only history
    knows."""
    filters, state = asked.filters, asked.filters.get("is", "")
    states = {state, "correction"} if state == "superseded" and not asked.counts else {state}
    span = {name: memory.typed_moment(filters[name]) for name in TIMES if name in filters}
    told = {
        one.citation: one
        for one in happenings(memory.database, **span)
        if one.kind in filters.get("kind", one.kind).split(",")
        and (states.intersection(one.states) if state else one.says)
        and wrote(one.actor, filters.get("by", ""))
    }
    found = sources(memory.database, lookup.there(memory.database, map(parse, told)))
    found = [replace(one, happened=told[one.citation].says, at=told[one.citation].at) for one in found]
    if state not in ("", "progress"):  # of an iteration history does not know when it began
        return found, len(found)
    others = [one for one in matches if one.citation not in told]
    return [*found, *others], number - len(matches) + len(others) + len(found)
