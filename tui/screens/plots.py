"""Plots: how the memory grew, how much of what was sent was used, how old its facts are."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from store.memory import Memory
from store.records.trends import trends
from tui.render.plots import drawn, told
from tui.screens.help import HelpedScreen
from tui.theme.escape import visible
from tui.widgets.bars import Bar, Split
from tui.widgets.preview import Preview
from tui.workers.threads import SaysDefects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from store.base.clock import Clock
    from store.base.location import Location
    from store.records.trends import Trend

LEAST, MOST = 4, 16  # lines of a plot


class PlotsScreen(SaysDefects, HelpedScreen[None]):
    """Shows the trends of a memory, as large as the screen allows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="plots.close", tooltip="Close the plots")
    ]
    DEFAULT_CSS = """
    PlotsScreen {
        layout: vertical; overflow: hidden;
        Split { height: 1; background: $panel; }
        #plots-body { height: 1fr; padding: 0 0 0 1; }
        #plots-keys { height: 1; background: $footer-background; }
    }
    """

    def __init__(self, location: Location, clock: Clock) -> None:
        super().__init__()
        self._location, self._clock = location, clock
        self._trends: Sequence[Trend] = ()

    def compose(self) -> ComposeResult:
        yield Split(id="plots-title")
        with Vertical(id="plots-body"):
            yield Preview(id="plots")
        yield Bar(id="plots-keys")

    def on_mount(self) -> None:
        look = "$footer-key-foreground bold"
        self.query_one("#plots-title", Split).put_both(
            [(" PLOTS  ", "bold $text-accent"), (visible(self._location.name), "bold")],
            [("stats --plot FILE draws them as SVG ", "$dim")],
        )
        self.query_one("#plots-keys", Bar).put((" esc", look, "leave"), (" closes ", "", "leave"))
        self.query_one(Preview).focus()
        self._read()

    @work(thread=True, group="plots", exit_on_error=False, description="read how the memory changed")
    def _read(self) -> None:
        with Memory(self._location, "app", self._clock, create=False) as memory:
            found = trends(memory.database, memory.now)
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._show, found)

    def _show(self, found: Sequence[Trend]) -> None:
        self._trends = found
        self._draw()

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        preview = self.query_one(Preview)
        if not self._trends or not self.is_attached:
            return
        if self.app.config["plain"]:  # type: ignore[attr-defined]
            preview.show([[(line, "")] for one in self._trends for line in (*told(one), "")])
            return
        height = preview.size.height // len(self._trends) - 3  # name, labels, and a line between
        lines = [drawn(one, preview.size.width - 2, max(LEAST, min(MOST, height))) for one in self._trends]
        preview.show([line for plot in lines for line in plot][:-1])

    def action_leave(self) -> None:
        self.dismiss(None)
