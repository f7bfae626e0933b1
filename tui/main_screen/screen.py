"""The main screen: its panes, its keys, and what it asks."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from shlex import quote
from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical

from store.base.errors import MemorandaError
from tui.input.key_table import CHECKPOINTS, CONTEXT, FACTS, HEALTH, HISTORY, INBOX, KEYS, LIBRARIAN, TASKS, TIMELINE
from tui.lists.view_state import HUGE, WIDE, empty
from tui.main_screen.librarian_pane import LibrarianScreen
from tui.main_screen.navigation import TYPING
from tui.theme.pieces import Piece
from tui.widgets.bars import Footer, Split
from tui.widgets.cached_lines import Kept
from tui.widgets.preview_pane import PreviewPane
from tui.widgets.record_list import RecordList
from tui.widgets.search_bar import SearchBar

if TYPE_CHECKING:
    from store.history.restore_plan import AppliedPlan, Plan
    from store.services.point_in_time import PointInTime
    from tui.widgets.prompt_bar import AskBar
    from tui.workers.queries import Target

POLL = 0.5  # seconds between looks for what other processes wrote; a look takes some 10 µs


class Pane(Kept, Vertical):
    """A title and what stands below it."""


class Body(Kept, Container):
    """The panes, beside or above each other."""


class MainScreen(LibrarianScreen):
    """Lists left, the preview right (below, where it is narrow), one line of truth on top."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide"), (HUGE, "-huge")]  # noqa: RUF012 - as Screen declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            key.keys,
            key.action,
            key.label or key.help,
            show=False,
            id=key.id,
            tooltip=key.help,
            priority=key.action.partition("(")[0] in TYPING,
        )
        for key in KEYS
    ]
    DEFAULT_CSS = """
    MainScreen {
        layout: vertical; overflow: hidden;
        #top { height: 1; background: $panel; }
        #past { height: 1; display: none; background: $warning; color: auto 95%; }
        &.-past #past { display: block; }
        &.-past #top { background: $warning-muted; }
        #body { height: 1fr; layout: horizontal; }
        .pane { width: 1fr; height: 1fr; }
        .pane-title { height: 1; padding: 0 1; color: $dim-colour; text-style: $dim-text; }
        .pane:focus-within > .pane-title { color: $text-accent; text-style: bold; }
        .pane.-behind { display: none; }
        #hits-pane { display: none; }
        #preview-pane { padding: 0 0 0 1; }
        #footer { height: 1; background: $footer-background; }
        ToastRack { margin-bottom: 2; }  /* never over a question that is being asked */
        &.-searching .list { display: none; }
        &.-searching #hits-pane { display: block; }
        &.-wide .list, &.-huge .list { width: 11fr; }
        &.-wide #facts-pane { width: 13fr; }
        &.-wide #preview-pane { width: 12fr; }
        &.-wide #hits-pane { width: 24fr; }
        &.-huge #hits-pane { width: 33fr; }
        &.-huge #preview-pane { width: 15fr; }
        &.-wide .list, &.-huge .list, &.-wide #preview-pane, &.-huge #preview-pane {
            border-left: solid $line;
        }
        &.-wide #facts-pane, &.-huge #facts-pane { border-left: none; }
        &.-narrow #body { layout: vertical; }
        &.-narrow #preview-pane { border-top: solid $line; }
        /* an answer needs the room, until one of its records is opened */
        &.-narrow.-talking #preview-pane { display: none; }
        /* where the keys go can be told without colours */
        &.-wide #preview-pane:focus-within, &.-huge #preview-pane:focus-within { border-left: heavy $text-accent; }
        &.-narrow #preview-pane:focus-within { border-top: heavy $text-accent; }
    }
    """

    def compose(self) -> ComposeResult:
        yield Split(id="top")
        yield SearchBar(id="search")
        yield Split(id="past")
        with Body(id="body"):
            yield _list_pane(FACTS, "list")
            # only what this width shows: the first frame is made of it
            yield _list_pane(TIMELINE, "list", *(["-behind"] if self.form == "-narrow" else []))
            yield PreviewPane(id="preview-pane", classes="pane")
        yield Footer(id="footer")

    def on_mount(self) -> None:
        self.list_of("facts").focus()
        self.configured()
        self._draw_titles()
        self.call_after_refresh(self._start)

    def _pop_result_callback(self) -> None:
        """Textual's; the screen that the app began with has none, and may be replaced all the same."""
        if self._result_callbacks:
            super()._pop_result_callback()

    def _start(self) -> None:
        """After the first frame: all that takes time."""
        self._open()
        self.set_interval(POLL, self.poll)

    def _complete(self) -> None:
        from tui.widgets.chat_pane import TalkPane
        from tui.widgets.prompt_bar import AskBar

        super()._complete()
        self.query_one(SearchBar).add_input()
        names = (CHECKPOINTS, HISTORY, TASKS, INBOX, CONTEXT, HEALTH)
        others = (_list_pane(name, "list", "-behind", empty_text=empty(name)) for name in names)
        hits = _list_pane("hits", empty_text=empty("hits"))
        talk = TalkPane(id=f"{LIBRARIAN}-pane", classes="pane list -behind")
        self.query_one("#body").mount(*others, talk, hits, before="#preview-pane")
        self.mount(AskBar(id="ask"), before="#footer")
        self.place_panes()
        self.call_after_refresh(self.read_side)  # once the panes have their lists

    @property
    def _bar(self) -> AskBar:
        return cast("AskBar", self.query_one("#ask"))

    def on_resize(self) -> None:
        self.call_after_refresh(self.place_panes)

    # changing the memory: `tui.actions` does it

    @property
    def place(self) -> str:
        """The list the person is in."""
        return self._list_id

    @property
    def name_of_memory(self) -> str:
        return self._location.name

    def configured(self) -> None:
        """Show what a change of the configuration changed."""
        footer = self.query_one("#footer", Footer)
        footer.remapped = self.app.remapped  # type: ignore[attr-defined]
        footer.show_pane("")
        self.draw_footer()

    def setting(self, name: str) -> str:
        """A setting of the configuration, as text."""
        return str(self.app.config[name])  # type: ignore[attr-defined]

    def action_change(self, name: str) -> None:
        """Do an act, `module.function` below `tui.actions`."""
        module, _, function = name.partition(".")
        if not any(key.looks for key in KEYS if key.act == name) and self.refuses():
            return
        if self.engine is not None:
            getattr(import_module(f"tui.actions.{module}"), function)(self)

    action_ask_for = action_change  # what asks for a line of text: see TYPING

    # asking, and the `:` bar: `commands` does it

    def ask(self, label: str, value: str, answer: Callable[[str], None], **how: bool) -> None:
        """Ask for one line at the bottom; `how` is as in `AskBar.ask`."""
        if self.engine is None or not self.query("#ask"):
            return
        self._bar.ask(label, value, answer, **how)
        if not how.get("verbs"):
            self.query_one("#footer", Footer).hint(
                (" enter", "$footer-key-foreground bold", "answer"),
                (" does it ", "", "answer"),
                (" esc", "$footer-key-foreground bold", "leave_bar"),
                (" leaves", "", "leave_bar"),
            )

    def action_answer(self) -> None:
        """Enter, for a mouse."""
        self._bar.submit()

    def action_complete(self) -> None:
        """Tab, for a mouse."""
        self._bar.complete()

    def action_leave_bar(self) -> None:
        self._bar.leave()

    def on_ask_bar_left(self, event: AskBar.Left) -> None:
        bar = self._bar
        if bar.has_class("-asking"):
            bar.remove_class("-asking")
            if self.focused is None or self.focused.id == "line":  # else a click has gone elsewhere already
                self.set_focus(self.list_of(self._list_id))  # at once: the answer may ask the next question
            self.draw_footer()
        if event.answer is not None:  # only now: it may take the focus somewhere
            event.answer()
        self.app.release_keys()  # type: ignore[attr-defined]

    def on_ask_bar_typed(self, event: AskBar.Typed) -> None:
        from tui.main_screen.command_bar import hint

        usage = hint(event.text)
        words = ("", "", "") if usage else (" does it ", " completes ", " leaves")
        pieces: list[Piece] = []
        for name, word, action in zip(("enter", "tab", "esc"), words, ("answer", "complete", "leave_bar"), strict=True):
            pieces += [(f" {name}", "$footer-key-foreground bold", action), (word, "", action)]
        self.query_one("#footer", Footer).hint(*pieces, (f"  {usage}", "$footer-description-foreground"))

    def action_command(self, line: str = "") -> None:
        self.ask(":", line, self._command, verbs=True)

    def action_doctor(self, quick: bool = False) -> None:
        """What is wrong, and what mends it: a screen of findings, whose Enter does the next step."""
        from tui.screens.doctor import DoctorScreen

        self.app.push_screen(DoctorScreen(self._location, self._clock, quick), lambda line: self._command(line or ""))

    def action_run(self, line: str) -> None:
        """Do what a line typed in the `:` bar would do."""
        self._command(line)

    def _command(self, text: str) -> None:
        from tui.main_screen.command_bar import run_line

        if text.strip():
            run_line(self, text)

    def ask_first(self, question: str, agreed: Callable[[], None]) -> None:
        """Ask before something is replaced: `y` goes on, everything else leaves it."""

        def answer(text: str) -> None:
            if text.strip().lower() in ("y", "yes", "s", "si", "sí"):
                agreed()
            else:
                self.say("Nothing was changed.")

        self.ask(f"{question} y/n", "", answer, one_key=True)
        self.query_one("#footer", Footer).hint(
            (" y", "$footer-key-foreground bold", "agree"),
            (" yes ", "", "agree"),
            (" n", "$footer-key-foreground bold", "leave_bar"),
            (" no, nothing changes", "", "leave_bar"),
        )

    def action_agree(self) -> None:
        """`y`, for a mouse."""
        self._bar.submit("y")

    @work(group="copy", exit_on_error=False)
    async def copy(self, text: str, what: str) -> None:
        """Put a text on the clipboard, and say how."""
        from tui.desktop.clipboard import copy

        how = await copy(self.app, text)
        self.say(f"Copied {what} {how}", alone=True)

    def action_help(self) -> None:
        from tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen(self.app.remapped), self._help_chosen)  # type: ignore[attr-defined]

    def _help_chosen(self, target: str | None) -> None:
        if target is not None:
            self.action_palette(target)

    def action_palette(self, name: str) -> None:
        """Do what the palette's entry `key:id` or `verb:name` stands for."""
        kind, _, word = name.partition(":")
        if kind == "verb":
            self.action_command(f"{word} ")
        else:
            key = next(key for key in KEYS if key.id == word)
            self.call_later(self.run_action, key.action)

    def action_open_memory(self) -> None:
        """Choose among the memories that were open before, or name another."""
        from tui.screens.recent import RecentScreen

        self.app.push_screen(RecentScreen(self._location.path), self._open_chosen)

    def _open_chosen(self, path: str | None) -> None:
        if path == "":
            self.action_command("open ")
        elif path is not None:
            self._command(f"open {quote(path)}")

    # what would change, before it does

    def show_plan(self, kind: str, target: int | str) -> None:
        """Show what a restore, an undo or the undo of an origin would change; an undo of one record is done at once."""
        if self.engine is not None and not self.refuses():
            self._read_plan(kind, target)

    def show_since(self, start: str | PointInTime, end: str = "now") -> None:
        """Show what changed from one moment to another."""
        if self.engine is not None and (not isinstance(start, str) or start.strip()):
            self._read_plan("since", (start, end))

    @work(thread=True, group="plan", exclusive=True, exit_on_error=False, description="work out what would change")
    def _read_plan(self, kind: str, target: Target) -> None:
        assert self.engine is not None
        try:
            found = self.engine.plan(kind, target)
        except MemorandaError as error:
            self.later(self.say, str(error), "warning", 8)
            return
        self.later(self._show_plan, kind, *found)

    def _show_plan(self, kind: str, plan: Plan, title: str, note: str) -> None:
        from tui.screens.plan import PlanScreen

        engine = self.engine
        if engine is None:
            return
        if not plan.changes:
            self.say(
                "Nothing changed since." if kind in ("since", "checkpoint") else "Nothing of it is in force any more."
            )
        elif kind == "step" and len(plan.changes) == 1 and engine.proposed(plan, "replace") == frozenset((0,)):
            from tui.actions.history import take_back_now

            take_back_now(self, plan, note)
        else:
            undone_by = note.rpartition("; ")[2]
            shown = PlanScreen(engine, plan, title, note, kind, self.form)
            self.app.push_screen(shown, lambda result: self._plan_done(result, undone_by))

    def _plan_done(self, result: object, undone_by: str) -> None:
        from store.history.restore_plan import AppliedPlan

        if isinstance(result, str):
            self.open_citation(result)
        elif isinstance(result, AppliedPlan):
            self.say(applied_words(result, undone_by), alone=True, timeout=6)
            self.refresh_records()


def applied_words(applied: AppliedPlan, undone_by: str) -> str:
    """What was done, and how it can be taken back."""
    from tui.render.plurals import count

    before = f"; K#{applied.checkpoint} is how it was" if applied.checkpoint else ""
    return f"{count(applied.changed, 'record')} changed{before}; {undone_by}"


def _list_pane(name: str, *classes: str, empty_text: str = "") -> Pane:
    """A list under its title."""
    heading = Split(id=f"{name}-title", classes="pane-title")
    rows = RecordList(id=name, empty_text=empty_text)
    return Pane(heading, rows, id=f"{name}-pane", classes=" ".join(("pane", *classes)))
