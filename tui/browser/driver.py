"""Textual's driver for a browser, which also ends the application when its server is gone."""

import asyncio

from textual import messages
from textual.drivers.web_driver import WebDriver

RETRY_SECONDS = 0.05  # seconds until it is asked again whether the screen is there


class BrowserDriver(WebDriver):
    """Textual's own goes on for ever when the server was killed, since nothing tells it that nobody is there; and what
    ends while its first screen is made, as when a tab is reloaded at once, ends with an error."""

    def start_application_mode(self) -> None:
        self._loop = asyncio.get_running_loop()
        super().start_application_mode()

    def run_input_thread(self) -> None:
        super().run_input_thread()
        if not self.exit_event.is_set():  # the end of standard input
            self._loop.call_soon_threadsafe(self._leave)

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        if packet_type == "quit":
            self._loop.call_soon_threadsafe(self._leave)
        else:
            super().on_meta(packet_type, payload)

    def _leave(self) -> None:
        """Leave as soon as there is a screen to leave."""
        if self._app.screen.is_mounted:
            self._app.post_message(messages.ExitApp())
        else:
            self._loop.call_later(RETRY_SECONDS, self._leave)

    def write(self, data: str) -> None:
        try:
            super().write(data)
        except BrokenPipeError:
            self.exit_event.set()

    def write_meta(self, data: dict[str, object]) -> None:
        try:
            super().write_meta(data)
        except BrokenPipeError:
            self.exit_event.set()
