"""Maintenance while the application is open: git, backups, checkpoints, unfinished work. On worker threads, each
with a memory of its own."""

from __future__ import annotations

from collections.abc import Callable

from store.base.clock import Clock
from store.base.location import Location
from store.base.models import Checkpoint
from store.memory import Memory


class MaintenanceWorker:
    """Looks after one memory."""

    def __init__(self, location: Location, cwd: str, clock: Clock) -> None:
        self._location = location
        self._cwd = cwd
        self._clock = clock
        self._closed = False
        self._reading_git = self._stop_git = False
        self._fingerprint = ""  # of the repository, when it was last looked at

    def close(self) -> None:
        """Let what is under way end soon."""
        self._closed = True

    def catch_up(
        self, progress: Callable[[int, int], None], trouble: Callable[[str], None] = lambda sentence: None
    ) -> int | None:
        """Retention, then the commits the timeline lacks; None when another process is at it. `trouble` is told what
        of git's history is broken. Raises GitError."""
        from store.services import maintenance

        with Memory(self._location, "app", self._clock, create=False) as memory:
            self._stop_git, self._reading_git = False, True
            try:
                return maintenance.start(memory, self._cwd, progress, lambda: self._closed or self._stop_git, trouble)
            finally:
                self._reading_git = False

    def keep_backups(self) -> None:
        """Make the daily backup, if it is due. Raises StorageError."""
        from store.services import maintenance

        with Memory(self._location, "app", self._clock, create=False) as memory:
            maintenance.keep_backups(memory, lambda: self._closed)

    def backups_trouble(self) -> str:
        """What is wrong with the backups, in three words; empty if nothing is."""
        from store.exchange.backup import standing

        with Memory(self._location, "app", self._clock, create=False) as memory:
            return standing(memory.database, memory.now)[2]

    def tidy(self) -> None:
        """Finish what was left undone, as far as it can be by now."""
        from store.services import maintenance

        with Memory(self._location, "app", self._clock, create=False) as memory:
            if maintenance.cleanup_due(memory):
                maintenance.clean_up(memory)

    def tick(self) -> None:
        """Take the checkpoint that time has made due, if nobody else does."""
        from store.services import automatic_checkpoints

        with Memory(self._location, "worker", self._clock, create=False) as memory:
            automatic_checkpoints.take_due_checkpoint(memory)

    def offer(self) -> Checkpoint | None:
        """The checkpoint from which a session that broke off can be gone on with, once."""
        from store.services import automatic_checkpoints

        with Memory(self._location, "worker", self._clock, create=False) as memory:
            return automatic_checkpoints.offer(memory)

    def git_stirred(self) -> bool:
        """Whether the repository changed since it was last looked at; takes well below a millisecond."""
        from store.services import maintenance

        with Memory(self._location, "app", self._clock, create=False) as memory:
            stirred = maintenance.git_changed(memory, self._cwd, self._fingerprint)
        self._fingerprint = stirred or self._fingerprint
        return stirred is not None

    def stop_reading_git(self) -> bool:
        """Let the reading of git end here, if one is under way; what was read stays."""
        self._stop_git = self._reading_git
        return self._reading_git
