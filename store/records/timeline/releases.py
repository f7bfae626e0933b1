"""When the last release was."""

from store.database.database import Database
from store.records.timeline import commits
from store.text.times.versions import newest


def last_release(database: Database) -> str:
    """Return the timestamp of the last release: an event of that type, the end of the last iteration that shipped one,
    or the commit of a version; empty where there is none."""
    at: str | None = database.value(
        "SELECT max(at) FROM (SELECT max(created_at) AS at FROM events WHERE event_type LIKE '%release%'"
        " UNION SELECT max(coalesce(completed_at, started_at)) FROM iterations WHERE command LIKE '%ship%'"
        " OR command LIKE '%release%' OR description LIKE '%release%')"
    )
    return max(at or "", newest(commits.released(database)))
