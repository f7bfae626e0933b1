"""The main screen's health pane: how the memory fares, and Enter goes where a figure leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from store.base.clock import to_ms
from tui.input.key_table import HEALTH
from tui.lists.health_rows import HealthRows
from tui.main_screen.context_pane import ContextScreen
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.timer import Timer

    from tui.lists.view_state import View
    from tui.main_screen.command_bar import CommandHost
    from tui.render.field_diff import Line
    from tui.workers.queries import SideRows


class HealthScreen(ContextScreen):
    """The screen's way through the figures."""

    _explained: list[Line] | None = None  # what the preview says of the figure under the cursor
    _again: Timer | None = None  # until the figures may be measured again

    def follow(self, source: RecordList) -> None:
        rows, index = source.rows, source.cursor_index
        if not isinstance(rows, HealthRows) or index is None:
            super().follow(source)
            return
        lines, record = rows.told(index), rows.record(index)
        if record is not None:
            self.pane.follow(record, lines)
        else:
            self.pane.tell(lines)
        self._explained = lines

    def choose(self) -> None:
        from tui.main_screen.command_bar import run_line

        found = self.list_of(self._list_id)
        rows, index = found.rows, found.cursor_index
        line = rows.leads(index) if isinstance(rows, HealthRows) and index is not None else ""
        if line:
            run_line(cast("CommandHost", self), line)
        else:
            super().choose()

    def _show_side(self, view: View, lists: Mapping[str, SideRows]) -> None:
        rows = lists.get(HEALTH)
        shown = self.query(f"#{HEALTH}").results(RecordList)
        super()._show_side(view, lists)
        if not isinstance(rows, HealthRows) or view != self.view:
            return
        self._counts["measured"] = to_ms(rows.at)
        self._sizes.pop(HEALTH, None)
        self._draw_titles()
        for found in shown:
            here = self._list_id == HEALTH and self.focused is found and found.cursor_index is not None
            if here and rows.told(found.cursor_index or 0) != self._explained:
                self.follow(found)  # the figure moved where the cursor stayed
        if self._again is not None:
            self._again.stop()
        self._again = self.set_timer(rows.due, self.read_side) if rows.due else None

    # figures are no records: they are not marked

    def action_mark(self) -> None:
        if not self._only_figures():
            super().action_mark()

    def action_mark_range(self) -> None:
        if not self._only_figures():
            super().action_mark_range()

    def action_mark_all(self) -> None:
        if not self._only_figures():
            super().action_mark_all()

    def _only_figures(self) -> bool:
        """Whether the person is among figures; says that there is nothing to mark."""
        among = self._list_id == HEALTH and self.focused is not self.pane.preview
        if among:
            self.say("Figures are not marked: Enter goes to what one is about.", "warning", alone=True)
        return among
