"""Ingests conversations: in another process, when files that the configuration names grew."""

from __future__ import annotations

from collections.abc import Callable

from store import Clock, Location
from tui.workers.base import Worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store import IngestProcess


class IngestWorker(Worker):
    """Ingests what grew for one memory, each time `run` is called."""

    close_seconds = 0.0  # another process reads: what it has read stays

    def __init__(self, location: Location, clock: Clock, unwanted: Callable[[], bool]) -> None:
        super().__init__(location, clock, "worker")
        self._unwanted = unwanted
        self._process: IngestProcess | None = None

    def run(self) -> dict[str, object]:
        """What came of it; empty where nothing was due, or it is under way already. Then sessions that are under way
        are summarised and flushed, whoever told their turns: by a model, where there is one."""
        from store import auto_ingest

        with self.exclusive(wait=False) as held:
            if not held:
                return {}
            result: dict[str, object] = {}
            try:
                with self.memory() as memory:
                    due = auto_ingest.due(memory)
                if due and not self.closing():
                    self._process = auto_ingest.IngestProcess(self._location.path)
                    result = self._process.run()
                if not self.closing():
                    self._summarise()
            finally:
                self._process = None
            return result

    def _summarise(self) -> None:
        from store import session_flush, summarizers

        with self.memory() as memory, summarizers.by_model(memory, self._unwanted) as by:
            session_flush.flush_due(memory, by)

    def close(self) -> None:
        """End it; what was read stays."""
        super().close()
        if (process := self._process) is not None:
            process.end()
