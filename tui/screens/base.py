"""What the screens share: how they paint, and the help.

Help: every key and verb, from their tables; over a screen that is no pane, its own keys. Enter, or a click on the
key, runs it.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Protocol, TypeVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import Screen
from textual.timer import Timer, TimerCallback

from store.base.location import Location
from store.config.configuration import Config
from tui.input.arguments import help_text
from tui.input.key_table import KEYS, KEYS_BY_ID, LIST_KEYS, PLAN_KEYS, Key, show_key
from tui.input.verb_table import list_verbs, verb_named
from tui.lists.record_rows import ListedRows, Row, RowLine, heading_row, row_lines
from tui.render.lines import FACT_BADGES, StyledLine
from tui.theme.line_filters import Piece
from tui.theme.styles import read_css
from tui.widgets.bars import Bar, Split
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList
from tui.workers.model_worker import ModelWorker

KEY_LOOK = "$footer-key-foreground bold"


def key_pieces(*keys: tuple[str, str, str]) -> list[Piece]:
    """Return keys for a bottom line, each with what it does and the action of a click."""
    pieces: list[Piece] = []
    for key, does, action in keys:
        pieces += [(f" {key}", KEY_LOOK, action), (f" {does} ", "", action)]
    return pieces


# The interface that screens need of the application.


class Application(Protocol):
    """The application, as its screens see it."""

    config: Config
    modeller: ModelWorker
    remapped: Mapping[str, str]
    messages: Sequence[tuple[str, str]]

    @property
    def resting(self) -> bool: ...
    async def open(self, location: Location, cwd: str) -> None: ...
    def configure_again(self) -> None: ...
    def hold_keys(self, why: str = "") -> None: ...
    def release_keys(self, why: str | None = "") -> None: ...


# Keep the screen responsive: one frame for each key, at once, and no pause for garbage collection.
#
# Time of a key press in Textual 8.2.8 (a list with a preview at 120×40, to the last byte in a terminal):
#
# - Textual paints when its screen is idle, so the list paints first; the preview, some messages later, is a second
# frame. That one waits for a 60 Hz timer, which skips a tick after each frame: 17 to 33 ms. A third frame, when the
# preview's update requests a layout, waits as long again: 46 ms in all. `ResponsiveScreen` waits for the messages of
# one key before it paints, and shortens the interval for later ones: 4 to 8 ms. A widget of a fixed size should use
# `update(…, layout=False)`, because a layout is a frame of its own.
# - A full garbage collection visits all modules and styles: 40 ms during a key press. `forget_startup` excludes the
# objects of the start; later ones are few.
#
# `python -m bench.screen_floor` measures both, with and without.

FRAME_SECONDS = 1 / 250
"""Seconds between frames during continuous updates; at 2 ms a frame this leaves half of a core to other work."""

FRAME_TURNS = 16
"""Turns of the event loop before a frame; a message takes one for each pump it passes. Four were enough for a list and
its preview, and sixteen cost no measurable time, since they overlap with the messages."""

Result = TypeVar("Result")


class ResponsiveScreen(Screen[Result]):
    """A screen that paints the whole effect of a key in one frame. Base of every screen of the application."""

    _settled = False
    _settling = False

    @property
    def application(self) -> Application:
        return cast("Application", self.app)

    def on_idle(self, event: events.Idle) -> None:
        """Delay Textual's idle handler, which requests the frame, by a few turns of the event loop."""
        if self._settled:
            self._settled = False
            return
        event.prevent_default()
        if not self._settling:
            self._settling = True
            asyncio.get_running_loop().call_soon(self._turn, FRAME_TURNS)

    def _turn(self, left: int) -> None:
        if left:
            asyncio.get_running_loop().call_soon(self._turn, left - 1)
        else:
            self._settling, self._settled = False, True
            self.check_idle()

    def set_interval(
        self, interval: float, callback: TimerCallback | None = None, *, name: str | None = None, **more: Any
    ) -> Timer:
        """Shorten the interval of Textual's repaint timer, identified by its name; under another name nothing is
        changed.

        `TEXTUAL_FPS` would do so for all animations too, and for every Textual program started from here."""
        if name == "screen_update":
            interval = min(interval, FRAME_SECONDS)
        return super().set_interval(interval, callback, name=name, **more)

    def ask(self, dialog: Screen[Any], answer: Callable[[Any], object]) -> None:
        """Open a screen; `answer` gets what is chosen there, if anything is."""

        def closed(given: Any) -> None:
            if given is not None:
                answer(given)

        self.app.push_screen(dialog, closed)


