"""The versions of the git repository that a project's memory is in."""

import time

from store.base.location import Location, checkout_root
from store.database.database import Database
from store.git.repository import GitError, Repository
from store.records.timeline import commits
from store.text.times.versions import Releases

PATIENCE = 2.0  # seconds that git has for its tags; then there are none


def repository(location: Location) -> Repository | None:
    """Return the repository that a project's memory is in."""
    root = checkout_root(location.project) if location.project else None
    return Repository(root) if root else None


def releases(database: Database, location: Location) -> Releases:
    """Return the versions of the repository's tags, without a `v` before them; where there are none, those that commits
    release."""
    source = repository(location)
    end = time.monotonic() + PATIENCE
    try:
        tags = source.tags(lambda: time.monotonic() > end) if source is not None else {}
    except GitError:
        tags = {}
    return {name.lower().removeprefix("v"): found for name, found in tags.items()} or commits.released(database)
