"""Whole memories: adopt one that is not ours, list all, move one out of its checkout.

One is adopted as the whole file, unchanged; or its records, as proposals in a memory of our own.

In both cases the file is first checked, read-only and as a whole: SQLite's quick check, and its schema against ours.
"""

import json
import os
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import NamedTuple

import apsw

from store.base.clock import Clock, from_ms, utc_now
from store.base.errors import Conflict, InvalidInput, MemorandaError, NotFound, NotOurs
from store.base.hook_resident import release_memories
from store.base.location import (
    BACKUPS_FOLDER,
    DATABASE_FILE,
    MEMORANDA_FOLDER,
    Location,
    backup_folder,
    is_personal_memory,
    memory_folder_name,
    projects_folder,
)
from store.base.state_files import (
    last_state_problem,
    list_known_memories,
    read_state,
    replace_whole_file,
    state_folder_error,
    write_state,
)
from store.config.configuration import CONFIG_FILE, grant_config, is_config_granted, read_config_text
from store.conversations.hook_spool import drain_spool, has_waiting_lines, sign_waiting_lines
from store.conversion import convert_memory
from store.database.connection import (
    damaged_file_error,
    explain_sqlite_error,
    guard_connection,
    open_for_reading,
)
from store.database.database import Database
from store.database.files import reserve_path
from store.exchange.backups import copy_memory, move_backup, tidy_backups
from store.git.checkout import is_tracked_by_git
from store.inbox.proposals import ProposalQuestion
from store.memory import Memory
from store.projects import registry
from store.projects.locating import locate
from store.purge.registry import BESIDE_FOLDERS
from store.text.display import tilde_path, visible
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
    # what is known to be there is never begun anew; this one is
    location.kind = "new-project" if location.kind == "project" else location.kind
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


# All memories of this installation; moving one out of the checkout that it lies in.


class ListedMemory(NamedTuple):
    """A memory of this installation: its name, its file, the file's bytes (0 where it is gone), when it was written
    last (empty where it is gone), and the folder whose memory it is (empty for none)."""

    name: str
    path: str
    bytes: int
    written: str
    folder: str
    folder_is_there: bool


def list_memories() -> list[ListedMemory]:
    """List the memories of this installation, those of projects first, by name; not their backups."""
    found = {one.path: (one.name, one.folder or _last_folder(one)) for one in registry.list_projects()}
    for known in list_known_memories():
        if os.path.basename(os.path.dirname(known.path)) != BACKUPS_FOLDER and os.path.lexists(known.path):
            name = "personal" if is_personal_memory(known.path) else os.path.basename(known.path)
            found.setdefault(known.path, (name, ""))
    return [
        _describe(name, path, folder) for path, (name, folder) in sorted(found.items(), key=lambda one: one[1])
    ]


def _last_folder(project: registry.Project) -> str:
    return next((place.root for place in reversed(project.places) if place.root), "")


def _describe(name: str, path: str, folder: str) -> ListedMemory:
    size, written = 0, 0.0
    for ending in ("", "-wal"):
        with suppress(OSError):
            about = os.stat(path + ending)
            size, written = size + about.st_size, max(written, about.st_mtime)
    at = from_ms(round(written * 1_000)) if written else ""
    return ListedMemory(name, path, size, at, folder, os.path.isdir(folder))


# The list of recently opened memories: one path a line, newest first, in this installation's state.

RECENT_LIST = "recent"
KEPT_RECENT = 20


def read_recent() -> list[str]:
    """Return the recent memory files that still exist, newest first."""
    return [line for line in read_state(RECENT_LIST).split("\n") if line and os.path.exists(line)]


def add_recent(memory: str) -> None:
    """Move a memory to the front of the recent ones; where the list cannot be written it holds for this process."""
    if "\n" not in memory:
        places = [memory, *(place for place in read_recent() if place != memory)][:KEPT_RECENT]
        write_state(RECENT_LIST, "\n".join(places))


def recent_label(memory: str) -> str:
    """Format a memory for display: the project's name, and its folder with ~ for home."""
    place = locate(memory, {}, "")
    return f"{place.display_name}   {tilde_path(place.project or memory)}"


