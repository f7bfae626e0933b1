"""Cache a widget's lines until its next refresh."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Region
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.widget import Widget
else:
    Widget = object  # a widget takes its CSS from its first MessagePump base, which must not be this one


class Kept(Widget):
    """A mixin that caches rendered lines. For each frame Textual renders and filters all lines of every visible widget,
    changed or not: with a dozen widgets that is half the time of a key press.

    Whatever changes the look of a widget must call its `refresh`, or update its style; both clear the cache."""

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
        """Render the lines."""
        return super().render_lines(crop)
