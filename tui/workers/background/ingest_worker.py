"""Ingest conversations in a child process, when files that the configuration names have grown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from store.base.clock import Clock
from store.base.location import Location
from tui.workers.base import Worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.services.auto_ingest import IngestProcess


class IngestWorker(Worker):
    """Ingests the new turns of one memory's conversations, each time `run` is called."""

    close_seconds = 0.0  # no wait: the child process commits as it reads

    def __init__(self, location: Location, clock: Clock, unwanted: Callable[[], bool]) -> None:
        super().__init__(location, clock, "worker")
        self._unwanted = unwanted
        self._process: IngestProcess | None = None

    def run(self) -> dict[str, object]:
        """Return the result of the child process; empty if nothing is due or a run is in progress. Then summarise and
        flush open sessions, from any source, with a model if there is one."""
        from store.learning import summarizers
        from store.services import auto_ingest, session_flush

        with self.exclusive(wait=False) as held:
            if not held:
                return {}
            result: dict[str, object] = {}
            try:
                with self.memory() as memory:
                    if auto_ingest.due(memory) and not self.closing():
                        self._process = auto_ingest.IngestProcess(self._location.path)
                        result = self._process.run()
                    if not self.closing():
                        with summarizers.by_model(memory, self._unwanted) as by:
                            session_flush.flush_due(memory, by)
            finally:
                self._process = None
            return result

    def read_agents(self, agents: Sequence[str]) -> dict[str, object]:
        """Read the conversations that these agents keep of the project, in a child process; return its result, empty if
        it was ended."""
        with self.exclusive():
            if self.closing():
                return {}
            from store.services.auto_ingest import IngestProcess

            self._process = IngestProcess(self._location.path, agents)
            try:
                return self._process.run()
            finally:
                self._process = None

    def close(self) -> None:
        """End the child process; what it committed is kept."""
        super().close()
        if (process := self._process) is not None:
            process.end()
