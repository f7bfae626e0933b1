"""Decide which memory file is opened, and why; nothing else decides it. Creates nothing."""

import os
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

MEMORANDA_FOLDER = ".memoranda"
DATABASE_FILE = "memory.db"
BACKUPS_FOLDER = "backups"  # the folder of a memory's backups, beside it


@dataclass(slots=True, eq=False, repr=False)
class Location:
    """A memory file and the reason it was chosen; `project` is the folder whose memory it is, if it is a project's.

    `kind` is one of `option`, `environment`, `project`, `new-project`, `personal`. With `look` it is read-only, whoever
    owns it: nothing is written, and no setting beside it counts.
    """

    path: str
    kind: str
    reason: str
    project: str | None = None
    look: bool = field(init=False, default=False)

    @property
    def display_name(self) -> str:
        """The name of this memory on the screen: the project's folder, or `personal`, or the file's own name."""
        if self.kind == "personal":
            return "personal"
        return os.path.basename(self.project or self.path)


def locate(option: str | None, environ: Mapping[str, str], cwd: str) -> Location:
    """Return the memory file for a command run in `cwd` (option, variable, nearest, checkout, personal)."""
    if option:
        return _locate_named_file(option, cwd, "option", "named by --db")
    variable = environ.get("MEMORANDA_DB")
    if variable:
        return _locate_named_file(variable, cwd, "environment", "named by $MEMORANDA_DB")
    root = checkout_root(cwd)
    for folder in _list_folders_upwards(cwd, root):
        path = os.path.join(folder, MEMORANDA_FOLDER, DATABASE_FILE)
        # of one that is gone: opening it says so
        if _has_memory(path) or list_backup_files(path):
            return Location(
                path, "project", f"the nearest {MEMORANDA_FOLDER}/{DATABASE_FILE}, upwards from here", folder
            )
    if root:
        path = os.path.join(root, MEMORANDA_FOLDER, DATABASE_FILE)
        return Location(path, "new-project", "a new memory at the root of this git checkout", root)
    return Location(personal_memory_path(), "personal", "your personal memory: this is no project's folder")


def locate_new_memory(cwd: str) -> Location:
    """Return where `memoranda open --new` creates a memory: at the checkout's root, or outside of a checkout in the
    folder itself."""
    folder = checkout_root(cwd) or os.path.abspath(cwd)
    return Location(
        os.path.join(folder, MEMORANDA_FOLDER, DATABASE_FILE),
        "new-project",
        "a new memory for this folder",
        folder,
    )


def checkout_root(folder: str) -> str | None:
    """Return the nearest folder upwards that contains `.git` (a folder, or the file of a worktree or submodule)."""
    current = os.path.abspath(folder)
    while True:
        if os.path.exists(os.path.join(current, ".git")):
            return current
        parent = os.path.dirname(current)
        if parent == current:
            return None
        current = parent


def platform_folder(purpose: str) -> str | None:
    """Return the folder that macOS or Windows has for `data`, `config` or `state` of ours; None on other systems, which
    name theirs by variables."""
    if sys.platform != "darwin" and os.name != "nt":
        return None
    import platformdirs  # takes 20 ms, and is needed on these systems alone

    return str(getattr(platformdirs, f"user_{purpose}_path")("memoranda", appauthor=False))


def person_folder(purpose: str, variable: str, *usual: str) -> str:
    """Return this person's folder for a purpose, as `platformdirs` does: below a `variable` that holds a whole path, or
    below the `usual` folder of their home."""
    root = os.environ.get(variable, "").strip()
    if not os.path.isabs(root):
        root = os.path.join(os.path.expanduser("~"), *usual)
    return platform_folder(purpose) or os.path.join(root, "memoranda")


def personal_memory_path() -> str:
    """Return the path of the personal file. It comes from the person's environment alone, never from a checkout."""
    return os.path.join(person_folder("data", "XDG_DATA_HOME", ".local", "share"), DATABASE_FILE)


def is_personal_memory(path: str) -> bool:
    """Return whether the memory at `path` is the personal one."""
    own = personal_memory_path()
    return path == own or os.path.realpath(path) == os.path.realpath(own)


def saved_transcripts_folder() -> str:
    """Return the folder of conversations of other tools that a person saved; it need not exist."""
    return os.path.join(os.path.dirname(personal_memory_path()), "transcripts")


def _locate_named_file(path: str, cwd: str, kind: str, reason: str) -> Location:
    """Return the location of a file that an option or a variable names; its project is the folder around
    `.memoranda`."""
    full = os.path.abspath(os.path.join(cwd, os.path.expanduser(path)))
    folder = os.path.dirname(full)
    if os.path.basename(folder) == MEMORANDA_FOLDER:
        return Location(full, kind, reason, os.path.dirname(folder))
    return Location(full, kind, reason)


def _list_folders_upwards(cwd: str, root: str | None) -> list[str]:
    """Return the folders to search, upwards: to the checkout's root, or outside of a checkout as long as this
    person owns them."""
    folders: list[str] = []
    current = os.path.abspath(cwd)
    while True:
        if root is None and not _is_own_folder(current):
            return folders
        folders.append(current)
        parent = os.path.dirname(current)
        if current == root or parent == current:
            return folders
        current = parent


def _has_memory(path: str) -> bool:
    """Tell whether a memory file exists. A file without read permission counts: it is reported, not skipped."""
    try:
        os.lstat(path)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def list_backup_files(path: str) -> list[str]:
    """List the files that may be backups of a memory file, oldest first: nothing empty, no links."""
    folder, start = (
        os.path.join(os.path.dirname(path), BACKUPS_FOLDER),
        f"{os.path.basename(path).removesuffix('.db')}-",
    )
    found: dict[str, float] = {}
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    for kept in (os.path.join(folder, name) for name in names if name.startswith(start) and name.endswith(".db")):
        try:
            about = os.lstat(kept)
        except OSError:  # another process deleted it meanwhile
            continue
        if stat.S_ISREG(about.st_mode) and about.st_size:
            found[kept] = about.st_mtime
    return sorted(found, key=lambda kept: found[kept])


def _is_own_folder(folder: str) -> bool:
    """Tell whether a folder belongs to this person; True where files have no owner."""
    if not hasattr(os, "getuid"):
        return True
    try:
        return os.stat(folder).st_uid == os.getuid()
    except OSError:
        return False
