"""Messages in the bottom line, always without markup, since the text may be untrusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from tui.theme.escape import visible

if TYPE_CHECKING:
    from textual.app import App

    from store.base.clock import Clock
    from store.base.location import Location
    from tui.widgets.preview_pane import PreviewPane


class NoticeHost(Protocol):
    """The interface that messages need of the screen."""

    @property
    def app(self) -> App[Any]: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def pane(self) -> PreviewPane: ...
    @property
    def location(self) -> Location: ...
    def run_worker(self, work: Any, *, group: str, exit_on_error: bool) -> object: ...


class NoticeController:
    """Shows messages, and tracks the permanent ones."""

    def __init__(self, host: NoticeHost) -> None:
        self.host = host
        self._staying = set[str]()

    def say(
        self, text: str, severity: str = "information", timeout: float = 8, alone: bool = False, stays: bool = False
    ) -> None:
        """Show a message for `timeout` seconds; `alone` removes the others, except those that `stays`."""
        app = self.host.app
        if alone:
            kept = [one for one in app._notifications if one.message in self._staying]
            app.clear_notifications()
            for one in kept:
                app.notify(one.message, severity=one.severity, timeout=one.time_left, markup=False)
        if stays:
            self._staying.add(visible(text))
        app.notify(visible(text), severity=severity, timeout=timeout, markup=False)  # type: ignore[arg-type]

    def copy(self, text: str, what: str) -> None:
        """Copy a text to the clipboard, and report by which way."""
        self.host.run_worker(self._copy(text, what), group="copy", exit_on_error=False)

    async def _copy(self, text: str, what: str) -> None:
        from tui.desktop.clipboard import copy

        self.say(f"Copied {what} {await copy(self.host.app, text)}", alone=True)

    def action_messages(self) -> None:
        """Show in the preview what was said in this sitting, the newest first."""
        from store.base.clock import how_long_ago

        now, lines = self.host.clock(), []
        for at, text in reversed(self.host.app.messages):  # type: ignore[attr-defined]
            lines += [how_long_ago(now, at), f"  {text}", ""]
        self.host.pane.read_out(lines or ["Nothing was said yet."])

    def say_error(self, error: BaseException) -> None:
        """Report an error of the disk, the file or a defect, unless the same is still shown."""
        from store.database.connection import understood as understood_error

        text = str(understood_error(error, self.host.location.path))
        if visible(text) not in [notice.message for notice in self.host.app._notifications]:
            self.say(text, "error", timeout=10)
