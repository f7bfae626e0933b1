"""Ingests conversations: in another process, when files that the configuration names grew."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from store.base.clock import Clock
from store.base.location import Location
from store.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.services.auto_ingest import IngestProcess


class IngestWorker:
    """Brings in what grew for one memory, as often as it is asked to."""

    def __init__(self, location: Location, clock: Clock, unwanted: Callable[[], bool]) -> None:
        self._location = location
        self._clock = clock
        self._unwanted = unwanted
        self._working = Lock()
        self._apart: IngestProcess | None = None
        self._closed = False

    def run(self) -> dict[str, object]:
        """What came of it; empty where nothing was due, or it is under way already. Then sessions that are under way
        are summarised and flushed, whoever told their turns: by a model, where there is one."""
        from store.services import auto_ingest

        if not self._working.acquire(blocking=False):
            return {}
        try:
            came: dict[str, object] = {}
            with Memory(self._location, "worker", self._clock, create=False) as memory:
                due = auto_ingest.due(memory)
            if due and not self._closed:
                self._apart = auto_ingest.IngestProcess(self._location.path)
                came = self._apart.run()
            if not self._closed:
                self._summarise()
            return came
        finally:
            self._apart = None
            self._working.release()

    def _summarise(self) -> None:
        from store.learning import summarizers
        from store.services import session_flush

        with (
            Memory(self._location, "worker", self._clock, create=False) as memory,
            summarizers.by_model(memory, self._unwanted) as by,
        ):
            session_flush.flush_due(memory, by)

    def close(self) -> None:
        """End it; what was read stays."""
        self._closed = True
        if self._apart is not None:
            self._apart.end()
