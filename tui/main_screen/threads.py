"""Run work on other threads, and call back on the screen's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from textual.app import App
    from textual.worker import Worker

    from tui.workers.engine import Engine


class ThreadHost(Protocol):
    """The interface that threads need of the screen."""

    @property
    def app(self) -> App[Any]: ...
    @property
    def engine(self) -> Engine | None: ...
    def run_worker(
        self, work: Any, *, group: str, description: str, exclusive: bool, thread: bool, exit_on_error: bool
    ) -> Worker[Any]: ...


class ThreadController:
    """Starts workers, and calls back from them."""

    def __init__(self, host: ThreadHost) -> None:
        self.host = host

    def in_background(
        self, work: Callable[[], object], group: str, description: str, exclusive: bool = False
    ) -> Worker[Any]:
        """Run `work` on a thread; show an error that ends it, unless another memory is shown by then: what reads the
        one that was closed fails."""

        def guarded() -> object:
            try:
                return work()
            except Exception:  # of any kind: a closed memory fails in SQLite, in a cache or in a callback
                if self._open or self.host.engine is None:
                    raise
                import logging

                logging.getLogger("memoranda").info("work on a memory that was left ended", exc_info=True)
                return None

        return self.host.run_worker(
            guarded, group=group, description=description, exclusive=exclusive, thread=True, exit_on_error=False
        )

    def later(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function on the screen's thread; not after the application ends or another memory is shown."""
        if self._open and self.host.app.is_running:
            self.host.app.call_from_thread(self._call, function, *arguments)

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        if self._open:
            function(*arguments)

    @property
    def _open(self) -> bool:
        return self.host.engine is not None and not self.host.engine.closed
