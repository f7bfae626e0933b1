"""Where a memory is, and this person's folders."""

import os
import stat
import sys
from dataclasses import dataclass, field
from hashlib import sha256

from store.base.errors import MemorandaError

MEMORANDA_FOLDER = ".memoranda"
DATABASE_FILE = "memory.db"
# the folder of a memory's backups, beside it
BACKUPS_FOLDER = "backups"


@dataclass(slots=True, eq=False, repr=False)
class Location:
    """A memory file and the reason it was chosen; `project` is the folder whose memory it is, if it is a project's.

    `kind` is one of `option`, `environment`, `project`, `new-project`, `personal`; or `ask`, `refuse`, `off`, where
    there is no memory, and opening it raises the `problem`. With `look` it is read-only, whoever owns it: nothing is
    written, and no setting beside it counts. `project_id` is the id under which this installation knows the project,
    `place` its (common git directory, root, folder below that). `branch`, `worktree` and `folder` say where in the
    project it was asked for, `git` is the git directory of that checkout; `strays` are memories that earlier builds
    began in its linked worktrees.
    """

    path: str
    kind: str
    reason: str
    project: str | None = None
    look: bool = field(init=False, default=False)
    problem: MemorandaError | None = field(init=False, default=None)
    project_id: str = field(init=False, default="")
    place: tuple[str, str, str] = field(init=False, default=("", "", ""))
    notes: list[str] = field(init=False, default_factory=list)
    branch: str = field(init=False, default="")
    worktree: str = field(init=False, default="")
    folder: str = field(init=False, default="")
    git: str = field(init=False, default="")
    strays: list[str] = field(init=False, default_factory=list)

    @property
    def display_name(self) -> str:
        """The name of this memory on the screen: the project's folder, or `personal`, or the file's own name."""
        if self.kind == "personal":
            return "personal"
        return os.path.basename(self.project or self.path)

    @property
    def where(self) -> str:
        """Which memory it is, in words that follow "in": `shop (worktree feat, branch feat)`; as it is in the names of
        folders."""
        if self.kind == "personal":
            return self.reason
        parts = [
            f"{name} {value}" for name, value in (("worktree", self.worktree), ("branch", self.branch)) if value
        ]
        return f"{self.display_name} ({', '.join(parts)})" if parts else self.display_name

    def as_dict(self) -> dict[str, object]:
        """Return which memory it is, for scripts and tools."""
        names = {"name": "display_name", "id": "project_id", "path": "path", "why": "reason"}
        names |= {"branch": "branch", "worktree": "worktree"}
        return {key: getattr(self, name) for key, name in names.items()}


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
    # takes 20 ms, and is needed on these systems alone
    import platformdirs

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


def data_folder() -> str:
    """Return the folder of this person's memories; it need not exist."""
    return os.path.dirname(personal_memory_path())


def is_personal_memory(path: str) -> bool:
    """Return whether the memory at `path` is the personal one."""
    own = personal_memory_path()
    return path == own or os.path.realpath(path) == os.path.realpath(own)


def saved_transcripts_folder() -> str:
    """Return the folder of conversations of other tools that a person saved; it need not exist."""
    return os.path.join(data_folder(), "transcripts")


def projects_folder() -> str:
    """Return the folder of the memories of projects, each in a folder of its own; it need not exist."""
    return os.path.join(data_folder(), "projects")


def memory_folder_name(name: str, id: str) -> str:
    """Return the name of a project's folder in `projects_folder`."""
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
    return f"{plain[:40]}-{id[:6]}"


def is_project_folder(folder: str) -> bool:
    """Return whether a folder is that of one memory, a project's: a `.memoranda`, or one in `projects_folder`."""
    return os.path.basename(folder) == MEMORANDA_FOLDER or os.path.dirname(folder) == projects_folder()


def backup_folder(path: str) -> str:
    """Return the folder of the backups of a memory file, which may not exist: beside it; of one in a checkout, with
    which they would be removed, in `projects_folder`."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.basename(folder) == MEMORANDA_FOLDER:
        id = sha256(os.path.realpath(path).encode("utf-8", "surrogateescape")).hexdigest()
        name = os.path.basename(os.path.dirname(folder)).encode("utf-8", "replace").decode()
        folder = os.path.join(projects_folder(), memory_folder_name(name, id))
    return os.path.join(folder, BACKUPS_FOLDER)


def list_backup_files(path: str) -> list[str]:
    """List the files that may be backups of a memory file, oldest first: nothing empty, no links."""
    start = f"{os.path.basename(path).removesuffix('.db')}-"
    found: dict[str, float] = {}
    for folder in {backup_folder(path), os.path.join(os.path.dirname(path), BACKUPS_FOLDER)}:
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for name in names:
            if not (name.startswith(start) and name.endswith(".db")):
                continue
            kept = os.path.join(folder, name)
            try:
                about = os.lstat(kept)
            except OSError:
                # another process deleted it meanwhile
                continue
            if stat.S_ISREG(about.st_mode) and about.st_size:
                found[kept] = about.st_mtime
    return sorted(found, key=lambda kept: found[kept])


def is_own_folder(folder: str) -> bool:
    """Tell whether a folder belongs to this person; True where files have no owner."""
    if not hasattr(os, "getuid"):
        return True
    try:
        return os.stat(folder).st_uid == os.getuid()
    except OSError:
        return False
