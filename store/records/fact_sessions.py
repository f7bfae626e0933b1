"""The session of a fact with the scope `session`."""

from store.base.clock import from_ms, to_ms
from store.base.errors import Conflict, NotFound
from store.base.vocabulary import TALK
from store.database.database import Database, Transaction
from store.database.values import clean


def session_of(write: Transaction, named: str) -> str:
    """Return the session for a fact of that scope: the one that is named, else that of the conversation it is from,
    else the one that is open; empty if none is. Raise NotFound or Conflict."""
    name = clean(named.strip())
    if name:
        over = write.execute("SELECT ended_at IS NOT NULL FROM sessions WHERE id = ?", (name,)).get
        if over is None:
            raise NotFound(f"There is no session “{name[:60]}”.", f"Start it: memoranda sessions start {name[:60]}")
        if over:
            raise Conflict(f"Session “{name[:60]}” is over.", "Leave the scope out: then it is the project's.")
        return name
    if write.actor.startswith(TALK):
        return write.actor.removeprefix(TALK)
    return open_session(write.database, write.at)


def open_session(database: Database, now: str) -> str:
    """Return the open session: of those that are not over one without turns, or else the one with the last turn; empty
    if there is none."""
    from store.records.timeline.checkpoint_levels import QUIET_MS

    last = "(SELECT {} FROM turns t WHERE t.session = s.id ORDER BY t.number DESC LIMIT 1)"
    found: str | None = database.value(
        f"SELECT s.id FROM sessions s WHERE s.ended_at IS NULL AND coalesce({last.format('t.at')}, s.started_at) >= ?"
        f" ORDER BY {last.format('t.id')} DESC NULLS FIRST, s.started_at DESC, s.id LIMIT 1",
        (from_ms(to_ms(now) - QUIET_MS),),
    )
    return found or ""
