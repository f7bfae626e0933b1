"""Decide which memory file is opened, and why; nothing else decides it. Creates nothing."""

import os
import stat
import sys
from collections.abc import Mapping

FOLDER = ".memoranda"
FILE = "memory.db"
BACKUPS = "backups"  # the folder of a memory's backups, beside it


class Location:
    """A memory file and the reason it was chosen; `project` is the folder whose memory it is, if it is a project's.

    `kind` is one of `option`, `environment`, `project`, `new-project`, `personal`. With `look` it is read-only, whoever
    owns it: nothing is written, and no setting beside it counts.
    """

    __slots__ = ("kind", "look", "path", "project", "reason")

    def __init__(self, path: str, kind: str, reason: str, project: str | None = None) -> None:
        self.path = path
        self.kind = kind
        self.reason = reason
        self.project = project
        self.look = False

    @property
    def name(self) -> str:
        """The name of this memory on the screen: the project's folder, or `personal`, or the file's own name."""
        if self.kind == "personal":
            return "personal"
        return os.path.basename(self.project or self.path)


def locate(option: str | None, environ: Mapping[str, str], cwd: str) -> Location:
    """Return the memory file for a command run in `cwd` (option, variable, nearest, checkout, personal)."""
    if option:
        return _named(option, cwd, "option", "named by --db")
    variable = environ.get("MEMORANDA_DB")
    if variable:
        return _named(variable, cwd, "environment", "named by $MEMORANDA_DB")
    root = checkout_root(cwd)
    for folder in _upwards(cwd, root):
        path = os.path.join(folder, FOLDER, FILE)
        if _there(path) or kept_backups(path):  # of one that is gone: opening it says so
            return Location(path, "project", f"the nearest {FOLDER}/{FILE}, upwards from here", folder)
    if root:
        path = os.path.join(root, FOLDER, FILE)
        return Location(path, "new-project", "a new memory at the root of this git checkout", root)
    return Location(personal_path(), "personal", "your personal memory: this is no project's folder")


def here(cwd: str) -> Location:
    """Return where `memoranda init` creates a memory: the checkout's root, or the folder itself outside of one."""
    folder = checkout_root(cwd) or os.path.abspath(cwd)
    return Location(os.path.join(folder, FOLDER, FILE), "new-project", "a new memory for this folder", folder)


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


def personal_path() -> str:
    """Return the path of the personal file, in the folder for data that `platformdirs.user_data_path("memoranda")`
    gives, whose import costs a command 10 ms of its 30. It comes from the person's environment alone, never from a
    checkout."""
    if sys.platform == "darwin" or os.name == "nt":
        from platformdirs import user_data_path

        return str(user_data_path("memoranda", appauthor=False) / FILE)
    root = os.environ.get("XDG_DATA_HOME", "").strip()
    if not os.path.isabs(root):
        root = os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(root, "memoranda", FILE)


def is_personal(path: str) -> bool:
    """Return whether the memory at `path` is the personal one."""
    own = personal_path()
    return path == own or os.path.realpath(path) == os.path.realpath(own)


def saved_transcripts() -> str:
    """Return the folder of conversations of other tools that a person saved; it need not exist."""
    return os.path.join(os.path.dirname(personal_path()), "transcripts")


def _named(path: str, cwd: str, kind: str, reason: str) -> Location:
    full = os.path.abspath(os.path.join(cwd, os.path.expanduser(path)))
    folder = os.path.dirname(full)
    if os.path.basename(folder) == FOLDER:
        return Location(full, kind, reason, os.path.dirname(folder))
    return Location(full, kind, reason)


def _upwards(cwd: str, root: str | None) -> list[str]:
    """Return the folders to search: up to the checkout's root; outside of one, as long as this person owns them."""
    folders: list[str] = []
    current = os.path.abspath(cwd)
    while True:
        if root is None and not _own(current):
            return folders
        folders.append(current)
        parent = os.path.dirname(current)
        if current == root or parent == current:
            return folders
        current = parent


def _there(path: str) -> bool:
    """Return whether a memory is there. One without read permission counts: it is reported, not skipped for another."""
    try:
        os.lstat(path)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def kept_backups(path: str) -> list[str]:
    """List the files that may be backups of a memory file, oldest first: nothing empty, no links."""
    folder, start = os.path.join(os.path.dirname(path), BACKUPS), f"{os.path.basename(path).removesuffix('.db')}-"
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


def _own(folder: str) -> bool:
    if not hasattr(os, "getuid"):
        return True
    try:
        return os.stat(folder).st_uid == os.getuid()
    except OSError:
        return False
