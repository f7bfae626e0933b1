"""Memories that were made by copying files, registered as this installation's own."""

import os
import shutil
from pathlib import Path

import apsw

from store.base import state_files as installation
from store.base.location import Location
from store.base.state_files import KnownMemory
from store.memory import Memory
from store.projects.locating import locate
from store.trust import ownership

MADE = "2000-01-01T00:00:00.000Z"  # when the empty memory was made; once in its file, as its identity is


class EmptyMemory:
    """An empty memory, closed. To copy it takes a twentieth of the time that creating one takes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / ".memoranda"
        path = self.folder / "memory.db"
        with Memory.open(str(path), clock=lambda: MADE) as memory:
            self.identity = ownership.read_identity(memory.database.connection)
        self.content = path.read_bytes()

    def copy(self, path: Path, now: str) -> str:
        """Write a memory of its own to `path`, as if it were created here and `now`; return the path."""
        content, identity = self.content, os.urandom(16).hex()
        for before, after in ((self.identity, identity), (MADE, now)):
            assert content.count(before.encode()) == 1 and len(before) == len(after)
            content = content.replace(before.encode(), after.encode())
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in os.listdir(self.folder):
            if name != "memory.db" and (path.parent.name == ".memoranda" or name.startswith("memory.db")):
                shutil.copy(self.folder / name, path.parent / name.replace("memory.db", path.name))
        path.write_bytes(content)
        path.chmod(0o600)
        installation.save_known_memory(KnownMemory(identity, os.path.realpath(path), path.stat().st_ino))
        return str(path)


def in_checkout(place: Location) -> Location:
    """Have a memory that is to begin do so in the project's folder, as in earlier builds; return its place."""
    named = place.kind == "new-project" and bool(place.project and place.place[1])
    if place.project and named and place.project == place.project.encode("utf-8", "replace").decode():
        place.path = os.path.join(place.project, ".memoranda", "memory.db")
    return place


def memory_path(folder: str | Path) -> Path:
    """Return where the memory of a folder is, or will be."""
    return Path(locate(None, {}, os.fspath(folder)).path)


def ours(path: str | Path) -> None:
    """Register the file, a copied or changed memory of ours, at its present path."""
    connection = apsw.Connection(os.fspath(path))
    try:
        held = connection.execute("SELECT value FROM meta WHERE key = 'identity'").get
        ownership.register_ownership(connection, os.fspath(path), "" if held else os.urandom(16).hex())
    finally:
        connection.close()
    assert installation.find_known_memory(os.fspath(path)) is not None
