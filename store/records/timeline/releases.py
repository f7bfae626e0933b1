"""Versions of a project and when each was released, as the tags of its git repository or the records say."""

import os
import time

from store.base.location import FOLDER, checkout_root
from store.database.database import Database
from store.git.repository import GitError, Repository
from store.records.timeline import commits
from store.text.times.versions import Releases, newest, release_of

PATIENCE = 2.0  # seconds that git has for its tags; then there are none


def repository(database: Database) -> Repository | None:
    """Return the repository that a project's memory is in."""
    folder, name = os.path.split(os.path.dirname(database.path))
    root = checkout_root(folder) if name == FOLDER else None
    return Repository(root) if root else None


def releases(database: Database) -> Releases:
    """Return the versions of the repository's tags up to now, without a `v` before them; where there are none, those
    that commits release."""
    source = repository(database)
    end, now = time.monotonic() + PATIENCE, database.clock()
    try:
        tags = source.tags(lambda: time.monotonic() > end) if source is not None else {}
    except GitError:
        tags = {}
    known = {name.lower().removeprefix("v"): at for name, at in tags.items() if at <= now}
    return known or commits.released(database)


def released(database: Database, name: str = "") -> str:
    """Return the timestamp of a version or a tag, of the last release without a name; empty where it is not known."""
    return release_of(name, releases(database)) if name else last_release(database)


def last_release(database: Database) -> str:
    """Return the timestamp of the last release: an event of that type, the end of the last iteration that shipped one,
    or the commit of a version; empty where there is none."""
    at: str | None = database.value(
        "SELECT max(at) FROM (SELECT max(created_at) AS at FROM events WHERE event_type LIKE '%release%'"
        " UNION SELECT max(coalesce(completed_at, started_at)) FROM iterations WHERE command LIKE '%ship%'"
        " OR command LIKE '%release%' OR description LIKE '%release%')"
    )
    return max(at or "", newest(releases(database)))
