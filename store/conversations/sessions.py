"""Sessions: when a conversation began, where it came from, and whether it is over."""

from store.base.citations import cite
from store.base.clock import from_ms, to_ms
from store.base.errors import NotFound
from store.database.database import Database, Transaction
from store.database.values import Verbatim, clean
from store.records.timeline.checkpoint_levels import QUIET_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.base.models import Session

COLUMNS = "s.id, s.started_at, s.ended_at, s.source, s.cwd, s.flushed"
NAMED = 10  # facts listed in the reason of a step
LAST = "(SELECT {} FROM turns t WHERE t.session = s.id ORDER BY t.number DESC LIMIT 1)"


class Sessions:
    """The sessions of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, name: str = "") -> "Session":
        """Return the session of this name, the newest without one. Raise NotFound."""
        from store.conversations.turns import Turns

        wanted = clean(name.strip()) or Turns(self._database).newest_session()
        found = self._read("WHERE s.id = ?", wanted)
        if not found:
            if not wanted:
                raise NotFound("There is no conversation yet.", "Bring a conversation in: memoranda ingest FILE")
            raise NotFound(f"There is no session “{wanted[:60]}”.", "List them: memoranda sessions")
        return found[0]

    def newest(self, limit: int = -1) -> "list[Session]":
        """List sessions: first those without turns, then by their last turn, the newest first."""
        return self._read(f"ORDER BY {LAST.format('t.id')} DESC NULLS FIRST, s.started_at DESC, s.id LIMIT ?", limit)

    def broken_off(self, now: str) -> "list[Session]":
        """List the sessions that are not ended and have no turn for QUIET_MS; by their last turn, the newest first."""
        cut = from_ms(to_ms(now) - QUIET_MS)
        return self._read(
            f"WHERE s.ended_at IS NULL AND coalesce({LAST.format('t.at')}, s.started_at) < ?"
            f" ORDER BY {LAST.format('t.id')} DESC",
            cut,
        )

    def under_way(self, since: str) -> "list[Session]":
        """List the sessions that are not over and have a turn since a moment."""
        return self._read(f"WHERE s.ended_at IS NULL AND {LAST.format('t.at')} >= ?", since)

    def start(self, write: Transaction, name: str, cwd: str) -> None:
        """Record that a session begins, or resumes after its end."""
        write.execute(
            "INSERT INTO sessions(id, started_at, cwd) VALUES (?, ?, ?)"
            " ON CONFLICT(id) DO UPDATE SET ended_at = NULL WHERE ended_at IS NOT NULL",
            (name, Verbatim(write.at), cwd),
        )

    def _read(self, where: str, *parameters: object) -> "list[Session]":
        from store.base.models import Session

        rows = self._database.rows(
            f"SELECT {COLUMNS}, coalesce({LAST.format('t.number')}, 0), coalesce({LAST.format('t.at')}, s.started_at)"
            f" FROM sessions s {where}",
            parameters,
        )
        return [Session(*row) for row in rows]


def end(write: Transaction, name: str, at: str = "") -> None:
    """Record that a session is over, since `at` or now, inside a transaction. Facts whose scope is that session end
    with it: a step of history whose reason lists them, and which can be undone."""
    write.execute("UPDATE sessions SET ended_at = ? WHERE id = ?", (Verbatim(at or write.at), name))
    ended = [
        number
        for (number,) in write.rows(
            "UPDATE facts SET status = 'forgotten' WHERE session = ? AND session <> '' AND scope = 'session'"
            " AND status = 'active' RETURNING id",
            (name,),
        )
    ]
    if ended:
        more = f" +{len(ended) - NAMED}" if len(ended) > NAMED else ""
        write.reason = f"session end {' '.join(cite('fact', number) for number in ended[:NAMED])}{more}"
