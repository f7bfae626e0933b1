"""The context pane: the preview explains each record; the title counts tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.input.key_table import CONTEXT
from tui.lists.context_rows import WHOLE, ContextRows
from tui.panes.host import PaneController

if TYPE_CHECKING:
    from tui.widgets.record_list import RecordList


class ContextController(PaneController):
    """Shows why a record is sent to agents, or not, above the record."""

    def preview(self, source: RecordList) -> bool:
        rows, index = source.rows, source.cursor_index
        if not isinstance(rows, ContextRows) or index is None:
            return False
        if rows.key(index) == WHOLE:
            self.host.pane.tell(rows.whole())
        else:
            self.host.pane.follow(rows.record(index), rows.above(index))
        return True

    def shown(self, rows: object) -> None:
        if not isinstance(rows, ContextRows):
            return
        self.host.counts["tokens"] = rows.built.tokens
        self.host.set_size(CONTEXT, None)
        found = self.host.list_of(CONTEXT)
        if self.host.place == CONTEXT and self.host.focused is found:
            self.host.follow(found)  # the reason may have changed under an unmoved cursor
