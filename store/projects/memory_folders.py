"""Read the memory folders, `.memoranda`, that count at a folder."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from store.base.location import DATABASE_FILE, MEMORANDA_FOLDER, is_own_folder, list_backup_files
from store.git.checkout import Checkout, folders_above
from store.projects.registry import ID_FILE, read_folder_mark

MEMORY, MARKED, ONLY_BACKUPS, EMPTY = "memory", "marked", "backups", "empty"


class MemoryFolder(NamedTuple):
    """A `.memoranda` in a folder. `state` is MEMORY, MARKED (it holds no memory, but the `id` of one), ONLY_BACKUPS or
    EMPTY; or empty, and `problem` says why it cannot be used."""

    folder: str
    state: str = ""
    problem: str = ""
    id: str = ""


def list_memory_folders(start: str, checkout: Checkout | None) -> tuple[list[MemoryFolder], list[MemoryFolder]]:
    """Return the memory folders that count at a folder, the nearest first, and those in a linked worktree, which do
    not: there the ones of the main checkout count, at the same place."""
    top = checkout.root if checkout is not None else ""
    here = _memory_folders(start, top)
    if checkout is None or checkout.kind != "worktree":
        return here, []
    if not checkout.main:
        return [], here
    same = os.path.normpath(os.path.join(checkout.main, os.path.relpath(start, checkout.root)))
    return _memory_folders(same, checkout.main), here


def _memory_folders(start: str, top: str) -> list[MemoryFolder]:
    """Return the memory folders from a folder up to `top`; without one as long as this person owns the folders."""
    found = []
    for folder in folders_above(start):
        if not top and not is_own_folder(folder):
            break
        if (one := read_memory_folder(folder)) is not None:
            found.append(one)
        if folder == top:
            break
    return found


def read_memory_folder(folder: str) -> MemoryFolder | None:
    """Return what the `.memoranda` of a folder is; None where there is none."""
    path = os.path.join(folder, MEMORANDA_FOLDER)
    try:
        mode = os.lstat(path).st_mode
    except PermissionError:
        return MemoryFolder(folder, problem=f"{folder} cannot be read")
    except OSError:
        return None
    if stat.S_ISLNK(mode):
        return MemoryFolder(folder, problem=f"{path} is a symbolic link")
    if not stat.S_ISDIR(mode):
        return MemoryFolder(folder, problem=f"{path} is no folder")
    file = os.path.join(path, DATABASE_FILE)
    try:
        names = os.listdir(path)
    except OSError as error:
        return MemoryFolder(folder, problem=f"{path} cannot be read: {error.strerror}")
    if DATABASE_FILE in names:
        return MemoryFolder(folder, MEMORY)
    if ID_FILE in names:
        if id := read_folder_mark(folder):
            return MemoryFolder(folder, MARKED, id=id)
        return MemoryFolder(folder, problem=f"{os.path.join(path, ID_FILE)} names no memory of this installation")
    return MemoryFolder(folder, ONLY_BACKUPS if list_backup_files(file) else EMPTY)
