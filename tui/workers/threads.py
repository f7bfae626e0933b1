"""Threads whose unforeseen errors are told to the person."""

from typing import TYPE_CHECKING

from textual.worker import Worker, WorkerState

if TYPE_CHECKING:
    from textual.message_pump import MessagePump
else:
    MessagePump = object  # a widget takes its CSS from its first base that is one, and that must not be this


class SaysDefects(MessagePump):
    """What runs workers: what ended one is said in a toast. Textual tells it only to who started the worker."""

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            from store import understood_error as understood

            path = self.app._main.location.path  # type: ignore[attr-defined]
            self.app.notify(str(understood(event.worker.error, path)), severity="error", timeout=10, markup=False)