def memory_line(one: ListedMemory) -> str:
    """Return one line on a memory: its name, its size, when it was written last, where it is, what is amiss."""
    facts = [f"{one.bytes / 1_000_000:.1f} MB", one.written[:16].replace("T", " "), tilde_path(one.path)]
    if not one.bytes:
        facts = ["gone", tilde_path(one.path)]
    if one.folder and not one.folder_is_there:
        facts.append(f"its folder {tilde_path(one.folder)} is gone")
    return visible("  ".join((one.name, *facts)))


def list_place_notes(location: Location) -> list[str]:
    """Return where in the project a folder is, and what else is to be known of its memory."""
    parts = [("worktree", location.worktree), ("branch", location.branch), ("folder", location.folder)]
    said = ", ".join(f"{name} {visible(value)}" for name, value in parts if value)
    return [*([said] if said else []), *(f"Note: {visible(note)}." for note in location.notes)]


def move_memory(location: Location) -> Location:
    """Move a project's memory out of its checkout, to the person's data folder, every row compared; the file as it was
    is kept as a backup. Return its location. Raise InvalidInput where it lies in no checkout, Conflict while another
    program has it open, and StorageError; then nothing was moved."""
    folder = os.path.dirname(location.path)
    if location.kind != "project" or os.path.basename(folder) != MEMORANDA_FOLDER:
        raise InvalidInput(f"The memory {location.path} lies in no checkout.", "There is nothing to move.")
    with Memory(location, "cli", create=False) as memory:
        database = memory.database
        drain_spool(database)
        tidy_backups(database)
        project = registry.read_project(location.project_id)
        if project is None:
            raise state_folder_error()
        path = os.path.join(projects_folder(), memory_folder_name(project.name, project.id), DATABASE_FILE)
        os.makedirs(backup_folder(path), mode=0o700, exist_ok=True)
        _require_alone(database)
        # whoever waits for it meanwhile finds it gone
        database.connection.execute("BEGIN IMMEDIATE")
        copy_memory(database, path, True)
        registry.save_project(project._replace(path=path))
        earlier = backup_folder(location.path)
        with suppress(OSError):
            for name in os.listdir(earlier):
                os.rename(os.path.join(earlier, name), os.path.join(backup_folder(path), name))
            os.removedirs(earlier)
        kept = f"{DATABASE_FILE.removesuffix('.db')}-moved-{memory.now.replace(':', '')}.db"
        move_backup(path, location.path, os.path.join(backup_folder(path), kept))
    _move_settings(folder, os.path.dirname(path))
    location.path = path
    Memory(location, "cli").close()
    return location


def _require_alone(database: Database) -> None:
    """Raise Conflict while another connection has the memory open, one that only reads too: it would go on in the file
    that is left."""
    try:
        alone = database.connection.pragma("journal_mode", "delete") == "delete"
    except apsw.BusyError:
        alone = False
    if not alone:
        raise Conflict(
            "Another program has this memory open, such as the application or an agent's server.",
            "Close it, then say it again; nothing was moved.",
        )
    database.connection.pragma("journal_mode", "wal")


def _move_settings(before: str, folder: str) -> None:
    """Move the person's own settings of a project with its memory, and remove what nothing needs any more."""
    old, new = (os.path.join(one, CONFIG_FILE) for one in (before, folder))
    text = read_config_text(old)
    if text and not os.path.lexists(new) and not is_tracked_by_git(old):
        granted = is_config_granted(old, text)
        with replace_whole_file(new) as file:
            file.write(text.encode())
        if granted:
            grant_config(new, text)
        os.unlink(old)
    left = [f"{DATABASE_FILE}-wal", f"{DATABASE_FILE}-shm", reserve_path(DATABASE_FILE), ".gitignore"]
    with suppress(OSError):
        for name in left:
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(before, name))
        for name in (*BESIDE_FOLDERS, ""):
            with suppress(FileNotFoundError):
                os.rmdir(os.path.join(before, name))
