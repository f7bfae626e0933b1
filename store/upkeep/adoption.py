"""Adopt a memory that is not ours: the whole file unchanged; or its records, as proposals in a memory of our own.

In both cases the file is first checked, read-only and as a whole: SQLite's quick check, and its schema against ours.
"""

import json
import os
from contextlib import closing
from dataclasses import dataclass

import apsw

from store.base.clock import Clock, utc_now
from store.base.errors import MemorandaError, NotFound, NotOurs
from store.base.hook_resident import release_memories
from store.base.location import MEMORANDA_FOLDER, Location
from store.base.state_files import last_state_problem
from store.conversations.hook_spool import has_waiting_lines, sign_waiting_lines
from store.conversion import convert_memory
from store.database.connection import (
    damaged_file_error,
    explain_sqlite_error,
    guard_connection,
    open_for_reading,
)
from store.database.database import Database
from store.git import is_tracked_by_git
from store.inbox.proposals import ProposalQuestion
from store.memory import Memory
from store.trust.ownership import Trust, register_ownership, require_trust

ASIDE_SUFFIX = "from-elsewhere"
TRACKED_WARNING = (
    f"git tracks {MEMORANDA_FOLDER} here, and the next commit would publish what you add to it: "
    f"`git rm -r --cached {MEMORANDA_FOLDER}` and a commit end that."
)
_FACTS = (
    "SELECT CAST(fact AS TEXT), CAST(domain AS TEXT), CAST(tags AS TEXT) "
    "FROM facts WHERE status = 'active' ORDER BY id"
)
_DECISIONS = "SELECT title, chosen FROM decisions WHERE status = 'active' ORDER BY id"


@dataclass(slots=True, eq=False, repr=False)
class AdoptionResult:
    """Result: `spooled` lines that were adopted with a memory taken `whole`; else how many `proposals` wait, how many
    records were `left` out because they cannot be proposed, and where the file is now (`aside`). `trouble` is why it
    holds for this process alone. `tracked`: git tracks the memory's place, so that the next commit would publish what
    is added."""

    whole: bool
    tracked: bool
    spooled: int = 0
    proposals: int = 0
    left: int = 0
    aside: str = ""
    trouble: str = ""

    @property
    def warning(self) -> str:
        """Return the warning about git; empty if there is none."""
        return TRACKED_WARNING if self.tracked else ""

    def as_dict(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in sorted(self.__slots__)}


class _AnyOwner(Trust):
    """Opens a file that is not ours yet; one of an earlier build is converted."""

    def admit(self, connection: apsw.Connection) -> None:
        """Admit any: a person says that it is theirs."""


def check_foreign_file(path: str) -> None:
    """Run SQLite's quick check on a file that is only read. Raise DamagedFile or StorageError."""
    try:
        with closing(open_for_reading(path, look=True)) as connection:
            guard_connection(connection)
            sound = connection.execute("PRAGMA quick_check(1)").get == "ok"
    except apsw.Error as error:
        raise explain_sqlite_error(error, path) from None
    if not sound:
        raise damaged_file_error(path, "is damaged.")


def examine_ownership(location: Location) -> tuple[bool | None, str]:
    """Return whether a memory belongs to this installation (None if unknown), and the sentence that says so."""
    try:
        require_trust(location.path)
        if os.path.getsize(location.path):
            Database(
                location.path, "cli", create=False, look=True, trust=Trust(location.path), convert=convert_memory
            ).close()
    except NotOurs as error:
        return False, str(error)
    except (MemorandaError, OSError) as error:
        return None, str(error)
    return True, "It is yours: this installation made or adopted it."


def is_unmarked(location: Location) -> bool:
    """Tell whether a memory has no mark of an installation, as an earlier version made it."""
    try:
        require_trust(location.path)
    except NotOurs as error:
        return error.unmarked
    return False


