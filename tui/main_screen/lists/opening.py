"""Open the memory on a worker thread; ask first if the file belongs to another installation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from store.base.errors import MemorandaError, NotOurs
from tui.panes.host import Host
from tui.theme.escape import visible

if TYPE_CHECKING:
    from store.base.clock import Clock
    from store.base.location import Location
    from tui.screens.application import Application
    from tui.workers.engine import Engine, Lists


class OpeningHost(Host, Protocol):
    """The interface that opening needs of the screen."""

    @property
    def location(self) -> Location: ...
    @property
    def cwd(self) -> str: ...
    @property
    def clock(self) -> Clock: ...
    def opened(self, engine: Engine, first: Lists) -> None: ...
    def opened_beside(self, engine: Engine) -> None: ...


class OpeningController:
    """Creates the engine; passes it to the screen by `opened`, and by `opened_beside` on the thread that opened."""

    def __init__(self, host: OpeningHost) -> None:
        self.host = host

    def open(self) -> None:
        self.host.in_background(self._open, "open", "open the memory")

    def _open(self) -> None:
        from store.config import configuration
        from tui.desktop import recent_files
        from tui.workers.engine import FIRST, Engine

        host = self.host
        waited = configuration.waits(host.location)
        try:
            engine = Engine(host.location, host.cwd, host.clock)
            first = engine.lists(host.view, FIRST)
        except NotOurs as error:
            host.app.call_from_thread(self._ask_whose, error)
            return
        except MemorandaError as error:
            host.app.call_from_thread(self._end, error)
            return
        if waited:  # moved or copied: its settings apply from now on
            host.app.call_from_thread(self._app.configure_again)
        host.app.call_from_thread(host.opened, engine, first)
        recent_files.add(host.location.path)
        host.opened_beside(engine)

    @property
    def _app(self) -> Application:
        return cast("Application", self.host.app)

    def _end(self, error: MemorandaError) -> None:
        """Exit the application, and print why."""
        from rich.text import Text

        self.host.app.exit(None, error.exit_status, Text(visible(str(error))))  # a str would be parsed as markup

    def _ask_whose(self, why: NotOurs) -> None:
        """Ask what to do with a memory of another installation."""
        from tui.screens.start.adoption import LOOK, AdoptScreen

        def chosen(choice: str | None) -> None:
            if not choice:
                self._end(why)
            elif choice == LOOK:
                self.host.location.look = True
                self.open()
            else:
                self.host.in_background(lambda: self._adopt(choice, why.unmarked), "open", "adopt the memory")

        self._app.release_keys()
        self.host.app.push_screen(AdoptScreen(self.host.location, why), chosen)

    def _adopt(self, choice: str, earlier: bool) -> None:
        from store.services import adoption
        from tui.screens.start.adoption import WHOLE

        host = self.host
        try:
            if choice == WHOLE:
                adopted = adoption.whole(host.location, host.clock, earlier)
            else:
                adopted = adoption.as_proposals(host.location, host.clock)
        except MemorandaError as error:
            host.app.call_from_thread(self._end, error)
            return
        host.app.call_from_thread(self._app.configure_again)
        if adopted.warning:
            host.app.call_from_thread(host.say, adopted.warning, "warning", 15)
        host.app.call_from_thread(self.open)
