"""What happened to records in a span of time, as history says it: for people, not to be undone."""

from typing import NamedTuple

from store.base.citations import parse
from store.database.database import Database
from store.history.change_summary import happened
from store.history.history import History
from store.history.restore_plan import PlannedChange, Plans

# state → the column of a record in it, and the value there
_STATES = {
    "forgotten": ("status", "forgotten"),
    "superseded": ("status", "superseded"),
    "pinned": ("pinned", 1),
    "done": ("status", "done"),
    "progress": ("status", "in_progress"),
}


class Happening(NamedTuple):
    """What `actor` did last to a record in that time. `says` is what happened, as in `change_summary.happened`, or
    `linked` to a commit; empty where the record came to be. `states` are those that it came into; of what a fact was
    corrected to, `correction`."""

    citation: str
    kind: str
    actor: str
    at: str
    says: str
    states: tuple[str, ...]


def happenings(database: Database, since: str = "", before: str = "") -> list[Happening]:
    """Return what happened to the facts, decisions and tasks that exist after a span of time and differ from what they
    were before it, newest first."""
    history = History(database)
    end = history.before(before) if before else database.value("SELECT max(seq) FROM history") or 0
    changes = Plans(database).between(history.before(since) if since else 0, end).changes
    kinds = ("fact", "decision", "task", "link")
    return [_happening(change) for change in changes if change.kind in kinds and change.now]


def _happening(change: PlannedChange) -> Happening:
    then, now = change.then or {}, change.now or {}
    citation = change.citation.split()[-1]  # of a link its decision
    states = [state for state, (column, value) in _STATES.items() if now.get(column) == value != then.get(column)]
    if change.kind == "fact" and not then and now["supersedes"]:
        states.append("correction")
    says = "linked" if change.kind == "link" else happened(then, now) if then else ""
    actor, at = (change.by.actor, change.by.at) if change.by else ("", "")
    return Happening(citation, parse(citation).kind, actor, at, says, tuple(states))
