"""List the memories of this installation, and move one out of the checkout that it lies in."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NamedTuple

import apsw

from store.base.clock import from_ms
from store.base.errors import Conflict, InvalidInput
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
from store.base.state_files import list_known_memories, replace_whole_file, state_folder_error
from store.config.configuration import CONFIG_FILE, grant_config, is_config_granted, read_config_text
from store.conversations.hook_spool import drain_spool
from store.database.database import Database
from store.database.files import reserve_path
from store.exchange.backups import copy_memory, move_backup, tidy_backups
from store.git import is_tracked_by_git
from store.memory import Memory
from store.projects import registry
from store.purge.registry import BESIDE_FOLDERS


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
