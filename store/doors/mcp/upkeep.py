"""The background work of a memory while agents are served and no application is open. The server only looks whether
something happened; what is due then is done by a child process (`upkeep_process`), whose modules and model go with it
when it ends. Of several servers of one memory one at a time has a child."""

import logging
import os
import subprocess
import sys
import time
from threading import Event, Thread

from store.base import installation
from store.base.file_stamp import file_stamp
from store.base.location import Location, checkout_root
from store.git import refs

FIRST, EVERY = 5.0, 60.0  # seconds after the start, and between two looks
# seconds after something happened at which a child looks what became due: at once, a checkpoint, what was said and is
# over; and however quiet it is, what is too old
AFTER = (0.0, 320.0, 1_900.0)
QUIET = 6 * 3_600.0
APART = 110.0  # seconds between two children, of whichever server
KIND = "upkeep"
_log = logging.getLogger("memoranda")


class Upkeep(Thread):
    """Looks every minute whether something happened, and has a child do what is due; `stop` ends both."""

    def __init__(self, location: Location, cwd: str) -> None:
        super().__init__(daemon=True, name="upkeep")
        self._location = location
        self._cwd = cwd
        self._root = checkout_root(cwd) or ""
        self._stop = Event()
        self._seen: tuple[object, ...] = ()
        self._due: list[float] = [0.0]  # moments, by the clock that is never set, at which a child is to look
        self._child: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        wait = FIRST
        while not self._stop.wait(wait):
            wait = EVERY
            try:
                self.look(time.monotonic())
            except OSError as error:
                _log.warning("upkeep: %s", error)

    def stop(self) -> None:
        """End soon, and let no child go on."""
        self._stop.set()
        if self._child is not None and self._child.poll() is None:
            self._child.terminate()

    def look(self, now: float) -> bool:
        """Start a child if something is due at `now`, and no other server has just done so; whether it was."""
        if self._child is not None:
            if self._child.poll() is None:
                return False
            self._child = None
            self._seen = self._state()  # what a child did is nothing new
        state = self._state()
        if state != self._seen:
            self._seen = state
            self._due = [now + later for later in AFTER]
        if not self._due or self._due[0] > now or not os.path.lexists(self._location.path) or not self._turn():
            return False
        self._due = [moment for moment in self._due if moment > now] or [now + QUIET]
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", "store.doors.mcp.upkeep_process", self._location.path, self._cwd],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._cwd,
        )
        return True

    def _state(self) -> tuple[object, ...]:
        """Return what differs when something happened: in the memory, its spool, its documents, the repository."""
        path = self._location.path
        folder, project = os.path.dirname(path), self._location.project or ""
        files = [path, f"{path}-wal", os.path.join(folder, "spool")]
        files += [os.path.join(project, name) for name in ("MEMORY.md", "memory")] if project else []
        return (*map(file_stamp, files), refs.fingerprint(self._root) if self._root else "")

    def _turn(self) -> bool:
        """Return whether no server started a child within the last APART seconds; if so this one may."""
        name = installation.name_of(KIND, self._location.path)
        last, now = installation.read(name), time.time()
        try:
            if 0 <= now - float(last or 0) < APART:
                return False
        except ValueError:
            pass  # it was cut off: nobody's
        installation.keep(name, f"{now:.0f}")
        return True
