"""Maintenance while the application is open: git, backups, checkpoints, unfinished work. Runs on worker threads, each
with its own connection."""

from __future__ import annotations

from collections.abc import Callable

from store.base.clock import Clock
from store.base.location import Location
from store.base.models import Checkpoint
from tui.workers.base import Worker


class MaintenanceWorker(Worker):
    """Maintains one memory."""

    def __init__(self, location: Location, cwd: str, clock: Clock) -> None:
        super().__init__(location, clock)
        self._cwd = cwd
        self._reading_git = self._stop_git = False
        self._fingerprint = ""  # of the repository at the last check
        self._root: str | None = None  # where it is, "" where there is none; None before the first check
        self._evidence: tuple[object, ...] = ()  # what it and its files were at the last look
        self._unbound = -1  # the newest step of history at which nothing was bound to evidence

    def catch_up(
        self, progress: Callable[[int, int], None], trouble: Callable[[str], None] = lambda sentence: None
    ) -> int | None:
        """Apply retention, then read the commits that the timeline lacks; return None if another process does it. Call
        `trouble` with errors in git's history. Raises GitError."""
        from store.services import maintenance

        with self.memory() as memory:
            self._stop_git, self._reading_git = False, True
            try:
                return maintenance.start(memory, self._cwd, progress, lambda: self.closing() or self._stop_git, trouble)
            finally:
                self._reading_git = False

    def keep_backups(self) -> None:
        """Create the daily backup if it is due. Raises StorageError."""
        from store.services import maintenance

        with self.memory() as memory:
            maintenance.keep_backups(memory, self.closing)

    def backups_trouble(self) -> str:
        """Return what is wrong with the backups, in three words; empty if nothing is."""
        from store.exchange.backups.backup import backup_status

        with self.memory() as memory:
            return backup_status(memory.database, memory.now)[2]

    def verify(self) -> int:
        """Look again at what facts and decisions rest on, if anything about it changed since the last look; return how
        many pieces changed or are gone that were neither before."""
        with self.memory("worker") as memory:
            step = memory.database.value("SELECT max(seq) FROM history")
            if step == self._unbound or memory.database.read_only:
                return 0
            bound = memory.evidence.all()
            self._unbound = -1 if bound else step
            if not bound or (stamp := memory.evidence.stamp(bound)) == self._evidence:
                return 0
            self._evidence = stamp
            before = {(one.citation, one.item): one.state for one in bound}
            doubted = [one for one in memory.evidence.verify() if one.state in ("changed", "gone")]
            return sum(before.get((one.citation, one.item)) not in ("changed", "gone") for one in doubted)

    def write_log(self, trouble: Callable[[str], None]) -> None:
        """Append what happened to the daily log, where it is turned on; call `trouble` where that cannot be done."""
        from store.services import daily_log

        with self.memory("worker") as memory:
            daily_log.write_due(memory, trouble)

    def take_due_checkpoint(self) -> None:
        """Create the periodic checkpoint that is due, unless another process does."""
        from store.services import automatic_checkpoints

        with self.memory("worker") as memory:
            automatic_checkpoints.take_due_checkpoint(memory)

    def offered_checkpoint(self) -> Checkpoint | None:
        """Return the checkpoint to resume an interrupted session from; only once."""
        from store.services import automatic_checkpoints

        with self.memory("worker") as memory:
            return automatic_checkpoints.offer(memory)

    def git_changed(self, clean: bool = False) -> bool:
        """Return whether the repository changed since the last check; takes little more than opening the memory. With
        `clean` first finish unfinished work, such as a purge, as far as possible."""
        from store.services import maintenance

        with self.memory() as memory:
            if clean and maintenance.cleanup_due(memory):
                maintenance.clean_up(memory)
            changed = maintenance.git_changed(memory, self._cwd, self._fingerprint)
            source = maintenance.read_from(memory, self._cwd)
        self._root = source.root if source else ""
        self._fingerprint = changed or self._fingerprint
        return changed is not None

    def git_moved(self) -> bool:
        """Return whether `git_changed` is worth a call: it opens the memory, this does not."""
        from store.services import maintenance

        return self._root is None or (self._root != "" and maintenance.git_moved(self._root, self._fingerprint))

    def stop_reading_git(self) -> bool:
        """Stop reading git, if that is in progress; what was read is kept."""
        self._stop_git = self._reading_git
        return self._reading_git
