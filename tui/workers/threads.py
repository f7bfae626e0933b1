"""Threads whose unexpected errors are shown to the user."""

from typing import TYPE_CHECKING

from textual.worker import Worker, WorkerState

if TYPE_CHECKING:
    from textual.message_pump import MessagePump
else:
    MessagePump = object  # a widget takes its CSS from its first MessagePump base, which must not be this one


class SaysDefects(MessagePump):
    """A mixin for what starts Textual workers: shows a message when one fails. Textual reports a failure only to the
    starter."""

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            from store.database.connection import understood

            path = self.app._main.location.path  # type: ignore[attr-defined]
            self.app.notify(str(understood(event.worker.error, path)), severity="error", timeout=10, markup=False)
