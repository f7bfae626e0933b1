"""Discarded text: what no later session needs. It is kept apart for a day, for a person who looks for it, and is never
found by a search or put into a prompt."""

from store.base.clock import DAY_MS, days_before, from_ms, to_ms
from store.database.database import Database, Transaction
from store.database.values import Verbatim

KEPT_DAYS = 1
WHY = {"talk": "a greeting, thanks or the like", "tool": "what a tool wrote"}
LONGEST = 2_000  # characters that are kept of each


def keep(write: Transaction, session: str, role: str, kind: str, text: str, at: str) -> bool:
    """Keep discarded text until a day after it was written; return whether it is kept: an older one is dropped."""
    if at < days_before(write.at, KEPT_DAYS):
        return False
    write.insert("discarded", session=session, role=role, kind=Verbatim(kind), text=text[:LONGEST], at=Verbatim(at))
    return True


def kept(database: Database, now: str, limit: int = -1) -> "list[dict[str, str]]":
    """List the discarded texts, newest first: session, role, kind, `why` it was discarded, text, when it was written
    (`at`) and when it is deleted (`until`)."""
    rows = database.rows(
        "SELECT session, role, kind, text, at FROM discarded WHERE at >= ? ORDER BY at DESC, id DESC LIMIT ?",
        (days_before(now, KEPT_DAYS), limit),
    )
    return [
        {
            "session": session,
            "role": role,
            "kind": kind,
            "why": WHY.get(kind, kind),
            "text": text,
            "at": at,
            "until": from_ms(to_ms(at) + KEPT_DAYS * DAY_MS),
        }
        for session, role, kind, text, at in rows
    ]


def expire(database: Database, now: str) -> int:
    """Delete what is older than a day; return how many."""
    cut = Verbatim(days_before(now, KEPT_DAYS))
    if not database.value("SELECT 1 FROM discarded WHERE at < ? LIMIT 1", (cut,)):
        return 0
    with database.write("agent", "retention") as write:
        write.execute("DELETE FROM discarded WHERE at < ?", (cut,))
        gone: int = database.connection.changes()
        return gone