def adopt_whole(location: Location, clock: Clock = utc_now, earlier: bool = False) -> AdoptionResult:
    """Adopt the memory unchanged, with a new identity; with `earlier` it is the person's own, made before identities
    existed, and its spooled lines are imported too. Raise NotFound, DamagedFile, ForeignFile or StorageError."""
    _check_before_adoption(location)
    with closing(
        Database(location.path, "cli", clock, create=False, trust=_AnyOwner(location.path), convert=convert_memory)
    ) as database:
        database.refuse_unwritable()
        kept = register_ownership(database.connection, location.path, os.urandom(16).hex())
    taken = sign_waiting_lines(location.path) if earlier and has_waiting_lines(location.path) else 0
    return AdoptionResult(
        True,
        is_tracked_by_git(location.path) is True,
        spooled=taken,
        trouble="" if kept else last_state_problem(),
    )


def adopt_as_proposals(location: Location, clock: Clock = utc_now) -> AdoptionResult:
    """Move the file aside with everything beside it, and propose each of its active facts and decisions in the inbox of
    a new memory. Raise NotFound, DamagedFile, ForeignFile or StorageError."""
    _check_before_adoption(location)
    source = "-".join(location.display_name.split())[:60]
    origin = f"import:{source}"
    with closing(Database(location.path, "cli", clock, create=False, look=True, convert=convert_memory)) as there:
        asked = [
            ProposalQuestion(
                "add", {"fact": fact, "domain": domain, "tags": _parse_foreign_tags(tags)}, origin=origin
            )
            for fact, domain, tags in there.rows(_FACTS)
        ]
        asked += [
            ProposalQuestion("add", {"fact": f"{title}: {chosen}", "domain": "decisions"}, origin=origin)
            for title, chosen in there.rows(_DECISIONS)
        ]
    aside = _move_aside(location)
    numbers: set[int] = set()
    left = 0
    with Memory(location, "cli", clock) as memory, memory.database.write(origin, "propose") as write:
        for question in asked:
            try:
                numbers.add(memory.inbox.propose_within(write, question)[0])
            except MemorandaError:  # a stranger's row may contain anything; it raises before it writes
                left += 1
    return AdoptionResult(
        False, is_tracked_by_git(location.path) is True, proposals=len(numbers), left=left, aside=aside
    )


def _check_before_adoption(location: Location) -> None:
    """Check a file, read-only, before it is adopted. Raise NotFound, DamagedFile, ForeignFile or StorageError."""
    if not os.path.lexists(location.path):
        raise NotFound(f"There is no memory at {location.path}.", "memoranda open --new starts one.")
    Database(location.path, "cli", create=False, look=True, convert=convert_memory).close()
    check_foreign_file(location.path)


def _parse_foreign_tags(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return []
    return [tag for tag in found if isinstance(tag, str)] if isinstance(found, list) else []


def _move_aside(location: Location) -> str:
    """Move a memory, with its folder if that is its own, to a free name beside it; return the file's new path."""
    release_memories()
    folder, name = os.path.split(location.path)
    if os.path.basename(folder) == MEMORANDA_FOLDER:
        there = _free_path(f"{folder}-{ASIDE_SUFFIX}")
        os.rename(folder, there)
        ignored = os.path.join(there, ".gitignore")
        if not os.path.lexists(ignored):
            with open(ignored, "x", encoding="ascii") as file:
                file.write("*\n")
        return os.path.join(there, name)
    stem, ending = os.path.splitext(location.path)
    there = _free_path(f"{stem}-{ASIDE_SUFFIX}{ending}")
    for part in ("", "-wal", "-shm", "-journal"):
        if os.path.lexists(location.path + part):
            os.rename(location.path + part, there + part)
    return there


def _free_path(path: str) -> str:
    """Return the path, or the path with the lowest number at which nothing is there yet."""
    stem, ending = os.path.splitext(path) if not os.path.basename(path).startswith(".") else (path, "")
    number = 1
    while os.path.lexists(found := f"{stem}{f'-{number}' if number > 1 else ''}{ending}"):
        number += 1
    return found
