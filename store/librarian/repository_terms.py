"""What a question asks of the git repository: the versions, the commits of a path, merges, when authors wrote."""

import time
from collections.abc import Callable
from typing import TypeVar

from store.base.cancelling import Cancelled
from store.base.location import Location, checkout_root
from store.database.database import Database
from store.git.repository import GitError, Repository
from store.records.timeline import commits
from store.text.times.versions import Releases

Found = TypeVar("Found")
BY_TAG = "The version's tag is on this commit, or its first line releases it."
PATIENCE = 2.0  # seconds that git has for what it must read the whole history for; then it has said nothing


def repository(location: Location) -> Repository | None:
    """Return the repository that a project's memory is in."""
    root = checkout_root(location.project) if location.project else None
    return Repository(root) if root else None


def note(path: str, named: bool, late: bool) -> str:
    """Return what a filter of the search bar has no word for, of commits that git `named`, by a path or as merges, or
    that were written in its time and committed `late`."""
    if late:
        return "Written then, and committed on the days named here, to which the filter goes."
    of = f"the commits that touch {path}" if path else "the merges"
    return f"Of these only {of}, as git says; the filter has no word for that." if named else ""


def releases(database: Database, source: Repository | None) -> Releases:
    """Return the versions of the repository's tags, without a `v` before them; where there are none, those that commits
    release."""
    tags = _git(Repository.tags, source) or {}
    return {name.lower().removeprefix("v"): found for name, found in tags.items()} or commits.released(database)


def touching(source: Repository | None, name: str = "") -> tuple[str, ...]:
    """Return the shas of the commits that touched a path; without one, of the merges."""
    return tuple(_git(lambda git, cancelled: git.touching(name, cancelled), source) or ())


def written(source: Repository | None, since: str, before: str) -> list[str]:
    """Return the shas of the commits that their authors wrote in a time."""
    times = _git(Repository.written, source) or {}
    return [sha for sha, at in times.items() if since <= at and (not before or at < before)]


def _git(read: Callable[[Repository, Cancelled], Found], source: Repository | None) -> Found | None:
    """Return what git says; None where it cannot, and nothing where it takes too long."""
    end = time.monotonic() + PATIENCE
    try:
        return read(source, lambda: time.monotonic() > end) if source is not None else None
    except GitError:
        return None
