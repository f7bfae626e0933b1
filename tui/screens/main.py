"""The main screen: facts, timeline, search and the preview of whatever the cursor is on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Input

from store.errors import MemorandaError
from store.location import Location
from tui.keys import KEYS
from tui.responsive import ResponsiveScreen
from tui.visible import visible
from tui.widgets.bars import Bar, CommandBar, Footer, Split
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from store.models import Commit, Record
    from store.search import Answer
    from tui.describe import Line
    from tui.engine import Engine, FactView, Lists

DEBOUNCE = 0.12  # seconds after the last letter before a search starts (TUI §2)
POLL = 0.5  # seconds between looks for what other processes wrote; a look takes some 10 µs
DIFF_DELAY = 0.1  # seconds a commit must stay under the cursor before git is asked for its diff
DOMAIN_ORDER = (None, "work", "preferences", "decisions", "personal", "projects", "general", "self_correction")


class MainScreen(ResponsiveScreen[None]):
    """Lists left, the preview right (below, where it is narrow), one line of truth on top."""

    HORIZONTAL_BREAKPOINTS: ClassVar[list[tuple[int, str]] | None] = [(0, "-narrow"), (100, "-wide")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key.keys, key.action, key.label or key.help, show=False, id=key.id, tooltip=key.help) for key in KEYS
    ]
    DEFAULT_CSS = """
    MainScreen {
        layout: vertical; overflow: hidden;
        #top { height: 1; background: $panel; }
        #search { height: 1; padding: 0 1; }
        #search > #slash { width: 2; }
        #search > Input { width: 1fr; height: 1; border: none; padding: 0; background: transparent; }
        #search > #found { width: auto; max-width: 50%; }
        #body { height: 1fr; layout: horizontal; }
        .pane { width: 1fr; height: 1fr; }
        .pane > .pane-title { height: 1; padding: 0 1; color: $foreground 70%; }
        .pane:focus-within > .pane-title { color: $text-accent; text-style: bold; }
        #facts-pane { width: 11fr; } #timeline-pane { width: 11fr; } #hits-pane { width: 22fr; display: none; }
        #preview-pane { width: 12fr; }
        Preview { padding: 0; }
        #ask { height: 1; display: none; background: $panel; }
        #ask > #label { width: auto; padding: 0 1; }
        #ask > CommandBar { width: 1fr; height: 1; border: none; padding: 0; background: transparent; }
        &.-asking #ask { display: block; }
        #footer { height: 1; background: $footer-background; }
        &.-searching #facts-pane, &.-searching #timeline-pane { display: none; }
        &.-searching #hits-pane { display: block; }
        &.-wide #timeline-pane, &.-wide #preview-pane { border-left: solid $foreground 20%; }
        &.-narrow #body { layout: vertical; }
        &.-narrow .pane { width: 1fr; }
        &.-narrow #facts-pane.-behind, &.-narrow #timeline-pane.-behind { display: none; }
        &.-narrow #preview-pane { border-top: solid $foreground 20%; }
        &.-narrow #preview-title { display: none; }
    }
    """

    def __init__(self, location: Location, cwd: str) -> None:
        super().__init__()
        self._location = location
        self._cwd = cwd
        self.engine: Engine | None = None
        self._view: FactView | None = None
        self._lists: Lists | None = None
        self._counts: dict[str, int] = {}
        self._record: Record | None = None  # what the preview shows
        self._trail: list[Record] = []  # the records that citations were followed from
        self._list_id = "facts"  # the list the person was in last
        self._reading = self._stale = False  # whether the lists are being read, and must be read again
        self._seen = 0  # the memory's version that the lists show
        self._step = 0  # the newest step of history that was shown
        self._query = ""
        self._searches = 0
        self._debounce: Timer | None = None
        self._diff_timer: Timer | None = None
        self._status = "opening"
        self._note = ""  # what a bar shows instead of the keys

    # what is on the screen

    def compose(self) -> ComposeResult:
        yield Split(id="top")
        with Horizontal(id="search"):
            yield Bar("/ ", id="slash")
            yield Bar("", id="found")
        with Container(id="body"):
            for name in ("facts", "timeline", "hits"):
                with Vertical(id=f"{name}-pane", classes="pane"):
                    yield Split(id=f"{name}-title", classes="pane-title")
                    yield RecordList(id=name)
            with Vertical(id="preview-pane", classes="pane"):
                yield Bar("", id="preview-title", classes="pane-title")
                yield Preview(id="preview")
        with Horizontal(id="ask"):
            yield Bar("", id="label")
        yield Footer(id="footer")

    def on_mount(self) -> None:
        self.query_one("#timeline-pane").add_class("-behind")
        self._list("facts").focus()
        self._draw_top()
        self._draw_titles()
        self.call_after_refresh(self._start)

    def _start(self) -> None:
        """After the first frame: all that takes time."""
        self._open()
        search = Input(id="query", compact=True, select_on_focus=False)
        search.placeholder = "search everything"
        self.query_one("#search").mount(search, after="#slash")
        self.query_one("#ask").mount(CommandBar(_complete, id="line"))
        self.set_interval(POLL, self._look)

    def _list(self, name: str) -> RecordList:
        return self.query_one(f"#{name}", RecordList)

    @property
    def _preview(self) -> Preview:
        return self.query_one("#preview", Preview)

    # opening, reading, catching up

    @work(thread=True, group="open", exit_on_error=False, description="open the memory")
    def _open(self) -> None:
        from tui.engine import FIRST, Engine, FactView

        try:
            engine = Engine(self._location, self._cwd)
            view = FactView()
            first = engine.lists(view, FIRST)
        except MemorandaError as error:
            self.app.call_from_thread(self.app.exit, None, 1, visible(str(error)))
            return
        self.app.call_from_thread(self._opened, engine, view, first)
        self._catch_up(engine)

    def _opened(self, engine: Engine, view: FactView, first: Lists) -> None:
        self.engine = engine
        self._view = view
        self._status = ""
        for warning in engine.screen.database.warnings:
            self.say(warning, "warning", timeout=15)
        if engine.created:
            self.say(f"Started a memory for {self._location.name}: {self._location.path}")
        self._step = engine.screen.database.value("SELECT max(seq) FROM history") or 0
        self._list("facts").empty_text = "No facts yet.\n\na adds the first one: what should be remembered here?"
        self._list(
            "timeline"
        ).empty_text = "Nothing happened here yet.\n\nDecisions, commits and events will stand here."
        self._list("hits").empty_text = "Nothing found.\n\nTry fewer words, or without kind: domain: since: before: is:"
        self._show_lists(first)
        self.reload()

    def _catch_up(self, engine: Engine) -> None:
        """On the opening thread: read what git has and the timeline lacks."""

        def progress(done: int, total: int) -> None:
            if total > 200 and not engine.closed:
                self.later(self._show_status, f"reading git {done:,} of {total:,}" if done < total else "")

        try:
            new = engine.catch_up(progress)
        except MemorandaError as error:
            self.later(self.say, f"The timeline could not catch up with git: {error}", "warning")
            return
        self.later(self._show_status, "")
        if new:
            self.later(self.say, f"Read {new:,} new commit{'' if new == 1 else 's'} from git.")

    def later(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function on the screen's thread; once the app is ending, not at all."""
        if self.engine is not None and not self.engine.closed and self.app.is_running:
            self.app.call_from_thread(function, *arguments)

    def _look(self) -> None:
        """Look whether anybody wrote, in this process or another."""
        if self.engine is not None and self.engine.screen.database.changed() != self._seen:
            self.reload()

    def reload(self) -> None:
        """Read the order of both lists again, soon; one reading at a time."""
        if self._reading:
            self._stale = True
        elif self.engine is not None:
            self._reading, self._stale = True, False
            self._seen = self.engine.screen.database.changed()
            self._read_lists()

    @work(thread=True, group="lists", exit_on_error=False, description="read the lists")
    def _read_lists(self) -> None:
        assert self.engine is not None and self._view is not None
        try:
            lists = self.engine.lists(self._view)
        except MemorandaError as error:
            self.later(self._failed, error)
            return
        self.later(self._show_lists, lists)

    def _failed(self, error: MemorandaError) -> None:
        self._reading = False
        self.say(str(error), "error")

    def _show_lists(self, lists: Lists) -> None:
        self._lists = lists
        if lists.whole:
            self._counts = lists.counts
            self._reading = False
        self._list("facts").set_rows(lists.facts)
        self._list("timeline").set_rows(lists.timeline)
        self._flash_changes()
        self._draw_top()
        self._draw_titles()
        if self._stale:
            self.reload()

    def _flash_changes(self) -> None:
        """Light the rows that someone else changed since the last reading."""
        assert self.engine is not None
        rows = self.engine.screen.database.rows(
            "SELECT seq, door, json_extract(pk, '$[0]') FROM history_row JOIN history USING(seq)"
            " WHERE seq > ? AND tbl = 'facts' ORDER BY seq LIMIT 200",
            (self._step,),
        )
        for seq, door, number in rows:
            self._step = max(self._step, seq)
            if door != "app":
                self._list("facts").flash(number)

    # the bars

    def _show_status(self, status: str) -> None:
        self._status = status
        self._draw_top()

    def _draw_top(self) -> None:
        counts = self._counts
        right: list[tuple[str, str]] = []
        if self._status:
            right.append((f"{self._status}   ", "$text-warning"))
        if counts:
            right.append((_count(counts["active"], "fact"), ""))
            for state, style in (("aging", "$text-warning"), ("low", "$foreground 60%"), ("stale", "$text-error")):
                if counts[state]:
                    right.append((f"  {counts[state]:,} {state}", style))
        right.append((" ", ""))
        left = [(" memoranda", "bold $text-accent"), (f"  {self._location.name}", "bold")]
        self.query_one("#top", Split).put_both(left, right)

    def _draw_titles(self) -> None:
        view, lists = self._view, self._lists
        facts = f"{len(lists.facts):,}" if lists and lists.whole else ""
        entries = f"{lists.entries:,}" if lists and lists.whole else ""
        narrow = self.has_class("-narrow")
        about = []
        if view is not None:
            about = [part for part in (view.domain, f"“{view.words}”" if view.words else "") if part]
            about.append({"oldest": "by age", "newest": "newest first"}.get(view.sort, f"by {view.sort}"))
        hidden = self._counts.get("forgotten", 0), self._counts.get("superseded", 0)
        left_out = "  ".join(f"{n:,} {word}" for n, word in zip(hidden, ("forgotten", "superseded"), strict=True) if n)
        if view is not None and view.hidden:
            left_out = "all shown: H hides"
        elif left_out:
            left_out += " hidden: H"
        if narrow:
            tabs = [("1 facts ", facts), ("2 timeline ", entries)]
            for index, name in enumerate(("facts", "timeline")):
                left = [
                    (f"{label}{number}   ", "bold $text-accent" if place == index else "$foreground 50%")
                    for place, (label, number) in enumerate(tabs)
                ]
                right = " · ".join([*about, left_out] if left_out else about) if name == "facts" else "newest first"
                self.query_one(f"#{name}-title", Split).put_both(left, [(right, "$foreground 60%")])
        else:
            title = [("FACTS ", ""), (facts, "$foreground 60%"), (f"  {'  '.join(about)}", "$foreground 60%")]
            self.query_one("#facts-title", Split).put_both(title, [(left_out, "$foreground 50%")])
            timeline = [("TIMELINE ", ""), (entries, "$foreground 60%")]
            self.query_one("#timeline-title", Split).put_both(timeline, [("newest first", "$foreground 50%")])

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw_titles)

    def on_descendant_focus(self) -> None:
        focused = self.focused
        if isinstance(focused, RecordList) and focused.id:
            self._list_id = focused.id
            self._follow(focused)
        self._draw_footer()

    def _draw_footer(self) -> None:
        focused = self.focused
        footer = self.query_one("#footer", Footer)
        if isinstance(focused, RecordList | Preview):
            footer.show_pane(focused.id or "")

    def say(self, text: str, severity: str = "information", timeout: float = 4) -> None:
        """A toast; never markup, whoever wrote the text."""
        self.app.notify(visible(text), severity=severity, timeout=timeout, markup=False)  # type: ignore[arg-type]

    # the preview

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        if event.record_list.id == self._list_id:
            self._follow(event.record_list)

    def on_record_list_chosen(self, event: RecordList.Chosen) -> None:
        self._preview.focus()
        self._preview.select(1)

    def _follow(self, source: RecordList) -> None:
        """Show what the cursor of a list is on."""
        self._trail.clear()
        record = self._at(source)
        if record is None:
            self._record = None
            self._preview.show([])
            self.query_one("#preview-title", Bar).put(("", ""))
        else:
            self._show(record)

    def _at(self, source: RecordList) -> Record | None:
        """The record under a list's cursor."""
        key = source.cursor_key
        if self.engine is None or not isinstance(key, int):
            return None
        if source.id == "facts":
            return self.engine.read_facts([key]).get(key)
        return self.engine.read_entries([key]).get(key)

    def _show(self, record: Record) -> None:
        from store.models import Checkpoint, Commit
        from tui.describe import describe

        assert self.engine is not None
        self._record = record
        self.query_one("#preview-title", Bar).put((record.citation, ""))
        if self._diff_timer is not None:
            self._diff_timer.stop()
        if isinstance(record, Checkpoint):
            self._preview.show([[(record.citation, "cite"), ("  checkpoint", "dim")], [(record.name, "title")]])
            self._describe(record)
            return
        self._preview.show(describe(self.engine.screen, record), record.citation)
        if isinstance(record, Commit):
            self._diff_timer = self.set_timer(DIFF_DELAY, lambda: self._read_diff(record))

    @work(thread=True, group="describe", exclusive=True, exit_on_error=False, description="describe a checkpoint")
    def _describe(self, record: Record) -> None:
        """What takes longer than a frame: a checkpoint's distance from now."""
        from store.memory import Memory
        from tui.describe import describe

        with Memory(self._location, "app", create=False) as memory:
            lines = describe(memory, record)
        self.later(self._described, record, lines)

    def _described(self, record: Record, lines: list[Line]) -> None:
        if record is self._record:
            self._preview.show(lines, record.citation)

    @work(thread=True, group="diff", exclusive=True, exit_on_error=False, description="read a commit's diff")
    def _read_diff(self, commit: Commit) -> None:
        assert self.engine is not None
        try:
            lines = self.engine.diff(commit)
        except MemorandaError as error:
            lines = [[(f"No diff: {error}", "dim")]]
        self.later(self._add_diff, commit, lines)

    def _add_diff(self, commit: Commit, lines: list[Line]) -> None:
        if commit is self._record and lines:
            self._preview.extend([[], *lines])

    def on_preview_opened(self, event: Preview.Opened) -> None:
        from store import records

        if self.engine is None:
            return
        try:
            found = records.lookup(self.engine.screen.database, event.citation)
        except MemorandaError as error:
            self.say(str(error), "warning")
            return
        if self._record is not None:
            self._trail.append(self._record)
        self._show(found)
        self._preview.focus()
        self._preview.select(1)

    def action_open(self) -> None:
        if self.focused is self._preview and not self._preview.open_selected():
            self._preview.select(1)

    def action_citation(self, step: int) -> None:
        if self.focused is not self._preview:
            self._preview.focus()
        self._preview.select(step)

    def action_back(self) -> None:
        if self._trail:
            self._show(self._trail.pop())
            self._preview.select(1)
        elif self.focused is self._preview:
            self._list(self._list_id).focus()

    def action_scroll_preview(self, step: int) -> None:
        self._preview.scroll_relative(y=step * 4, animate=False)

    # panes

    def action_pane(self, name: str) -> None:
        if name in ("facts", "timeline"):
            self._end_search()
            for other in ("facts", "timeline"):
                self.query_one(f"#{other}-pane").set_class(other != name, "-behind")
        self._list(name).focus()

    def action_next_pane(self, step: int) -> None:
        lists = ["hits"] if self.has_class("-searching") else ["facts", "timeline"]
        order = [*lists, "preview"]
        focused = self.focused.id if self.focused is not None else None
        place = order.index(focused) if focused in order else -1 if step > 0 else 0
        name = order[(place + step) % len(order)]
        if name == "preview":
            self._preview.focus()
        elif name == "hits":
            self._list("hits").focus()
        else:
            self.action_pane(name)

    def action_leave(self) -> None:
        if self.has_class("-asking"):
            self._end_asking()
        elif self.focused is self._preview:
            self._list(self._list_id).focus()
        elif self.has_class("-searching"):
            self._end_search()
            self._list("facts" if not self.query_one("#facts-pane").has_class("-behind") else "timeline").focus()

    # facts: order and filters

    def _change_view(self, **changes: object) -> None:
        from dataclasses import replace

        if self._view is not None:
            self._view = replace(self._view, **changes)  # type: ignore[arg-type]
            self._draw_titles()
            self.reload()

    def action_sort(self) -> None:
        if self._view is not None:
            orders = ("oldest", "state", "domain", "newest", "text")
            self._change_view(sort=orders[(orders.index(self._view.sort) + 1) % len(orders)])

    def action_domain(self) -> None:
        if self._view is not None:
            place = DOMAIN_ORDER.index(self._view.domain)
            self._change_view(domain=DOMAIN_ORDER[(place + 1) % len(DOMAIN_ORDER)])

    def action_hidden(self) -> None:
        if self._view is not None:
            self._change_view(hidden=not self._view.hidden)

    # search

    def action_search(self) -> None:
        self.query_one("#query", Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "query" and self.engine is not None:
            event.stop()
            self._searches += 1
            self._query = event.value
            self.engine.interrupt()
            if self._debounce is not None:
                self._debounce.stop()
            if event.value.strip():
                self._debounce = self.set_timer(DEBOUNCE, self._seek)
            else:
                self.remove_class("-searching")
                self.query_one("#found", Bar).update("")
        elif event.input.id == "line":
            event.stop()
            self._hint(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "query" and event.value.strip():
            self.add_class("-searching")
            self._list("hits").focus()

    def on_key(self, event: object) -> None:
        key = getattr(event, "key", "")
        focused = self.focused
        if isinstance(focused, Input) and focused.id == "query" and key in ("down", "escape"):
            event.stop()
            if key == "down" and self.has_class("-searching"):
                self._list("hits").focus()
            elif key == "escape":
                self._end_search()
                self._list("facts" if not self.query_one("#facts-pane").has_class("-behind") else "timeline").focus()

    def _seek(self) -> None:
        self._search_now(self._query, self._searches)

    @work(thread=True, group="search", exclusive=True, exit_on_error=False, description="search")
    def _search_now(self, query: str, number: int) -> None:
        assert self.engine is not None
        try:
            answer = self.engine.search(query)
        except MemorandaError as error:
            self.later(self.say, str(error), "error")
            return
        if answer is not None and number == self._searches:
            self.later(self._found, answer, number)

    def _found(self, answer: Answer, number: int) -> None:
        from tui.rows import HitRows

        if number != self._searches or self.engine is None or not self._query.strip():
            return
        self._list_id = "hits"
        self.add_class("-searching")
        hits = self._list("hits")
        hits.set_rows(HitRows(answer.hits, self.engine.screen.now), keep=False)
        note = f"{answer.notes[0]}   " if answer.notes else ""
        self.query_one("#found", Bar).update(f"{visible(note)}{answer.total:,} found  {answer.milliseconds:.0f} ms")
        shown = f"best {len(answer.hits)}" if answer.total > len(answer.hits) else "best first"
        self.query_one("#hits-title", Split).put_both(
            [("FOUND ", ""), (f"{answer.total:,}", "$foreground 60%")], [(shown, "")]
        )
        self._follow(hits)

    def _end_search(self) -> None:
        if self.query("#query"):
            self._searches += 1
            self.query_one("#query", Input).value = ""
        self.remove_class("-searching")
        if self._list_id == "hits":
            self._list_id = "facts"

    # changing the memory

    def _target(self) -> Record | None:
        """The record that a key is about: the one in the preview, which is the one under the cursor."""
        if self._record is None:
            self.say("Nothing is selected.", "warning")
        return self._record

    def _write(self, work: Callable[..., object], said: str) -> None:
        """Do something with the pen, then say so and show it."""
        assert self.engine is not None
        self.engine.write(work, lambda result, error: self.later(self._written, said, error))

    def _written(self, said: str, error: MemorandaError | None) -> None:
        if error is not None:
            self.say(str(error), "error", timeout=8)
            return
        self.say(said)
        self.refresh_records()

    def refresh_records(self) -> None:
        """Show at once what a write changed on screen, then read the lists again."""
        for name in ("facts", "timeline"):
            rows = self._list(name).rows
            drop = getattr(rows, "drop_pages", None)
            if drop is not None:
                drop()
                self._list(name).refresh_rows()
        self.reload()
        if self._record is not None and self.engine is not None:
            self._show_again()

    def _show_again(self) -> None:
        """The preview's record as it is now."""
        from store import records
        from store.citations import parse

        assert self.engine is not None and self._record is not None
        try:
            self._show(records.lookup(self.engine.screen.database, parse(self._record.citation)))
        except MemorandaError:
            self._follow(self._list(self._list_id))

    def action_forget(self) -> None:
        from store.models import Decision, Fact

        record = self._target()
        if isinstance(record, Fact):
            rows = self._list("facts").rows
            self._write(lambda memory: memory.facts.forget([record.id]), "Forgot 1 fact, u to undo")
            hide = getattr(rows, "without", None)
            if hide is not None and self._view is not None and not self._view.hidden:
                self._list("facts").set_rows(hide(record.id))
        elif isinstance(record, Decision):
            self._write(lambda memory: memory.decisions.forget([record.id]), "Forgot 1 decision, u to undo")
        elif record is not None:
            self.say("Only facts and decisions can be forgotten; the rest is a journal.", "warning")

    def action_confirm(self) -> None:
        from store.models import Fact

        record = self._target()
        if isinstance(record, Fact):
            self._write(lambda memory: memory.facts.confirm([record.id]), f"Confirmed {record.citation}, u to undo")
        elif record is not None:
            self.say("Only facts are confirmed.", "warning")

    def action_pin(self) -> None:
        from store.models import Fact

        record = self._target()
        if isinstance(record, Fact):
            said = "Unpinned" if record.pinned else "Pinned"
            self._write(
                lambda memory: memory.facts.pin([record.id], not record.pinned), f"{said} {record.citation}, u to undo"
            )
        elif record is not None:
            self.say("Only facts are pinned.", "warning")

    def action_add(self) -> None:
        self._ask("remember", "", self._add)

    def _add(self, text: str) -> None:
        self._end_asking()
        if not text.strip():
            return
        domain = (self._view.domain if self._view else None) or "general"

        def work(memory: object) -> object:
            return memory.facts.remember(text, domain=domain)  # type: ignore[attr-defined]

        def done(result: object, error: MemorandaError | None) -> None:
            number, new = result if isinstance(result, tuple) else (0, True)
            said = f"Remembered F#{number}, u to undo" if new else f"F#{number} was known already: confirmed"
            self.later(self._written, said, error)

        assert self.engine is not None
        self.engine.write(work, done)

    def action_correct(self) -> None:
        from store.models import Decision, Fact

        record = self._target()
        if isinstance(record, Fact):
            self._ask(f"correct {record.citation}", record.fact, lambda text: self._correct(record, text))
        elif isinstance(record, Decision):
            self._ask(f"{record.citation} now chooses", record.chosen, lambda text: self._correct(record, text))
        elif record is not None:
            self.say("Only facts and decisions are corrected.", "warning")

    def _correct(self, record: Record, text: str) -> None:
        from store.models import Fact

        self._end_asking()
        if isinstance(record, Fact):
            self._write(lambda memory: memory.facts.correct(record.id, text), f"Corrected {record.citation}, u to undo")
        else:
            said = f"Superseded {record.citation}, u to undo"
            self._write(lambda memory: memory.decisions.correct(record.id, text), said)

    def action_undo(self) -> None:
        self._take_back("undo", "Took back")

    def action_redo(self) -> None:
        self._take_back("redo", "Put back")

    def _take_back(self, name: str, said: str) -> None:
        from tui.engine import touched

        def work(memory: object) -> object:
            step = getattr(memory.history, name)()  # type: ignore[attr-defined]
            return step, touched(step, memory)  # type: ignore[arg-type]

        def done(result: object, error: MemorandaError | None) -> None:
            self.later(self._taken_back, said, result, error)

        if self.engine is not None:
            self.engine.write(work, done)

    def _taken_back(self, said: str, result: object, error: MemorandaError | None) -> None:
        if error is not None:
            self.say(str(error), "warning")
            return
        step, number = result  # type: ignore[misc]
        self.say(f"{said}: {step.reason}")
        self.refresh_records()
        if number is not None:
            self._list("facts").flash(number)

    # the command bar

    def action_command(self) -> None:
        self._ask(":", "", self._command)

    def action_export(self) -> None:
        self._ask(":", f"export {self._location.name}-memory.json", self._command)

    def _ask(self, label: str, value: str, answer: Callable[[str], None]) -> None:
        if self.engine is None or not self.query("#line"):
            return
        self.query_one("#label", Bar).update(visible(label))
        self.add_class("-asking")
        line = self.query_one("#line", CommandBar)
        line.ask(label, value, answer)
        line.focus()

    def _end_asking(self) -> None:
        if self.has_class("-asking"):
            self.remove_class("-asking")
            self.query_one("#footer", Footer).show_pane("")
            self._list(self._list_id).focus()
            self._draw_footer()

    def on_command_bar_left(self) -> None:
        self._end_asking()

    def _hint(self, text: str) -> None:
        """While a verb is being typed, the footer says how it is used."""
        from tui.verbs import find

        found = find(text.split()) if self.query_one("#line", CommandBar).placeholder == ":" else None
        footer = self.query_one("#footer", Footer)
        if found:
            usage = " ".join(argument.usage for argument in found[0].arguments)
            footer.hint(f" {found[0].name} {usage}   {found[0].summary}")
        else:
            footer.hint(" enter does it   esc leaves   tab completes")

    def _command(self, text: str) -> None:
        self._end_asking()
        if text.strip():
            from tui.screens.commands import run_line

            run_line(self, text)

    # what the `:` bar asks of the screen

    def ask_first(self, question: str, agreed: Callable[[], None]) -> None:
        """Ask before something is replaced: `y` and Enter go on, everything else leaves it."""

        def answer(text: str) -> None:
            self._end_asking()
            if text.strip().lower() in ("y", "yes", "s", "si", "sí"):
                agreed()
            else:
                self.say("Nothing was changed.")

        self._ask(f"{question}  y/n", "", answer)

    def show_facts(self, domain: str | None, words: str, hidden: bool, sort: str) -> None:
        """Go to the facts, filtered."""
        from store.facts import SORTS
        from store.vocabulary import DOMAINS

        if (domain is not None and domain not in DOMAINS) or sort not in SORTS:
            self.say(f"Domains: {', '.join(DOMAINS)}. Orders: {', '.join(SORTS)}.", "warning")
            return
        self._change_view(domain=domain, words=words, hidden=hidden, sort=sort)
        self.action_pane("facts")

    def search_for(self, query: str) -> None:
        """Search, as if typed in the search bar."""
        search = self.query_one("#query", Input)
        search.value = query
        search.cursor_position = len(query)
        search.focus()

    def open_citation(self, text: str) -> None:
        """Show the record of a citation in the preview."""
        from store.citations import parse

        try:
            self.on_preview_opened(Preview.Opened(parse(text, "fact")))
        except MemorandaError as error:
            self.say(str(error), "warning")

    def read_out(self, title: str, lines: list[str]) -> None:
        """Show a verb's text in the preview."""
        self._record = None
        self._trail.clear()
        self.query_one("#preview-title", Bar).put((title, ""))
        self._preview.show([[(line, "")] for line in lines])
        self._preview.focus()

    def action_help(self) -> None:
        from tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen())


def _count(things: int, word: str) -> str:
    return f"{things:,} {word}" if things == 1 else f"{things:,} {word}s"


def _complete(text: str) -> str:
    """What `tab` makes of a verb's beginning: the verb, or as far as all that start so agree."""
    import os

    from tui.verbs import BY_NAME, SLASH

    slash = "/" if text.startswith("/") else ""
    start = text.removeprefix("/")
    names = sorted({name for name in (*BY_NAME, *SLASH) if name.startswith(start)})
    if not names:
        return text
    return f"{slash}{names[0]} " if len(names) == 1 else slash + os.path.commonprefix(names)
