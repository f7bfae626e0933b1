"""The main screen: facts, timeline, search and the preview of whatever the cursor is on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.widgets import Input

from store.citations import parse
from store.errors import MemorandaError
from tui.keys import KEYS
from tui.screens.reading import EMPTY, WIDE, ReadingScreen
from tui.screens.view import DOMAIN_ORDER, SORT_ORDER
from tui.widgets.bars import Footer, Split
from tui.widgets.kept import Kept
from tui.widgets.preview import Preview
from tui.widgets.preview_pane import PreviewPane
from tui.widgets.record_list import RecordList
from tui.widgets.search_bar import SearchBar

if TYPE_CHECKING:
    from store.models import Record
    from tui.widgets.ask_bar import AskBar

# What is typed right after these keys is for the bar that they open, even if all of it came at once, as a slow line
# sends it: so they are heard before the keys behind them are given to the list.
TYPING = ("search", "command", "add", "export")
POLL = 0.5  # seconds between looks for what other processes wrote; a look takes some 10 µs


class Pane(Kept, Vertical):
    """A title and what stands below it."""


class Body(Kept, Container):
    """The panes, beside or above each other."""


class MainScreen(ReadingScreen):
    """Lists left, the preview right (below, where it is narrow), one line of truth on top."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012 - as Screen declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            key.keys,
            key.action,
            key.label or key.help,
            show=False,
            id=key.id,
            tooltip=key.help,
            priority=key.action in TYPING,
        )
        for key in KEYS
    ]
    DEFAULT_CSS = """
    MainScreen {
        layout: vertical; overflow: hidden;
        #top { height: 1; background: $panel; }
        #body { height: 1fr; layout: horizontal; }
        .pane { width: 1fr; height: 1fr; }
        .pane-title { height: 1; padding: 0 1; color: $foreground 70%; }
        .pane:focus-within > .pane-title { color: $text-accent; text-style: bold; }
        #hits-pane { display: none; }
        #preview-pane { padding: 0 0 0 1; }
        #footer { height: 1; background: $footer-background; }
        ToastRack { margin-bottom: 2; }  /* never over a question that is being asked */
        &.-searching #facts-pane, &.-searching #timeline-pane { display: none; }
        &.-searching #hits-pane { display: block; }
        &.-wide #facts-pane, &.-wide #timeline-pane { width: 11fr; }
        &.-wide #hits-pane { width: 22fr; }
        &.-wide #preview-pane { width: 12fr; }
        &.-wide #timeline-pane, &.-wide #preview-pane { border-left: solid $foreground 20%; }
        &.-narrow #body { layout: vertical; }
        &.-narrow #facts-pane.-behind, &.-narrow #timeline-pane.-behind { display: none; }
        &.-narrow #preview-pane { border-top: solid $foreground 20%; }
    }
    """

    def compose(self) -> ComposeResult:
        yield Split(id="top")
        yield SearchBar(id="search")
        with Body(id="body"):
            yield _list_pane("facts")
            yield _list_pane("timeline", "-behind")
            yield PreviewPane(id="preview-pane", classes="pane")
        yield Footer(id="footer")

    def on_mount(self) -> None:
        self.list_of("facts").focus()
        self._draw_top()
        self._draw_titles()
        self.call_after_refresh(self._start)

    def _start(self) -> None:
        """After the first frame: all that takes time."""
        self._open()
        self.set_interval(POLL, self._look)

    def _complete(self) -> None:
        from tui.widgets.ask_bar import AskBar

        super()._complete()
        self.query_one(SearchBar).add_input()
        self.query_one("#body").mount(_list_pane("hits", empty_text=EMPTY["hits"]), before="#preview-pane")
        self.mount(AskBar(id="ask"), before="#footer")

    @property
    def _bar(self) -> AskBar:
        return cast("AskBar", self.query_one("#ask"))

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw_titles)

    def on_descendant_focus(self) -> None:
        focused = self.focused
        if isinstance(focused, RecordList) and focused.id:
            self._list_id = focused.id
            if focused.id != "hits":
                self._show_pane(focused.id)
            self.pane.follow(self._under_cursor(focused))
        self._draw_footer()

    def _draw_footer(self) -> None:
        footer = self.query_one("#footer", Footer)
        if isinstance(self.focused, RecordList | Preview):
            footer.show_pane(self.focused.id or "")
        elif self.focused is not None and self.focused.id == "query":
            footer.hint(" enter goes to what was found   esc leaves   kind: domain: since: before: is: narrow it down")
        elif self.focused is not None and self.focused.id == "line" and not self._bar.verbs:
            footer.hint(" enter does it   esc leaves")

    # the preview

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        if event.record_list.id == self._list_id:
            self.pane.follow(self._under_cursor(event.record_list))

    def on_record_list_chosen(self) -> None:
        self.pane.enter()

    def on_preview_pane_failed(self, event: PreviewPane.Failed) -> None:
        self.say(str(event.error), "warning")

    def action_open(self) -> None:
        if not self.pane.preview.open_selected():
            self.pane.preview.select(1)

    def action_citation(self, step: int) -> None:
        self.pane.preview.focus()
        self.pane.preview.select(step)

    def action_back(self) -> None:
        if not self.pane.back() and self.focused is self.pane.preview:
            self.list_of(self._list_id).focus()

    def action_scroll_preview(self, step: int) -> None:
        self.pane.preview.scroll_relative(y=step * 4, animate=False, force=True)

    # panes

    def action_pane(self, name: str) -> None:
        if name in ("facts", "timeline"):
            self._end_search()
            self._show_pane(name)
        self.list_of(name).focus()

    def _show_pane(self, name: str) -> None:
        """Of facts and timeline, the one that is seen where there is room for one."""
        for other in ("facts", "timeline"):
            self.query_one(f"#{other}-pane").set_class(other != name, "-behind")

    def action_next_pane(self, step: int) -> None:
        lists = ["hits"] if self.has_class("-searching") else ["facts", "timeline"]
        order = [*lists, "preview"]
        focused = self.focused.id if self.focused is not None else None
        place = order.index(focused) if focused in order else -1 if step > 0 else 0
        name = order[(place + step) % len(order)]
        if name == "preview":
            self.pane.preview.focus()
        else:
            self.action_pane(name)

    def action_leave(self) -> None:
        if self.focused is self.pane.preview:
            self.list_of(self._list_id).focus()
        elif self.has_class("-searching"):
            self._leave_search()

    # facts: order and filters

    def change_view(self, **changes: object) -> None:
        """Show other facts, or in another order."""
        self.view = replace(self.view, **changes)  # type: ignore[arg-type]
        self._draw_titles()
        self.reload()

    def action_sort(self) -> None:
        self.change_view(sort=SORT_ORDER[(SORT_ORDER.index(self.view.sort) + 1) % len(SORT_ORDER)])

    def action_domain(self) -> None:
        place = DOMAIN_ORDER.index(self.view.domain)
        self.change_view(domain=DOMAIN_ORDER[(place + 1) % len(DOMAIN_ORDER)])

    def action_hidden(self) -> None:
        self.change_view(hidden=not self.view.hidden)

    # search

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In a bar these keys are letters."""
        return not (action in TYPING and isinstance(self.focused, Input))

    def action_search(self) -> None:
        self.query_one(SearchBar).start()

    def on_search_bar_found(self, event: SearchBar.Found) -> None:
        from tui.rows import HitRows

        if self.engine is None:
            return
        answer = event.answer
        if not event.again:
            self._list_id = "hits"
            self.add_class("-searching")
        self.list_of("hits").set_rows(HitRows(answer.hits, self.engine.screen.now), keep=event.again)
        shown = f"the best {len(answer.hits)}" if answer.total > len(answer.hits) else "best first"
        left = [("FOUND ", ""), (f"{answer.total:,}", "$foreground 60%")]
        if answer.left_out:
            left.append((f"  {answer.left_out:,} superseded or forgotten left out: is:", "$foreground 50%"))
        left += [(f"  {note}", "$text-warning") for note in answer.notes]
        self.query_one("#hits-title", Split).put_both(left, [(shown, "$foreground 50%")])
        if not event.again:
            self.pane.follow(self._under_cursor(self.list_of("hits")))

    def on_search_bar_entered(self) -> None:
        if self.has_class("-searching"):
            self.list_of("hits").focus()

    def on_search_bar_cleared(self, event: SearchBar.Cleared) -> None:
        if event.left:
            self._leave_search()
        else:
            self._end_search()

    def on_search_bar_failed(self, event: SearchBar.Failed) -> None:
        self.say(str(event.error), "error")

    def _end_search(self) -> None:
        self.query_one(SearchBar).clear()
        self.remove_class("-searching")
        if self._list_id == "hits":
            self._list_id = "timeline" if self.query_one("#facts-pane").has_class("-behind") else "facts"

    def _leave_search(self) -> None:
        self._end_search()
        self.list_of(self._list_id).focus()

    # changing the memory: `changes` does it

    def target(self) -> Record | None:
        """The record that a key is about: the one in the preview, which is the one under the cursor."""
        if self.pane.record is None:
            self.say("Nothing is selected.", "warning")
        return self.pane.record

    def _change(self, name: str) -> None:
        from tui.screens import changes

        if self.engine is not None:
            getattr(changes, name)(self)

    def action_forget(self) -> None:
        self._change("forget")

    def action_confirm(self) -> None:
        self._change("confirm")

    def action_pin(self) -> None:
        self._change("pin")

    def action_add(self) -> None:
        self._change("add")

    def action_correct(self) -> None:
        self._change("correct")

    def action_undo(self) -> None:
        self._change("undo")

    def action_redo(self) -> None:
        self._change("redo")

    # asking, and the `:` bar: `commands` does it

    def ask(self, label: str, value: str, answer: Callable[[str], None], verbs: bool = False) -> None:
        """Ask for one line at the bottom."""
        if self.engine is not None:
            self._bar.ask(label, value, answer, verbs)

    def on_ask_bar_left(self, event: AskBar.Left) -> None:
        bar = self._bar
        if bar.has_class("-asking"):
            bar.remove_class("-asking")
            if self.focused is None or self.focused.id == "line":  # else a click has gone elsewhere already
                self.list_of(self._list_id).focus()
            self._draw_footer()
        if event.answer is not None:  # only now: it may take the focus somewhere
            event.answer()

    def on_ask_bar_typed(self, event: AskBar.Typed) -> None:
        from tui.screens.commands import hint

        self.query_one("#footer", Footer).hint(hint(event.text))

    def action_command(self) -> None:
        self.ask(":", "", self._command, verbs=True)

    def action_export(self) -> None:
        from shlex import quote

        from tui.screens.commands import export_path

        home, name = export_path(self._location.name).split("/", 1)
        self.ask(":", f"export {home}/{quote(name)}", self._command, verbs=True)

    def _command(self, text: str) -> None:
        from tui.screens.commands import run_line

        if text.strip():
            run_line(self, text)

    def ask_first(self, question: str, agreed: Callable[[], None]) -> None:
        """Ask before something is replaced: `y` and Enter go on, everything else leaves it."""

        def answer(text: str) -> None:
            if text.strip().lower() in ("y", "yes", "s", "si", "sí"):
                agreed()
            else:
                self.say("Nothing was changed.")

        self.ask(f"{question} y/n", "", answer)

    def search_for(self, query: str) -> None:
        """Search, as if typed in the search bar."""
        self.query_one(SearchBar).ask(query)

    def open_citation(self, text: str) -> None:
        """Show the record of a citation in the preview."""
        try:
            self.pane.open(parse(text, "fact"))
        except MemorandaError as error:
            self.say(str(error), "warning")

    def action_help(self) -> None:
        from tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen())


def _list_pane(name: str, *classes: str, empty_text: str = "") -> Pane:
    """A list under its title."""
    title = Split(id=f"{name}-title", classes="pane-title")
    rows = RecordList(id=name, empty_text=empty_text)
    return Pane(title, rows, id=f"{name}-pane", classes=" ".join(("pane", *classes)))
