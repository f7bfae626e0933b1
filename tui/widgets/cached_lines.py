"""Lines that are kept until the widget asks to be drawn again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Region
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.widget import Widget
else:
    Widget = object  # a widget takes its CSS from its first base that is one, and that must not be this


class Kept(Widget):
    """For one frame Textual asks every widget in sight for all of its lines, changed or not, and runs each through the
    filters: with a dozen widgets that is half of a key press. What stands still answers with the lines it gave last.

    Whatever changes the look of a widget calls its `refresh`, or updates its style; both forget the lines.
    """

    _kept: tuple[Region, list[Strip]] | None = None

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Kept:
        self._kept = None
        super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        return self

    def notify_style_update(self) -> None:
        self._kept = None
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        if self._kept is None or self._kept[0] != crop:
            self._kept = (crop, self.draw_lines(crop))
        return self._kept[1]

    def draw_lines(self, crop: Region) -> list[Strip]:
        """The lines, drawn."""
        return super().render_lines(crop)
