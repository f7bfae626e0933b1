"""What this installation knows of projects, outside of every checkout: where each has its memory, what the person chose
for a folder, which memory a session began with.

Each entry is a small private file of the state folder. A repository bears a mark that only this installation reads, a
line in its common git directory, which moves with it; a mark is never the only proof."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple

from store.base.location import MEMORANDA_FOLDER
from store.base.state_files import delete_state, list_state_names, read_state, state_age, write_state
from store.git.checkout import read_own_line

INSTALLATION = "installation"
PROJECTS, PLACES, CHOICES, SESSIONS = "projects", "places", "choices", "sessions"
MARK_PREFIX = "memoranda-"
# in the `.memoranda` of a folder without git
ID_FILE = "id"
# first commits and addresses that are kept of a project
MOST_KEPT = 20
# a session that nobody used since is forgotten
DAY_SECONDS = 86_400
SESSION_SECONDS = 30 * DAY_SECONDS
OWN, OUTER, PERSONAL, OFF = "own", "outer", "personal", "off"
"""What a person can choose for a folder, besides the id of a project."""


class Place(NamedTuple):
    """Where a project is: its common git directory (empty without git), its root, and the folder below it whose memory
    it is (empty for the whole)."""

    common: str = ""
    root: str = ""
    folder: str = ""

    @property
    def keys(self) -> list[str]:
        """The names under which the place is found: by its git directory, and by its root."""
        named = [f"git\0{self.common}\0{self.folder}"] if self.common else []
        return [*named, f"root\0{self.root}\0{self.folder}"] if self.root else named


class Project(NamedTuple):
    """A memory that is the person's, at `path`; its `commits` are the first ones of its history."""

    id: str
    name: str
    path: str
    places: tuple[Place, ...] = ()
    commits: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()

    @property
    def folder(self) -> str | None:
        """Its folder that was noted last and is there; None if none is, or it has none."""
        folders = [os.path.join(place.root, place.folder).rstrip("/") for place in self.places if place.root]
        return next((folder for folder in reversed(folders) if os.path.isdir(folder)), None)

    def is_in(self, common: str) -> bool:
        """Tell whether the project is in the repository with this common git directory."""
        return any(common == place.common for place in self.places)


class Choices(NamedTuple):
    """What was chosen for folders of a repository, or of a folder without git; `place` is the common git directory
    that was marked for them, where there is no memory yet."""

    place: str = ""
    folders: dict[str, str] = {}  # noqa: RUF012  never changed


def installation_name() -> str:
    """Return the name of this installation, eight hexadecimal digits, made at its first use."""
    if not (found := read_state(INSTALLATION)):
        write_state(INSTALLATION, os.urandom(4).hex(), once=True)
        found = read_state(INSTALLATION)
    return found


def list_marks() -> list[str]:
    """List the files with which this installation marked repositories and folders."""
    chosen = (_parse_choices(read_state(name)).place for name in list_state_names(CHOICES))
    known = [place for project in list_projects() for place in project.places]
    commons = filter(None, (*(one.common for one in known), *chosen))
    paths = {_mark_path(common, read_state(INSTALLATION)) for common in commons}
    paths |= {_folder_mark_path(one.root) for one in known if read_folder_mark(one.root)}
    return sorted(path for path in paths if os.path.lexists(path))


# projects


def read_project(id: str) -> Project | None:
    """Return a project by its id; None if there is none."""
    if not id or "/" in id or not (text := read_state(os.path.join(PROJECTS, id))):
        return None
    try:
        name, path, places, commits, addresses = json.loads(text)
        return Project(id, name, path, tuple(Place(*one) for one in places), tuple(commits), tuple(addresses))
    except (ValueError, TypeError):
        return None


def list_projects() -> Iterator[Project]:
    """Yield all projects."""
    for name in list_state_names(PROJECTS):
        if (found := read_project(os.path.basename(name))) is not None:
            yield found


def find_project_at(place: Place) -> Project | None:
    """Return the project of a place, by its common git directory or else by its root."""
    for key in place.keys:
        found = read_project(read_state(_hashed(PLACES, key)))
        # the place may have become another project's since
        if found is not None and any(key in one.keys for one in found.places):
            return found
    return None


def find_project_of(path: str) -> Project | None:
    """Return the project whose memory the file at `path` is."""
    found = read_project(read_state(_hashed(PLACES, f"memory\0{path}")))
    return found if found is not None and found.path == path else None


