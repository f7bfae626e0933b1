"""The tour of the demo, two lines above the list; it goes on by itself when a step is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from tui.demo import tour
from tui.input.key_table import named
from tui.lists.view_state import with_keys
from tui.panes.host import Host
from tui.widgets.bars import Split

if TYPE_CHECKING:
    from store.base.location import Location
    from store.librarian.answer import Answer
    from tui.theme.pieces import Piece


class TourHost(Host, Protocol):
    """The interface that the tour needs of the screen."""

    @property
    def location(self) -> Location: ...
    @property
    def last_answer(self) -> Answer | None: ...
    def mount(self, *widgets: Split, before: str) -> object: ...
    def bar(self, name: str) -> Split | None: ...


class TourController:
    """Shows the next step, and notices when it is done."""

    def __init__(self, host: TourHost) -> None:
        self.host = host
        self._number = 0
        self._shown = False
        self._passed: Sequence[int] = ()
        self._looked: int | None = None  # up to which step of history; None before the tour is shown
        self._done: list[str] = []  # why each step since was made: also what was done before the tour asked for it
        self._ended = ""  # the pane in which the last step was done
        self._waiting = 0  # the most proposals that waited since the tour was first shown

    def start(self) -> None:
        found = tour.kept(self.host.location.path)
        if found is not None and not found[1]:
            self._go_to(found[0])

    def poll(self, count: int) -> None:
        first = number = self._number
        while self._shown and number < len(tour.STOPS) and self._is_done():
            number = self._number = number + 1
        if number > first:
            self._go_to(number, passed=range(first + 1, number))
        elif self._shown and number == len(tour.STOPS) and self.host.place != self._ended:
            self._show(False)  # its last lines were read

    def pieces(self) -> Sequence[Piece]:
        return ()

    def leave(self) -> bool:
        return False

    def action_tour(self) -> None:
        """Leave the tour, or resume it where it was left."""
        found = tour.kept(self.host.location.path)
        if found is None:
            self.host.say("The tour is in the demo: leave the application and type memoranda demo.", "warning")
        elif self._shown:
            self._show(False)
            self.host.say(f"The tour is left; {named('tour.toggle')} or :tour resumes it.")
        else:
            self._go_to(found[0] if found[0] < len(tour.STOPS) else 0)

    def _is_done(self) -> bool:
        engine, wanted = self.host.engine, tour.stop(self._number).done
        if engine is None or self._looked is None:
            return False
        waiting = engine.screen.inbox.count()
        self._waiting = max(self._waiting, waiting)  # more may have come since
        if wanted == "stale":
            return self.host.view.state == "stale"
        if wanted == "answer":
            return self.host.last_answer is not None
        if wanted == "inbox":
            return waiting < self._waiting
        looked, self._looked = self._looked, engine.newest_step()
        self._done += [engine.screen.history.step(number).reason for number in range(looked + 1, self._looked + 1)]
        return any(reason.startswith(wanted) for reason in self._done)

    def _go_to(self, number: int, passed: Sequence[int] = ()) -> None:
        """Show the step of an index; `passed` are those before it that are not shown, since they were done already."""
        engine = self.host.engine
        if engine is None:
            return
        self._number, self._passed, self._ended = number, passed, self.host.place
        if self._looked is None:
            self._looked, self._waiting = engine.newest_step(), engine.screen.inbox.count()
        self._show(True)

    def _show(self, shown: bool) -> None:
        """Show or hide the lines, and keep what is next."""
        self._shown = shown
        tour.keep(self.host.location.path, self._number, left=not shown)
        if self.host.bar("tour-why") is None:
            self.host.mount(Split(id="tour-why"), Split(id="tour-what"), before="#body")
        for name in ("tour-why", "tour-what"):
            bar = self.host.bar(name)
            assert bar is not None
            bar.display = shown
        self._draw()

    def _draw(self) -> None:
        why, what = self.host.bar("tour-why"), self.host.bar("tour-what")
        assert why is not None and what is not None
        stop, last = tour.stop(self._number), self._number == len(tour.STOPS)
        place = "" if last else f"{self._number + 1} of {len(tour.STOPS)}  "
        key = named("tour.toggle")
        passed = ", ".join(str(number + 1) for number in self._passed)
        why.put_both(
            [(f" Tour {place}", "bold $text-accent"), (with_keys(stop.why), "")],
            [(f"{passed} done already ", "$dim")] if passed else [],
        )
        what.put_both([(f" {with_keys(stop.what)}", "bold")], [(f"{key} leaves ", "$dim", "tour")])
