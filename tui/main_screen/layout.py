"""The layout of the main screen: its styles, its keys, and the panes that it mounts."""

from __future__ import annotations

from collections.abc import Iterator

from textual.binding import Binding
from textual.containers import Container, Vertical
from textual.screen import Screen
from textual.widget import Widget

from tui.input.key_table import KEYS
from tui.input.pane_table import BY_NAME
from tui.lists.view_state import HUGE, WIDE, empty, layout
from tui.widgets.cached_lines import Kept
from tui.widgets.record_list import RecordList

STYLES = """
MainScreen {
    layout: vertical; overflow: hidden;
    #top { height: 1; background: $panel; }
    #chips { height: 1; background: $panel; }
    #past { height: 1; display: none; background: $warning; color: auto 95%; }
    &.-past #past { display: block; }
    &.-past #top { background: $warning-muted; }
    #body { height: 1fr; layout: horizontal; layers: default over; }
    /* beside the lists in the place of the tabs; where there is no room, over the lists */
    #sidebar { display: none; layer: over; background: $panel; }
    &.-sidebar #sidebar { display: block; }
    &.-sidebar.-huge #sidebar { layer: default; }
    &.-sidebar.-huge #top, &.-preview-alone #sidebar { display: none; }
    .pane { width: 1fr; height: 1fr; }
    .pane.-behind { display: none; }
    #hits-pane { display: none; }
    #preview-pane { padding: 0 0 0 1; }
    #tour-why, #tour-what { height: 1; background: $boost; }
    #footer { height: 1; background: $footer-background; }
    &.-searching .list { display: none; }
    &.-searching #hits-pane { display: block; }
    &.-wide .list, &.-wide #hits-pane { width: 60fr; }
    &.-wide #preview-pane { width: 40fr; border-left: solid $line; }
    &.-huge .list, &.-huge #hits-pane { width: 56fr; }
    &.-huge #preview-pane { width: 44fr; border-left: solid $line; }
    &.-narrow #body { layout: vertical; }
    &.-narrow .list, &.-narrow #hits-pane { height: 4fr; }
    &.-narrow #preview-pane { height: 3fr; border-top: solid $line; }
    /* an answer needs the room, until one of its records is opened */
    &.-narrow.-talking #preview-pane { display: none; }
    /* one of the two alone */
    &.-preview-alone .list, &.-preview-alone #hits-pane, &.-list-alone #preview-pane { display: none; }
    &.-preview-alone #preview-pane, &.-list-alone .list, &.-list-alone #hits-pane { width: 1fr; height: 1fr; }
    /* where the keys go can be told without colours */
    &.-wide #preview-pane:focus-within, &.-huge #preview-pane:focus-within { border-left: heavy $text-accent; }
    &.-narrow #preview-pane:focus-within { border-top: heavy $text-accent; }
}
"""


FORMS = [(0, "-narrow"), (WIDE, "-wide"), (HUGE, "-huge")]


def take_form(screen: Screen[None], plain: bool) -> None:
    """Give a screen the form of its width; if `plain` the narrow one, since a list beside a text would be heard as
    one."""
    screen.HORIZONTAL_BREAKPOINTS = FORMS[:1] if plain else FORMS
    shown = FORMS[0][1] if plain else layout(screen.app.size.width)
    for _, name in FORMS:
        screen.set_class(name == shown, name)


def take_split(screen: Screen[None], percent: int) -> None:
    """Give the lists so much of the width, or of the height of a narrow screen; 0: what the styles give them."""
    across = not screen.has_class("-narrow")
    for pane in screen.query(".list, #hits-pane, #preview-pane"):
        share = 100 - percent if pane.id == "preview-pane" else percent
        if pane.id != "hits-pane" or across:  # below, its height is that of its rows
            pane.styles.height = f"{share}fr" if percent and not across else None
        pane.styles.width = f"{share}fr" if percent and across else None


def bindings() -> Iterator[Binding]:
    """Yield the bindings of the key table."""
    for key in KEYS:
        yield Binding(key.keys, key.action, key.label or key.help, show=False, id=key.id, tooltip=key.help)


class ListPane(Kept, Vertical):
    """A list, alone in its pane."""


class Body(Kept, Container):
    """The list and the preview, beside or above each other."""


def list_pane(name: str, *classes: str, empty_text: str = "") -> ListPane:
    """Return a list in a pane."""
    rows = RecordList(id=name, empty_text=empty_text)
    return ListPane(rows, id=f"{name}-pane", classes=" ".join(("pane", *classes)))


def hidden_pane(name: str) -> Widget:
    """Return a pane that is still hidden: a list, or the widget that it declares."""
    if BY_NAME[name].listed:
        return list_pane(name, "list", "-behind", empty_text=empty(name))
    from tui.widgets.chat_pane import TalkPane

    made: Widget = TalkPane(id=f"{name}-pane", classes="pane list -behind")
    return made