def save_project(project: Project) -> None:
    """Store a project, under its memory and all its places."""
    stored = [project.name, project.path, project.places, project.commits, project.addresses]
    write_state(os.path.join(PROJECTS, project.id), json.dumps(stored))
    for key in (f"memory\0{project.path}", *(key for place in project.places for key in place.keys)):
        write_state(_hashed(PLACES, key), project.id)


def delete_project(id: str) -> None:
    """Forget a project whose memory is gone."""
    delete_state(os.path.join(PROJECTS, id))


def id_for_new(place: Place) -> str:
    """Return the id for a project that begins at a place: the same for all processes that begin it at once; another
    than that of a project that began there before."""
    number = 0
    while True:
        said = "\0".join((*place, str(number)))
        id = sha256(said.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        if read_project(id) is None:
            return id
        number += 1


# marks


def read_mark(common: str) -> str:
    """Return what this installation marked a repository with: the id of a project, or of choices."""
    name = read_state(INSTALLATION)
    return read_own_line(_mark_path(common, name)) if common and name else ""


def write_mark(common: str, mark: str) -> bool:
    """Mark a repository; return False where that cannot be written, and the place alone tells."""
    return _write_line(_mark_path(common, installation_name()), mark)


def is_marked_by_others(common: str) -> bool:
    """Return whether another installation marked a repository, as one in a container does."""
    own = f"{MARK_PREFIX}{read_state(INSTALLATION)}"
    try:
        return any(name.startswith(MARK_PREFIX) and name != own for name in os.listdir(common))
    except OSError:
        return False


def _mark_path(common: str, installation: str) -> str:
    return os.path.join(common, f"{MARK_PREFIX}{installation}")


def read_folder_mark(folder: str) -> str:
    """Return the id of the project with which this installation marked a folder without git; empty if it did not."""
    installation, _, id = read_own_line(_folder_mark_path(folder)).partition(" ")
    return id if installation and installation == read_state(INSTALLATION) else ""


def write_folder_mark(folder: str, id: str) -> bool:
    """Mark a folder without git; return False where that cannot be written, and the place alone tells."""
    try:
        os.makedirs(os.path.dirname(_folder_mark_path(folder)), mode=0o700, exist_ok=True)
    except OSError:
        return False
    return _write_line(_folder_mark_path(folder), f"{installation_name()} {id}")


def _folder_mark_path(folder: str) -> str:
    return os.path.join(folder, MEMORANDA_FOLDER, ID_FILE)


def _write_line(path: str, line: str) -> bool:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    try:
        handle = os.open(path, flags, 0o600)
        try:
            os.write(handle, f"{line}\n".encode())
        finally:
            os.close(handle)
    except OSError:
        return False
    return True


# choices


def read_choices(key: str) -> Choices:
    """Return what was chosen, by the mark of a repository, its common git directory, or a folder without git."""
    return _parse_choices(read_state(_hashed(CHOICES, key)))


def _parse_choices(text: str) -> Choices:
    try:
        return Choices(*json.loads(text))
    except (ValueError, TypeError):
        return Choices()


def save_choice(key: str, folder: str, choice: str) -> None:
    """Store what the person chose for a folder below a repository's root."""
    before = read_choices(key)
    write_state(_hashed(CHOICES, key), json.dumps([before.place, before.folders | {folder: choice}]))


def save_place(key: str, place: str) -> None:
    """Store the common git directory that was marked for choices."""
    write_state(_hashed(CHOICES, key), json.dumps([place, read_choices(key).folders]))


# sessions


def read_session(client: str, session: str) -> str:
    """Return what a session began with: the id of a project, PERSONAL, or nothing."""
    return read_state(_hashed(SESSIONS, f"{client}\0{session}")) if session else ""


def bind_session(client: str, session: str, project: str) -> None:
    """Store what a session began with, unless it is stored; and that it is used, once a day. Those that nobody used for
    long are dropped."""
    name = _hashed(SESSIONS, f"{client}\0{session}")
    before = read_state(name)
    if before and state_age(name) < DAY_SECONDS:
        return
    for other in list_state_names(SESSIONS):
        if other != name and state_age(other) > SESSION_SECONDS:
            delete_state(other)
    write_state(name, before or project)


def _hashed(kind: str, key: str) -> str:
    return os.path.join(kind, sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:32])
