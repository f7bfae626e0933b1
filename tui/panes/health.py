"""The health pane: the preview explains a figure, and Enter opens its subject."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.base.clock import to_ms
from tui.input.key_table import HEALTH
from tui.lists.health_rows import HealthRows
from tui.panes.host import PaneController, PaneHost

if TYPE_CHECKING:
    from textual.timer import Timer

    from tui.render.field_diff import Line
    from tui.widgets.record_list import RecordList


class HealthController(PaneController):
    """Explains figures, and requests new measurements when they are due."""

    def __init__(self, host: PaneHost) -> None:
        super().__init__(host)
        self._explained: list[Line] | None = None  # the explanation in the preview
        self._timer: Timer | None = None  # until the next measurement

    def preview(self, source: RecordList) -> bool:
        rows, index = source.rows, source.cursor_index
        if not isinstance(rows, HealthRows) or index is None:
            return False
        lines, record = rows.explanation(index), rows.record(index)
        if record is not None:
            self.host.pane.follow(record, lines)
        else:
            self.host.pane.tell(lines)
        self._explained = lines
        return True

    def choose(self) -> bool:
        found = self.host.list_of(self.host.place)
        rows, index = found.rows, found.cursor_index
        line = rows.leads(index) if isinstance(rows, HealthRows) and index is not None else ""
        if line:
            self.host.run_line(line)
        return bool(line)

    def shown(self, rows: object) -> None:
        if not isinstance(rows, HealthRows):
            return
        self.host.counts["measured"] = to_ms(rows.at)
        self.host.set_size(HEALTH, None)
        found = self.host.list_of(HEALTH)
        index = found.cursor_index
        here = self.host.place == HEALTH and self.host.focused is found
        if here and index is not None and rows.explanation(index) != self._explained:
            self.host.follow(found)  # the figure may have changed under an unmoved cursor
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.host.after(rows.due, self.host.read_side) if rows.due else None

    def refuses_marks(self) -> bool:
        among = self.host.place == HEALTH and self.host.focused is not self.host.pane.preview
        if among:
            self.host.say("Figures are not marked: Enter goes to what one is about.", "warning", alone=True)
        return among
