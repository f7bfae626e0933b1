"""The main screen's context pane: what an agent would be sent, and in the preview why, above each record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.input.key_table import CONTEXT
from tui.lists.context_rows import WHOLE, ContextRows
from tui.main_screen.as_of import LookingBackScreen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tui.lists.view_state import View
    from tui.widgets.record_list import RecordList
    from tui.workers.queries import SideRows


class ContextScreen(LookingBackScreen):
    """The screen's way through a context."""

    def follow(self, source: RecordList) -> None:
        rows, index = source.rows, source.cursor_index
        if not isinstance(rows, ContextRows) or index is None:
            super().follow(source)
        elif rows.key(index) == WHOLE:
            self.pane.tell(rows.whole())
        else:
            self.pane.follow(rows.record(index), rows.above(index))

    def _show_side(self, view: View, lists: Mapping[str, SideRows]) -> None:
        super()._show_side(view, lists)
        rows = lists.get(CONTEXT)
        if isinstance(rows, ContextRows) and view == self.view:
            self._counts["tokens"] = rows.built.tokens
            self._sizes.pop(CONTEXT, None)
            self._draw_titles()
            if self._list_id == CONTEXT and self.focused is self.list_of(CONTEXT):
                self.follow(self.list_of(CONTEXT))  # a reason may have changed where the cursor stayed
