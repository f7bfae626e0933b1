"""A scratch folder whose lock shows whether a process still uses it.

The lock is on the folder, where SQLite has no lock; the system releases it when its process ends, in any way. So a
later process recognises what a killed process left, and removes nothing of a running one. The files are in a folder
inside: writers of a memory queue for a lock on its folder, and would wait for this one.
"""

import fcntl
import os

ENDING = ".scratch"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


class Scratch:
    """A private folder beside `path`, while it is in use. Raise OSError."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._handle = -1
        self.folder = ""

    def __enter__(self) -> str:
        while True:
            self.folder = f"{self._path}.{os.urandom(4).hex()}{ENDING}"
            os.mkdir(self.folder, 0o700)
            try:
                self._handle = os.open(self.folder, os.O_RDONLY)
                fcntl.flock(self._handle, fcntl.LOCK_EX)
            except FileNotFoundError:
                continue  # removed as abandoned before it was locked
            except OSError:
                self.__exit__(None, None, None)
                raise
            if os.path.lexists(self.folder):
                return self._inner()
            os.close(self._handle)

    def _inner(self) -> str:
        inner = os.path.join(self.folder, "work")
        try:
            os.mkdir(inner, 0o700)
        except OSError:
            self.__exit__(None, None, None)
            raise
        return inner

    def __exit__(
        self, kind: "type[BaseException] | None", error: BaseException | None, traceback: "TracebackType | None"
    ) -> None:
        _remove(self.folder)
        if self._handle >= 0:
            os.close(self._handle)


def tidy(folder: str) -> None:
    """Remove the scratch folders in `folder` that killed processes left."""
    try:
        left = [entry.path for entry in os.scandir(folder) if entry.name.endswith(ENDING)]
    except OSError:
        return
    for path in left:
        try:
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue  # deleted meanwhile, or not ours
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(path)
        except OSError:
            pass  # in use by a process
        finally:
            os.close(handle)


def _remove(folder: str) -> None:
    from shutil import rmtree

    rmtree(folder, ignore_errors=True)
