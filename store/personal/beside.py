"""The person's own memory, opened beside a project's.

Its path comes from the person's environment (`location.personal_path`), never from a project. It is opened when it is
first asked for, with the checks of any memory, and closed with the project's."""

import os

from store.base.errors import MemorandaError, NotFound, StorageError
from store.base.file_stamp import file_stamp
from store.base.location import Location, is_personal, personal_path
from store.conversion import convert
from store.database.database import Database
from store.trust import ownership

REASON = "your personal memory"


def beside(database: Database) -> Database | None:
    """Return the person's own memory; None where there is none, where `database` is it, shows a moment of the past or
    somebody else's memory, or where it cannot be opened, which `trouble` then says."""
    other = database.beside
    if other is not None and not other.replaced():
        return other
    if other is not None:
        other.close()
        database.beside = None
    path = personal_path()
    if not os.path.lexists(path) or database.look or database.moment or is_personal(database.path):
        return None
    stamp = file_stamp(path)
    known = database.caches.get("beside")
    if known is not None and known[0] == stamp:
        return None
    try:
        return _opened(database, path, create=False)
    except MemorandaError as error:
        database.caches["beside"] = (stamp, str(error))
        return None


def needed(database: Database) -> Database:
    """Return the person's own memory, to be written to; create it if it is missing. `database` itself if it is the
    person's own. Raise MemorandaError where it cannot be opened or written."""
    if is_personal(database.path):
        return database
    database.refuse_unwritable()
    try:
        other = existing(database)
    except NotFound:
        other = _opened(database, personal_path(), create=True)
    other.refuse_unwritable()
    return other


def existing(database: Database) -> Database:
    """Return the person's own memory; `database` itself if it is that. Raise NotFound or StorageError."""
    if is_personal(database.path):
        return database
    if (other := beside(database)) is not None:
        return other
    if why := trouble(database):
        raise StorageError(f"Your personal memory cannot be used: {why}", "Nothing was changed.")
    raise NotFound("You have no personal memory yet.", 'Make it: memoranda remember --scope global "I write Spanish".')


def trouble(database: Database) -> str:
    """Return why the person's own memory could not be opened when it was last asked for; empty if it could."""
    known = database.caches.get("beside")
    return known[1] if known is not None and database.beside is None else ""


def location() -> Location:
    """Return where the person's own memory is."""
    return Location(personal_path(), "personal", REASON)


def _opened(database: Database, path: str, create: bool) -> Database:
    ours = ownership.Trust(path, ownership.require(path))
    database.beside = Database(path, database.door, database.clock, create, trust=ours, convert=convert)
    database.caches.pop("beside", None)
    return database.beside