def forget_startup() -> None:
    """Exclude all objects of the start from garbage collection; call once, after the first frame.

    `gc.disable()` before the imports saves 30 ms at the start; this enables the collector again."""
    gc.freeze()
    gc.enable()


# a heading: ("", its text, ""); else (what Enter runs, the key or the verb, what it does)
HelpEntry = tuple[str, str, str]
HelpedResult = TypeVar("HelpedResult")
# cells of the cursor and the key, the id or the verb, which can be clicked
HELP_NAME_CELLS = 22


def help_entries(remapped: Mapping[str, str]) -> list[HelpEntry]:
    """Return all entries of the help."""
    with_key = [key for key in KEYS if key.first_key(remapped)]
    verbs = [(f"verb:{verb.name}", verb.name, verb.summary) for verb in list_verbs()]
    return [
        ("", "Keys", ""),
        *_key_entries("key", with_key, remapped),
        ("", "In the box, by name or by what it does", ""),
        *((f"key:{key.id}", key.id, key.help) for key in KEYS if key not in with_key),
        ("", "Keys of every list", ""),
        *_key_entries("move", LIST_KEYS, remapped),
        ("", "Keys where it is shown what would change", ""),
        *_key_entries("plan", PLAN_KEYS, remapped),
        ("", "Commands, after : with or without a /, and on the command line", ""),
        *verbs,
    ]


def _key_entries(kind: str, keys: Sequence[Key], remapped: Mapping[str, str]) -> list[HelpEntry]:
    return [(f"{kind}:{key.id}", key.first_key(remapped), key.help) for key in keys]


def screen_help_entries(keys: Sequence[Binding], remapped: Mapping[str, str]) -> list[HelpEntry]:
    """Return the entries of a screen with the given keys, and of its list."""
    own = [(f"here:{key.action}", _first_key(key, remapped), key.tooltip) for key in keys if key.tooltip]
    moves = _key_entries("move", LIST_KEYS, remapped)
    return [("", "Keys of this screen", ""), *own, ("", "Keys of every list", ""), *moves]


def _first_key(key: Binding, remapped: Mapping[str, str]) -> str:
    """Return the first of the keys that do something, as a person reads it."""
    return show_key(remapped.get(key.id or "", key.key).split(",")[0])


def _show_keys(keys: str) -> str:
    return "  ".join(map(show_key, keys.split(",")))


def help_rows(entries: Sequence[HelpEntry]) -> ListedRows:
    """Return keys and verbs, one a line, with headings."""
    return ListedRows(
        [
            Row(target, partial(_draw_help_entry, name, text), target) if target else heading_row((name,), name)
            for target, name, text in entries
        ]
    )


def _draw_help_entry(name: str, text: str, width: int) -> list[RowLine]:
    return row_lines([(f"  {name:<{HELP_NAME_CELLS - 4}} ", "own")], text, "", [], width)


