"""The application."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual import events
from textual.app import App
from textual.constants import COLOR_SYSTEM, TEXTUAL_ANIMATIONS
from textual.dom import DOMNode
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter, Monochrome, NoColor
from textual.geometry import Offset
from textual.message_pump import MessagePump
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input

from store.base.clock import Clock, utc_now
from store.base.errors import Defect, ExitStatus, MemorandaError
from store.base.location import Location
from store.config.configuration import load_config, user_settings_path, write_setting
from store.config.settings import format_suggestion
from store.database.connection import to_memoranda_error
from store.text.display import visible
from tui.desktop.drivers import TerminalDriver
from tui.input.key_table import FIXED_KEYS, KEYS_BY_ID, key_name, remap_keys
from tui.theme.glyphs import lacks_glyphs, spoken_table
from tui.theme.line_filters import AsciiFilter, ColorlessFilter, OwnColorsFilter, StripControls
from tui.theme.styles import HIGH_CONTRAST, read_css, readable_colors
from tui.widgets.bars import LineView, SaysDefects, Shell

if TYPE_CHECKING:
    from tui.main_screen.screen import MainScreen
    from tui.panes.pane import Loaded
    from tui.widgets.record_list import RecordList
    from tui.workers.model_worker import ModelWorker


DEFAULT_THEME = "textual-dark"
# maximum time that keys are buffered
HOLD_SECONDS = 2.0
# seconds between two keys up to which the second waits until the first is done; a held key's are more
KEY_GAP_SECONDS = 0.03
# maximum time that it waits
LAST_KEY_SECONDS = 0.5
# for how long a key does not remove a warning: it was typed before it could be read
WARNING_SECONDS = 1.5
# that are kept for `:messages`
KEPT_MESSAGES = 200
# how long the import of all else waits for the first facts
FIRST_FACTS_SECONDS = 1.0
# seconds without a key or the mouse after which little is looked at
RESTING_SECONDS = 30.0


class Memoranda(SaysDefects, App[int]):
    """The application on one memory; `open` replaces it by another."""

    TITLE = "memoranda"
    ENABLE_COMMAND_PALETTE = False
    CSS = read_css(__file__)

    def __init__(self, location: Location, cwd: str, clock: Clock = utc_now) -> None:
        super().__init__()
        for theme in HIGH_CONTRAST:
            self.register_theme(theme)
        self._clock = clock
        self._clean, self._ascii = StripControls(), AsciiFilter()
        self._colourless, self._own = ColorlessFilter(), OwnColorsFilter()
        self._said = AsciiFilter(spoken_table())
        # what was said in this sitting, and when
        self.messages = deque[tuple[str, str]](maxlen=KEPT_MESSAGES)
        # buffered keys
        self._held = deque[events.Event]()
        # why they are held: their target is not there yet
        self._holds = set[str]()
        # runs while they are
        self._hold: Timer | None = None
        # what the last key was passed to, which may still be bound
        self._passing: MessagePump | None = None
        # of the keys that were passed on
        self._number = 0
        # when it came, and when it was passed to that
        self._passed = (0.0, 0.0)
        # runs while that is waited for
        self._stuck: Timer | None = None
        # when the last key or movement of the mouse came
        self._touched = monotonic()
        self._plain = lacks_glyphs()
        # Textual draws on standard error; if that is no terminal, TERM is meaningless
        at_terminal = COLOR_SYSTEM == "standard" or (sys.__stderr__ is not None and sys.__stderr__.isatty())
        self._sixteen = at_terminal and self.console.color_system == "standard"
        # the theme set in the configuration
        self._asked = ""
        # a chosen theme that is not saved yet
        self._unkept = ""
        self.location, self._cwd = location, cwd
        # of the main screen: it asks the agent's model
        self.modeller: ModelWorker | None = None
        # once the first frame is painted
        self._main: MainScreen | None = None
        self._configure()

    def get_default_screen(self) -> Screen[None]:
        return Shell()

    def get_driver_class(self) -> type[Driver]:
        found = super().get_driver_class()
        return TerminalDriver if os.name == "posix" and found is LinuxDriver else found

    def get_line_filters(self) -> list[LineFilter]:
        """Return the second layer against hostile text, behind every widget; ASCII for our glyphs if the user or the
        terminal needs it; and a limit to the colours available."""
        filters = [*super().get_line_filters(), self._clean]
        if self.config["plain"]:
            filters.append(self._said)
        elif self._plain or self.config["badges"] == "ascii":
            filters.append(self._ascii)
        # Textual's own filter would still emit greys
        if self.no_color:
            filters = [one for one in filters if not isinstance(one, Monochrome | NoColor)]
            filters.append(self._colourless)
        elif self.native_ansi_color:
            filters.append(self._own)
        return filters

    def get_css_variables(self) -> dict[str, str]:
        """Return the theme's variables, corrected for readability."""
        variables = super().get_css_variables()
        self.theme_variables = readable_colors(self.theme, variables)
        return self.theme_variables

    # configuration

    def _configure(self) -> None:
        """Read the configuration, and apply it."""
        self.config = load_config(self.location, KEYS_BY_ID, FIXED_KEYS)
        self.remapped, problems = remap_keys(self.config.remapped_keys)
        self.config.problems += problems
        self.set_keymap(self.remapped)
        wanted = self.config["theme"] or DEFAULT_THEME
        if wanted not in self.available_themes:
            self.config.problems.append(
                f"There is no theme “{visible(wanted[:40])}”.{format_suggestion(wanted, self.available_themes)} "
                f"{key_name('theme.choose')} shows them all."
            )
            wanted = DEFAULT_THEME
        self._asked = wanted
        self.theme = self._theme_to_show(wanted)
        self.animation_level = "none" if self.config["motion"] == "none" else TEXTUAL_ANIMATIONS

    def _theme_to_show(self, theme: str) -> str:
        """Return the theme to show for `theme` in this terminal: an ANSI one if it has only its own colours."""
        if self.no_color or self._sixteen:
            return "ansi-dark" if self.available_themes[theme].dark else "ansi-light"
        return theme

    def configure_again(self) -> None:
        """Apply the configuration again, after a change."""
        self._configure()
        if self._main is not None:
            self._main.apply_configuration()
        for widget in self.screen.walk_children(with_self=True):
            # each keeps its lines as the filters before left them
            widget.refresh(layout=True)
        self._complain()

    def _complain(self) -> None:
        """Report settings that could not be applied."""
        for problem in self.config.problems:
            self.notify(visible(problem), severity="warning", timeout=10, markup=False)

    def _watch_theme(self, theme_name: str) -> None:
        """Save a theme that was chosen here."""
        super()._watch_theme(theme_name)
        if self.is_running and theme_name not in (self._asked, self._theme_to_show(self._asked)):
            self._asked = self._unkept = theme_name
            self.run_worker(self._keep_theme, name="theme", thread=True, exclusive=True, exit_on_error=False)
            self.theme = self._theme_to_show(theme_name)

    def _keep_theme(self) -> None:
        chosen, self._unkept = self._unkept, ""
        if not chosen:
            return
        try:
            write_setting(user_settings_path(), "theme", chosen)
            said = ""
        except MemorandaError as error:
            said = f"{chosen} is the theme until you leave: {error}"
        found = load_config(self.location, KEYS_BY_ID, FIXED_KEYS).find_value("theme")
        if not said and found is not None and found.source == "project":
            said = (
                f"{chosen} is kept in your file, but {found.path} says "
                f"“{found.value}”, which counts at a start here."
            )
        elif not said and self._theme_to_show(chosen) != chosen:
            why = "NO_COLOR is set" if self.no_color else "this terminal has sixteen colours"
            said = f"{chosen} is kept; it cannot be shown here, for {why}."
        level: SeverityLevel = "warning" if said else "information"
        said = said or f"The theme is {chosen}, kept in your settings; :config theme --unset takes it out."
        if self.is_running:
            self.call_from_thread(self.notify, visible(said), severity=level, timeout=8, markup=False)

    # messages

    def notify(self, message: str, **options: Any) -> None:
        """Show a message in the bottom line, and keep it for `:messages`."""
        self.messages.append((self._clock(), message))
        super().notify(message, **options)
        if self.config["plain"]:
            self.cursor_position = Offset(0, self.size.height - 1)

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        """Put the terminal's cursor where a screen reader reads on: on the row under the cursor, after a message."""
        line = event.record_list.line_of(event.record_list.cursor_index)
        # a message is read first
        waits = bool(self._notifications)
        if self.config["plain"] and line is not None and event.record_list.has_focus and not waits:
            self.cursor_position = event.record_list.region.offset + Offset(0, line)

    def _dismiss(self) -> None:
        """Remove what was said before the key that is pressed now, or the click."""
        shown = list(self._notifications)
        for notice in shown:
            if notice.severity == "information" or notice.timeout - notice.time_left > WARNING_SECONDS:
                self._unnotify(notice, refresh=False)
        if shown:
            self._refresh_notifications()

    # buffering of keys

    def hold_keys(self, why: str = "") -> None:
        """Buffer keys from now on, until `release_keys` for the same reason: their target is not there yet."""
        self._holds.add(why)
        if self._hold is None:
            self._hold = self.set_timer(HOLD_SECONDS, partial(self.release_keys, None))
        else:
            self._hold.reset()

    def release_keys(self, why: str | None = "") -> None:
        """Pass the buffered keys to the focused widget, unless they are held for another reason than this; for None
        in any case."""
        self._holds = self._holds - {why} if why is not None else set()
        if self._hold is not None and not self._holds:
            self._hold.stop()
            self._hold = None
            self.call_later(self._pass_on)

    def _changes_screen(self, screen: Screen[object]) -> None:
        """Hold the keys until a screen that takes the place of another is drawn: its list has the focus then."""

        def drawn() -> None:
            # no other was opened on it
            if self.screen is screen:
                self.release_keys()

        self.hold_keys()
        # once more: what was chosen may open another
        screen.call_after_refresh(screen.call_after_refresh, drawn)

    def _wait(self) -> None:
        """Pass the buffered keys on once the last one is done: it may move the focus, or open a screen."""
        if self._passing is not None:
            self._stuck = self.set_timer(LAST_KEY_SECONDS, partial(self._pass_on, self._number))
            self._follow(self._number, self._passing, [self._passing])

    def _follow(self, number: int, node: MessagePump, again: Sequence[MessagePump]) -> None:
        """Follow a key through `node` and what it is in, up to here; then from `again` what came of it."""
        above = node._parent or self
        if node is not self:
            if not node.call_later(self._follow, number, above, again):
                # it is closed
                self._follow(number, above, again)
        elif again:
            self.call_later(self._follow, number, again[0], again[1:])
        else:
            self.call_later(self._pass_on, number)

    async def _pass_on(self, number: int = 0) -> None:
        """Pass buffered keys on, each after what the one before did; `number` is that of a key that is done."""
        if number == self._number:
            self._passing = None
            if self._stuck is not None:
                self._stuck.stop()
        while self._held and self._hold is None and self._passing is None:
            await self._pass(self._held.popleft())
        if self._held and self._hold is None:
            self._wait()

    async def _pass(self, event: events.Event) -> None:
        """Pass a key or a paste to the focused widget."""
        focused = self.focused
        # the palette's is an Input
        field = getattr(focused, "ends_at_enter", isinstance(focused, Input))
        ends = field and getattr(event, "key", "") == "enter"
        target = focused or self.screen
        self._number += 1
        if not await self._binds_at_once(event, target):
            await super().on_event(event)
        # later keys are for its result
        if ends:
            self.hold_keys()
        elif isinstance(event, events.Key) and not target.check_consume_key(event.key, event.character):
            self._passing, self._passed = target, (event.time, monotonic())

    async def _binds_at_once(self, event: events.Event, target: DOMNode) -> bool:
        """Do what a key is bound to where the list or the preview has the focus and nothing waits between it and here;
        return False if it has to go through them. On that way it is handled by five objects in turn."""
        if not (self.screen is self._main and isinstance(event, events.Key) and isinstance(target, LineView)):
            return False
        if any(one.message_queue_size for one in target.ancestors_with_self if one is not self):
            return False
        self.app_focus = True
        return await self._check_bindings(event.key, priority=True) or await self._check_bindings(event.key)

    @property
    def resting(self) -> bool:
        """Tell whether no key and no movement of the mouse came for a while."""
        return monotonic() - self._touched > RESTING_SECONDS

    async def on_event(self, event: events.Event) -> None:
        main = self._main if self._main is not None and self._main.opened is not None else None
        if isinstance(event, events.InputEvent):
            self._touched = monotonic()
            if main is not None:
                main.polling.wake()
        # not when it bubbles back
        typed = isinstance(event, events.Key | events.Paste) and not event.is_forwarded
        if typed and main is not None:
            main.engine.embedder.note_key()
        if typed or isinstance(event, events.MouseDown):
            self._dismiss()
        if not typed:
            await super().on_event(event)
        elif self._held or self._hold is not None:
            self._held.append(event)
        elif (
            self._passing is not None
            and min(event.time - self._passed[0], monotonic() - self._passed[1]) < KEY_GAP_SECONDS
        ):
            self._held.append(event)
            self._wait()
        else:
            await self._pass(event)

    # the agent's model

    def _model_told(self) -> None:
        """Show the model's status; called on a thread of the model worker."""
        if self.is_running and self._main is not None:
            # the application may be closing
            with suppress(RuntimeError):
                self.call_later(self._main.model_told)

    # change of memory

    async def open(self, location: Location, cwd: str) -> None:
        """Show another memory instead of the current memory."""
        await self._close_engine()
        self.location, self._cwd = location, cwd
        self._configure()
        self.clear_notifications()
        await self.pop_screen()
        self._show_main()
        self._complain()

    def _show_first_facts(self) -> None:
        """Show the first facts, once the first frame is painted; all that acts on them is imported afterwards."""
        from tui.panes.facts import list_first_facts, read_first_facts

        def read() -> None:
            self.call_from_thread(self.call_later, show, read_first_facts(self.location, self._clock))

        async def show(first: Loaded | None) -> None:
            if first is not None and isinstance(self.screen, Shell):
                await self.screen.query_one("#list").mount(list_first_facts(first))
            # the second time they are drawn
            self.screen.call_after_refresh(self.screen.call_after_refresh, go_on)

        def go_on() -> None:
            if self._main is None:
                self._show_main()

        self.run_worker(read, thread=True, exit_on_error=False)
        self.set_timer(FIRST_FACTS_SECONDS, go_on)

    def _show_main(self) -> None:
        """Import what shows a memory, and show it."""
        # anew: they are for it
        self.hold_keys()
        from tui.main_screen.screen import MainScreen

        self.modeller = self.modeller or MainScreen.make_modeller(self._model_told)
        self._main = MainScreen(self.location, self._cwd, self._clock)
        self.push_screen(self._main)

    # start and end

    def on_ready(self) -> None:
        self.screen_change_signal.subscribe(self, self._changes_screen, immediate=True)
        # they are for the main screen
        self.hold_keys()
        self.call_after_refresh(self._show_first_facts)
        self._complain()
        if not self.is_headless and os.name == "posix":
            # ended from outside: restore the terminal (the key ^C sends no signal here)
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self.exit, None, 128 + number)
            # as nohup sets it
            if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
                loop.add_signal_handler(signal.SIGHUP, self._hang_up)

    def _hang_up(self) -> None:
        """End as after a key where the terminal was closed: nothing can be read from it or written to it any more, and
        what waits for it would wait for ever."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        # see `own_terminal`
        drawn = [] if sys.__stderr__ is None else [sys.__stderr__.fileno()]
        for stream in (0, 1, 2, *drawn):
            os.dup2(nowhere, stream)
        os.close(nowhere)
        self.exit(None, ExitStatus.HANGUP)

    def _handle_exception(self, error: Exception) -> None:
        """Override Textual's handler of uncaught errors. An error of the disk or the file ends the application with a
        sentence; only a defect shows its traceback."""
        refused = to_memoranda_error(error, self.location.path)
        if isinstance(refused, Defect):
            super()._handle_exception(error)
        else:
            self.exit(None, refused.exit_status, Text(visible(str(refused))))

    async def on_unmount(self) -> None:
        if self.modeller is not None:
            self.modeller.close()
        # chosen right before the end
        if self._unkept:
            await asyncio.to_thread(self._keep_theme)
        await self._close_engine()

    async def _close_engine(self) -> None:
        if self._main is not None and self._main.opened is not None:
            # in a thread: the writer may be waiting for this loop, which would deadlock
            await asyncio.to_thread(self._main.opened.close)


# Keep what libraries write to standard error off the screen: the application draws on the same file.


@contextmanager
def own_terminal() -> Iterator[None]:
    """Draw on a copy of standard error meanwhile, and lose what anything else writes to it. Some libraries in C warn
    there: ONNX Runtime, for one, of a graphics card that it cannot read."""
    before, current = sys.__stderr__, sys.stderr
    if before is None or not before.isatty():
        yield
        return
    before.flush()
    number = before.fileno()
    screen = open(os.dup(number), "w", encoding=before.encoding, errors=before.errors)  # noqa: SIM115 - closed below
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
    sys.__stderr__ = screen  # type: ignore[misc]  # where Textual draws
    if current is before:
        sys.stderr = screen
    try:
        yield
    finally:
        # the terminal is gone
        with suppress(OSError):
            screen.flush()
        os.dup2(screen.fileno(), number)
        sys.__stderr__, sys.stderr = before, current  # type: ignore[misc]
        with suppress(OSError):
            screen.close()
