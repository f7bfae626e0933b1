"""Index documents at the start, when one changes, and periodically; never on the event loop's thread."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from store.base.clock import Clock
from store.base.errors import MemorandaError
from store.base.location import Location
from store.base.models import Chunk
from store.database.connection import understood
from store.memory import Memory
from tui.workers.base import Worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.documents.indexer import Scan
    from store.documents.watcher import Watch
    from store.sync.file_run import SyncReport

LOOK, RARE_LOOK = 10.0, 60.0  # seconds between scans without a file watcher, and with one


def _quiet(done: int, total: int) -> None:
    """Ignore progress."""


def _untold(report: SyncReport) -> None:
    """Ignore what a sync did."""


class DocumentWorker(Worker):
    """The indexer of one memory's documents."""

    def __init__(self, location: Location, clock: Clock) -> None:
        super().__init__(location, clock)
        self._watch: Watch | None = None
        self._scanned = 0.0
        self.resting = False  # whether nobody used the application for a while
        self._watched = False  # whether the configuration enables watching
        self._problems: list[tuple[str, str]] | None = None  # already reported
        self.synced: Callable[[SyncReport], None] = _untold  # called with what a sync did

    def close(self) -> None:
        """Stop: finish the current write; documents being read are read again at the next start."""
        self._closed.set()
        if self._watch is not None:
            self._watch.end()
        super().close()

    def scan(
        self, progress: Callable[[int, int], None] = _quiet, trouble: Callable[[str], None] = lambda said: None
    ) -> Scan | None:
        """Sync the files that are kept so, and index changed documents; return None once closed. Call `trouble` with
        new read errors. Raises StorageError."""
        with self.exclusive():
            if self.closing():
                return None
            with self.memory() as memory:
                self._sync(memory)
                before = memory.documents.problems() if self._problems is None else self._problems
                result = memory.documents.scan(progress, self.closing)
            self._scanned = monotonic()
        fresh = [problem for problem in result.problems if problem not in before]
        self._problems = result.problems
        if fresh:
            path, why = fresh[0]
            more = f"; and {len(fresh) - 1:,} more, see :scan" if len(fresh) > 1 else ""
            trouble(f"{path} is not in the index, or not as it stands: {why}{more}.")
        return result

    def _sync(self, memory: Memory) -> None:
        for report in memory.sync.run_due(self.closing):
            self.synced(report)

    def watch(self, trouble: Callable[[str], None]) -> None:
        """Scan whenever a document changes from now on, if the configuration enables it."""
        with self.memory() as memory:
            self._watched = bool(memory.config["sync.watch"]) and not memory.database.read_only
            places = memory.documents.places
        if not self._watched or self.closing():
            return
        from store.documents.watcher import Watch

        def changed() -> None:
            try:
                self.scan(trouble=trouble)
            except MemorandaError as error:
                trouble(f"The documents could not be read: {error}")
            except Exception as error:  # must not end the watcher
                trouble(str(understood(error, self._location.path)))

        self._watch = Watch(places, changed, trouble, lambda: self.resting)
        self._watch.start()
        if self.closing():  # closed meanwhile
            self._watch.end()

    def due(self, screen: Memory) -> bool:
        """Return whether a scan is due: periodically, since file watchers miss changes made on another machine's disk,
        and where a synced file or its memory changed, as the `screen`'s memory says in a fraction of a millisecond."""
        watched = self._watch is not None and self._watch.working
        if not self._watched or self.running:
            return False
        return monotonic() - self._scanned > (RARE_LOOK if watched else LOOK) or bool(screen.sync.due())

    def path_of(self, chunk: Chunk) -> str:
        """Return the path of a chunk's document, for another program. Raises InvalidInput, NotFound, StorageError."""
        with self.memory() as memory:
            memory.documents.read(chunk.path, 1, 1)  # raises if it is missing or behind a symlink
            return memory.documents.places.named(chunk.path).path