class HelpScreen(ResponsiveScreen["str | None"]):
    """All keys, all verbs, and below them details of the one under the cursor. Dismisses with the action to run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "dismiss", "Close", id="help.close", tooltip="Close the help"),
        Binding("slash", "find", "Find", tooltip="Find a command by its name or another word for it"),
        Binding(
            "equals_sign",
            "rekey",
            "Another key",
            id="help.rekey",
            tooltip="Give what the cursor is on another key",
        ),
    ]
    DEFAULT_CSS = read_css(__file__)

    def __init__(self, remapped: Mapping[str, str], keys: Sequence[Binding] = ()) -> None:
        """`keys` are those of the screen that the help is for; without them it is for the panes."""
        super().__init__()
        self._remapped = remapped
        self._keys = {f"here:{key.action}": key for key in keys}
        self._entries = screen_help_entries(keys, remapped) if keys else help_entries(remapped)

    def compose(self) -> ComposeResult:
        yield Split(id="help-title")
        yield RecordList(help_rows(self._entries), id="help-list")
        with Vertical(id="help-more"):
            yield Preview(id="help-preview")
        yield Bar(id="help-keys")

    def on_mount(self) -> None:
        badges = "  ".join(f"{glyph} {word}" for glyph, word in FACT_BADGES.values() if word != "contradicted")
        self.query_one("#help-title", Split).put_both([(" HELP", "bold $text-accent"), (f"   {badges}", "")], [])
        keys = [("enter", "does it", "choose")]
        keys += [] if self._keys else [("/", "finds by other words", "find"), ("=", "another key for it", "rekey")]
        shown = key_pieces(*keys, ("esc", "closes", "dismiss"))
        self.query_one("#help-keys", Bar).set_pieces(*shown)
        found = self.query_one("#help-list", RecordList)
        found.mark_cells = HELP_NAME_CELLS
        found.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        # those lead to a pane
        return not self._keys or action not in ("find", "rekey")

    def action_find(self) -> None:
        """Close the help and open the box, which finds by synonyms too."""
        self.dismiss("key:command.open")

    def action_rekey(self) -> None:
        """Prompt for another key for the selected action."""
        kind, _, name = str(self.query_one("#help-list", RecordList).cursor_key).partition(":")
        if kind in ("key", "move", "plan"):
            self.dismiss(f"verb:config keys.{name}")

    def action_choose(self) -> None:
        """Enter, for a click."""
        self.query_one("#help-list", RecordList).action_choose()

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        kind, _, name = str(event.key).partition(":")
        self.query_one(Preview).show_lines(self._more(kind, name))

    def _more(self, kind: str, name: str) -> list[StyledLine]:
        if kind == "here":
            here = self._keys[f"here:{name}"]
            keys = self._remapped.get(here.id or "", here.key)
            all_keys: StyledLine = [("All its keys: ", "dim"), (_show_keys(keys), "")]
            more = [all_keys] if "," in keys else []
            return [[(_first_key(here, self._remapped), "own"), (f"  {here.tooltip}", "")], [], *more]
        if kind == "verb":
            verb = verb_named(name)
            text = help_text(verb.name, verb.summary, verb.arguments)
            return [[(line, "")] for line in text.split("\n")[:-2]]
        key = KEYS_BY_ID[name]
        keys = self._remapped.get(key.id, key.keys)
        shown = _show_keys(keys) or "none; the box that : opens finds it"
        return [
            [(key.first_key(self._remapped) or key.id, "own"), (f"  {key.help}", "")],
            [],
            [("All its keys: ", "dim"), (shown, "")],
            [("To give it another: ", "dim"), (f":config keys.{key.id} KEY", "")],
        ]

    def on_record_list_marked(self, event: RecordList.Marked) -> None:
        """Handle a click on the key itself; there are no marks here."""
        found = event.record_list
        if found.marks:
            found.unmark()
            found.action_choose()

    def on_record_list_chosen(self, event: RecordList.Chosen) -> None:
        target = str(event.key)
        if target.startswith(("key:", "verb:", "here:")):
            self.dismiss(target)


class HelpedScreen(ResponsiveScreen[HelpedResult]):
    """A screen on top of the panes, whose own keys `?` lists."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark,f1", "help", "Help", show=False)]

    def action_help(self) -> None:
        """List the keys of this screen; the one that is chosen is done."""

        def chosen(target: str) -> None:
            self.call_later(self.run_action, target.removeprefix("here:"))

        keys = [
            key
            for one in type(self).__mro__
            for key in one.__dict__.get("BINDINGS", ())
            if issubclass(one, ResponsiveScreen) and isinstance(key, Binding) and key.tooltip
        ]
        self.ask(HelpScreen(self.application.remapped, keys), chosen)
