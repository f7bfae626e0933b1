"""Preview changes before applying them: a restore, an undo of a step or of all of an origin; or show past changes.

Every record has a checkbox, and both of its states in the preview. The selection is applied as one new step."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical

from store.base.clock import format_age, format_how_long_ago
from store.base.errors import MemorandaError
from store.history.history import DERIVED_COLUMNS, change_sign, describe_change
from store.history.restore_plan import PlannedChange, RestorePlan
from store.memory import Memory
from store.purge.purge import PurgePlan
from store.purge.word_search import RemainingMatch
from tui.commands.privacy import PurgeReport, place_box, run_purge
from tui.input.key_table import CHANGES_KEYS, PLAN_KEYS, PURGE_KEYS, Key, key_name
from tui.lists.record_rows import WIDE_LIST, NumberedRows, RowLine, row_lines
from tui.lists.view_state import HUGE_COLUMNS, WIDE_COLUMNS
from tui.render.lines import KIND_GLYPHS, StyledLine, compare_rows, format_count, origin_name, writer_name
from tui.screens.base import Application, HelpedScreen
from tui.theme.escape import visible
from tui.theme.line_filters import Piece, pieces_width
from tui.widgets.bars import Footer, Split
from tui.widgets.inputs import AskBar
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList
from tui.workers.engine import Engine

# The base of screens that preview changes: a title, rows with checkboxes, details of the row under the cursor, a
# count, the keys. Subclasses define the rows and the work.


def priority_bindings(keys: Sequence[Key]) -> list[BindingType]:
    """Return bindings of these keys that precede the bindings of the list."""
    return [
        Binding(key.keys, key.action, key.label or key.help, show=False, id=key.id, tooltip=key.help, priority=True)
        for key in keys
    ]


class ChoosingScreen(HelpedScreen[object]):
    """Select rows and apply the selection. Dismisses with the result, or None."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE_COLUMNS, "-wide"), (HUGE_COLUMNS, "-huge")]  # noqa: RUF012 - as Screen declares it
    NAME: ClassVar[str] = ""  # prefix of its widgets' ids
    EMPTY: ClassVar[str] = ""  # text of an empty list
    DEFAULT_CSS = """
    ChoosingScreen {
        layout: vertical; overflow: hidden;
        .choosing-bar { height: 1; padding: 0 1; background: $panel; }
        .choosing-body { height: 1fr; layout: horizontal; }
        .choosing-rows { width: 3fr; height: 1fr; }
        .choosing-preview { width: 2fr; height: 1fr; padding: 0 0 0 1; border-left: solid $line; }
        &.-narrow .choosing-body { layout: vertical; }
        &.-narrow .choosing-rows, &.-narrow .choosing-preview { width: 1fr; border-left: none; }
        &.-narrow .choosing-preview { border-top: solid $line; }
        Footer { height: 1; background: $footer-background; }
    }
    """

    def __init__(self, engine: Engine, form: str) -> None:
        """`form` is the layout's class."""
        super().__init__(classes=form)
        self._engine = engine
        self._working = False
        self.chosen: frozenset[int] = frozenset()

    @property
    @abstractmethod
    def keys(self) -> tuple[Key, ...]:
        """Return the keys of the footer."""

    @abstractmethod
    def draw(self) -> None:
        """Show the rows with their checkboxes, the title and the count."""

    @abstractmethod
    def describe(self, index: int) -> list[StyledLine]:
        """Describe a row."""

    @abstractmethod
    def toggle(self, index: int) -> None:
        """Toggle the selection of a row."""

    def compose(self) -> ComposeResult:
        yield Split(id=f"{self.NAME}-title", classes="choosing-bar")
        with Container(classes="choosing-body"):
            with Vertical(classes="choosing-rows"):
                yield from self.above()
                yield RecordList(id=self.NAME, empty_text=self.EMPTY)
            with Vertical(classes="choosing-preview"):
                yield Preview(id=f"{self.NAME}-preview")
        yield Split(id=f"{self.NAME}-count", classes="choosing-bar")
        yield from self.below()
        yield Footer(id=f"{self.NAME}-footer")

    def on_mount(self) -> None:
        footer = self.query_one(Footer)
        footer.remapped = self.app.remapped  # type: ignore[attr-defined]
        footer.show_keys(self.keys)
        self.draw()
        self.row_list.mark_cells = 1 + (len("[x]") if self.marks() else 0)
        self.row_list.focus()

    @property
    def row_list(self) -> RecordList:
        return self.query_one(f"#{self.NAME}", RecordList)

    def above(self) -> ComposeResult:
        """Yield what stands above the rows."""
        yield from ()

    def below(self) -> ComposeResult:
        """Yield what stands above the keys."""
        yield from ()

    def marks(self) -> bool:
        """Return whether the rows have checkboxes."""
        return True

    def tell(self, sentence: str) -> None:
        self.app.notify(visible(sentence), severity="warning", markup=False)

    # preview

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        self.show_row(event.key)

    def show_row(self, key: object) -> None:
        """Show a row in the preview."""
        rows = self.row_list.rows
        there = rows is not None and rows.index_of(key) is not None
        self.query_one(Preview).show_lines(self.describe(key) if isinstance(key, int) and there else [])

    def action_scroll_preview(self, step: int) -> None:
        self.query_one(Preview).scroll_relative(y=step * 4, animate=False, force=True)

    # selection

    def action_choose(self) -> None:
        if isinstance(self.row_list.cursor_key, int):
            self.toggle(self.row_list.cursor_key)
            self.row_list.action_move(1)

    def on_record_list_marked(self, event: RecordList.Marked) -> None:
        """Handle a click on the checkbox, or with ctrl."""
        marks = event.record_list.marks
        event.record_list.unmark()
        for key in marks:
            if isinstance(key, int) and self.marks():
                self.toggle(key)

    # apply

    def action_leave(self) -> None:
        self.dismiss(None)

    def run_task(self, task: Callable[[Memory], object]) -> None:
        """Run a task on the writer's thread, then dismiss with its result."""
        self._working = True
        self._engine.write(task, self._finish_later)

    def _finish_later(self, result: object, error: MemorandaError | None) -> None:
        if not self._engine.is_closed and self.app.is_running:
            self.app.call_from_thread(self._finish, result, error)

    def _finish(self, result: object, error: MemorandaError | None) -> None:
        self._working = False
        if error is not None:
            self.app.notify(visible(str(error)), severity="error", timeout=8, markup=False)
            self.draw()
        else:
            self.dismiss(result)


PLAN_SIGNS = {"+": ("+", "added"), "-": ("−", "removed"), "~": ("~", "glyph-aging")}
LINE_EDGES = 4  # cells around the two parts of a line, and between them
PLAN_STRATEGIES = {"replace": "replace", "mine": "keep mine", "add": "only add"}
PLAN_KINDS = {
    None: "all kinds",
    "decision": "only decisions",
    "fact": "only facts",
    "link": "only links",
    "mute": "only mutes",
    "task": "only tasks",
}


class PlanRows(NumberedRows):
    """The records of a plan: checkbox, text, effect, author of its present state; of one kind `only`, with what is
    chosen. A row's key is its place in the plan."""

    def __init__(
        self, plan: RestorePlan, chosen: frozenset[int], now: str, looking: bool, only: str | None = None
    ) -> None:
        self._plan = plan
        every = range(len(plan.changes))
        self._order = [at for at in every if only in (None, plan.changes[at].kind) or at in chosen]
        self._chosen = chosen
        self._now = now
        self._looking = looking

    def __len__(self) -> int:
        return len(self._order)

    def key(self, index: int) -> Hashable:
        return self._order[index]

    def lines(self, index: int, width: int) -> list[RowLine]:
        at = self._order[index]
        change = self._plan.changes[at]
        sign, look = PLAN_SIGNS[change_sign(change.then, change.now) if self._looking else change.sign]
        by = (
            visible(f" · {writer_name(change.by.actor)}, {format_age(self._now, change.by.at)}")
            if change.by
            else ""
        )
        says = visible(describe_change(change.then, change.now) if self._looking else change.says)
        chosen = at in self._chosen
        quiet = "" if chosen or self._looking else "dim"
        head: RowLine = [] if self._looking else [_check_box(change, chosen)]
        name, text = _link_words(change) if change.kind == "link" else (change.citation, change.title)
        head += [(f"{sign} ", look if chosen or self._looking else "dim"), (f"{visible(name):<9} ", "dim")]
        return row_lines(head, visible(text), quiet, [(f"{says}{by if width >= WIDE_LIST else ''}", "dim")], width)


def _link_words(change: PlannedChange) -> tuple[str, str]:
    """Return that it is a link, and which commit does what to which decision."""
    commit, _, decision = change.citation.partition(" ")
    return "link", f"{commit} {'relates to' if change.title == 'relates' else change.title} {decision}"


def _check_box(change: PlannedChange, chosen: bool) -> tuple[str, str]:
    """Return the checkbox of a change, with its style."""
    if change.blocked:
        return "[-] ", "rule"
    if chosen:
        return "[x] ", "accent"
    return ("[!] ", "warning") if change.clash else ("[ ] ", "dim")


class PlanScreen(ChoosingScreen):
    """Select the records of a plan to apply. Dismisses with the result, a citation to open, or None."""

    NAME = "plan"
    EMPTY = "Nothing changed."
    DEFAULT_CSS = "PlanScreen.-narrow .choosing-rows { height: 53%; }"  # one line more, for what is above the rows
    BINDINGS: ClassVar[list[BindingType]] = priority_bindings(PLAN_KEYS)

    def __init__(self, engine: Engine, plan: RestorePlan, title: str, note: str, kind: str, form: str) -> None:
        """`kind` is checkpoint, step, origin or since; `note` is shown in the bottom line beside the count."""
        super().__init__(engine, form)
        self._plan = self._whole = plan
        self._heading = title
        self._note = note
        self._kind = kind
        self._strategy = "replace"
        self._only: str | None = None
        self._by_hand: dict[int, bool] = {}  # selected or cleared by the user: overrides proposals
        self.chosen = engine.proposed_changes(plan, self._strategy)

    @property
    def looking(self) -> bool:
        """Return whether the plan only shows past changes."""
        return self._kind == "since"

    @property
    def keys(self) -> tuple[Key, ...]:
        if self.looking:
            return CHANGES_KEYS
        return tuple(key for key in PLAN_KEYS if self._kind == "checkpoint" or key.id != "plan.strategy")

    def above(self) -> ComposeResult:
        """Yield the strategies, and over the right column what it holds: nothing of it has happened yet."""
        if not self.looking:
            yield Split(id="plan-columns", classes="choosing-bar")

    @property
    def _if(self) -> str:
        return "if restored" if self._kind == "checkpoint" else "if undone"

    def marks(self) -> bool:
        return not self.looking

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not self.looking or action not in ("choose", "all", "kind", "strategy")

    def draw(self) -> None:
        rows = PlanRows(self._plan, self.chosen, self._engine.now, self.looking, self._only)
        self.row_list.set_rows(rows)
        self.query_one("#plan-title", Split).put_both([(visible(self._heading), "bold")], [])
        if not self.looking:
            strategies: list[Piece] = []
            if self._kind == "checkpoint":
                looks = {
                    name: "bold $text-accent" if name == self._strategy else "$dim" for name in PLAN_STRATEGIES
                }
                strategies = [("strategy ", "$dim", "strategy")]
                strategies += [
                    (f" {word} ", looks[name], f"choose_strategy('{name}')")
                    for name, word in PLAN_STRATEGIES.items()
                ]
            column: Piece = (f"{self._if} · last changed by", "$dim")
            self.query_one("#plan-columns", Split).put_both(strategies, [column])
            words = {"plan.kind": PLAN_KINDS[self._next_kind], "plan.all": "none" if self.chosen else "all"}
            self.query_one(Footer).show_keys(self.keys, words)
        changes = self._plan.changes
        left: list[Piece] = [(format_count(len(changes), "record"), "")]
        note = self._note
        if not self.looking:
            left = [
                (f"{len(self.chosen):,} of {len(changes):,} chosen", "bold"),
                (f"  {PLAN_KINDS[self._only]}{self._together()}", "", "kind"),
            ]
            narrow = self.has_class("-narrow")
            if clashes := sum(change.clash and not change.blocked for change in changes):
                why = "" if narrow else "changed since: "
                left.append((f"  [!] {clashes:,} {why}kept unless chosen", "$text-warning"))
            if stuck := sum(bool(change.blocked) for change in changes):
                left.append((f"  [-] {stuck:,} cannot{'' if narrow else ' change'}", "$dim"))
            if (
                pieces_width(left) + len(note) + LINE_EDGES > self.app.size.width
            ):  # of the note, keep at least how to undo
                note = note.rpartition("; ")[2]
        self.query_one("#plan-count", Split).put_both(left, [(note, "$dim")])

    def _together(self) -> str:
        """Return what is chosen in addition to the records of the only kind that is shown."""
        others = Counter(self._plan.changes[at].kind for at in self.chosen)
        if self._only is None or not others.pop(self._only, 0) or not others:
            return ""
        return f", with {', '.join(format_count(number, kind) for kind, number in sorted(others.items()))}"

    def describe(self, index: int) -> list[StyledLine]:
        change = self._plan.changes[index]
        says = describe_change(change.then, change.now) if self.looking else f"{self._if}: {change.says}"
        lines: list[StyledLine] = [
            [(change.citation, "cite"), (f"  {change.kind} · {says}", "dim")],
            [(change.title, "title")],
        ]
        if change.by is not None:
            when = format_how_long_ago(self._engine.now, change.by.at)
            what = f"{origin_name(change.by.actor)}, {change.by.door}, {when}, step {change.by.seq}: {change.by.reason}"
            lines.append([("last changed by ", "dim"), (what, "")])
        if change.blocked:
            lines += [[], [(f"Cannot be applied: {change.blocked}", "warning")]]
        elif change.clash and not self.looking:
            lines += [
                [],
                [("It was changed since. Chosen, that change is overwritten; not chosen, it stays.", "warning")],
            ]
        elif self._strategy == "mine" and change.mine:
            stays = ", ".join(name.replace("_", " ") for name in change.mine if name not in DERIVED_COLUMNS)
            kept = f"You changed its {stays} since: "
            kept += "chosen, that is overwritten." if change.by_hand else "that stays, and the rest goes back."
            lines += [[], [(kept, "warning" if change.by_hand else "dim")]]
        if change.needs and not self.looking:
            lines += [[], [("Goes together with ", "dim"), *self._needed_records(change)]]
        now, then = change.now, change.then
        states = compare_rows(then, now) if self.looking else compare_rows(now, then)
        words = "Before − and after +" if self.looking else "As it is − and as it would be +"
        return [*lines, [], [(words, "heading")], *states]

    def _needed_records(self, change: PlannedChange) -> StyledLine:
        """Return the records that a change needs, each once; of its own links only the commit."""
        line: StyledLine = []
        for other in (self._plan.changes[index] for index in change.needs):
            commit, _, decision = other.citation.partition(" ")
            before = ", " if line else ""
            if decision == change.citation:
                line += [(f"{before}its link to ", "dim"), (commit, "cite")]
            elif decision:
                line += [(f"{before}the link of ", "dim"), (commit, "cite"), (" to ", "dim"), (decision, "cite")]
            else:
                line += [(before, "dim"), (commit, "cite")]
        return line

    def toggle(self, index: int) -> None:
        """Select a record with its dependencies, or clear it with all that depend on it."""
        change = self._plan.changes[index]
        if change.blocked:
            self.tell(change.blocked)
            return
        if index in self.chosen:
            self._by_hand[index] = False
            self.chosen -= self._plan.dependents_of(index)
        else:
            wanted = self._plan.requirements_of(index)
            stuck = next(
                (self._plan.changes[other].blocked for other in wanted if self._plan.changes[other].blocked), ""
            )
            if stuck:
                self.tell(stuck)
                return
            self._by_hand[index] = True
            self.chosen |= wanted
        self.draw()

    def action_all(self) -> None:
        every = frozenset(index for index, change in enumerate(self._plan.changes) if not change.blocked)
        self.chosen = frozenset() if self.chosen else every
        self._only, self._by_hand = None, {}
        self.draw()

    @property
    def _next_kind(self) -> str | None:
        """Return the kind of record that `action_kind` shows; None for all."""
        kinds = [None, *(kind for kind in PLAN_KINDS if any(change.kind == kind for change in self._plan.changes))]
        return kinds[(kinds.index(self._only) + 1) % len(kinds)]

    def action_kind(self) -> None:
        self._only = self._next_kind
        self._propose()

    def action_strategy(self) -> None:
        names = list(PLAN_STRATEGIES)
        if self._kind == "checkpoint":
            self.action_choose_strategy(names[(names.index(self._strategy) + 1) % len(names)])

    def action_choose_strategy(self, name: str) -> None:
        self._strategy = name
        self._plan = self._engine.keeping_mine(self._whole) if name == "mine" else self._whole
        self._propose()
        self.show_row(self.row_list.cursor_key)

    def _propose(self) -> None:
        proposed = self._engine.proposed_changes(self._plan, self._strategy)
        if self._only is None:
            self.chosen = proposed
        else:
            mine = [index for index in proposed if self._plan.changes[index].kind == self._only]
            self.chosen = frozenset().union(*map(self._plan.requirements_of, mine))
        for index, wanted in self._by_hand.items():
            if self._only in (None, self._plan.changes[index].kind):
                self.chosen = (
                    self.chosen | self._plan.requirements_of(index)
                    if wanted
                    else self.chosen - self._plan.dependents_of(index)
                )
        self.draw()
        mine = [at for at in self.chosen if self._plan.changes[at].kind == self._only]
        if mine:
            self.row_list.select(min(mine))  # may be scrolled out

    # apply

    def on_record_list_chosen(self, event: RecordList.Chosen) -> None:
        """Handle a double click."""
        if self.looking:
            self.action_apply()

    def action_apply(self) -> None:
        if self.looking:
            key = self.row_list.cursor_key
            if isinstance(key, int):
                self.dismiss(self._plan.changes[key].citation.split(" ")[0])
        elif not self.chosen:
            self.tell(
                f"Nothing is chosen: {key_name('plan.choose')} chooses a record, {key_name('plan.leave')} leaves."
            )
        elif not self._working:
            plan, chosen = self._plan, self.chosen
            self.run_task(lambda memory: memory.plans.apply_plan(plan, chosen))


# Preview a purge: the records, other places with the same words, and which of those are scrubbed too.

Run = Callable[[Memory, frozenset[int]], PurgeReport]

PURGE_KEY_STYLE = "$footer-key-foreground bold"
CITED_CELLS, WHY_CELLS = 13, 18  # cells of a citation, and of the note behind the text


class PurgeRows(NumberedRows):
    """First the records to purge, then the other places that contain their words, one a line."""

    def __init__(self, plan: PurgePlan, chosen: frozenset[int]) -> None:
        self._plan = plan
        self._chosen = chosen

    def __len__(self) -> int:
        return len(self._plan.going) + len(self._plan.places)

    def lines(self, index: int, width: int) -> list[RowLine]:
        at = index - len(self._plan.going)
        if at < 0:
            one = self._plan.going[index]
            mark, look, sign, quiet = "[x] ", "removed", "− ", ""
            cited, text, says = one.citation, one.text, one.why or "erased"
        else:
            place = self._plan.places[at]
            chosen = at in self._chosen
            mark, look = f"{place_box(place, chosen)} ", "accent" if chosen else "dim" if place.can else "rule"
            sign = f"{KIND_GLYPHS['document']} " if place.table == "file" else "~ " if place.can else "  "
            quiet = "" if chosen else "dim"
            cited, text, says = place.citation, place.text, place.what
        head = [(mark, look), (sign, "removed" if at < 0 else look), (f"{visible(cited):<{CITED_CELLS}} ", "dim")]
        return row_lines(head, visible(text), quiet, [(visible(says), "dim")], width)


class PurgeScreen(ChoosingScreen):
    """Confirm a purge with everything listed. Dismisses with its report, or None."""

    NAME = "purge"
    BINDINGS: ClassVar[list[BindingType]] = priority_bindings(PURGE_KEYS)

    def __init__(self, engine: Engine, plan: PurgePlan, form: str, run: Run | None = None, words: str = "") -> None:
        """Show a plan; `run` carries it out with the places that are chosen, once the `words` are typed again."""
        super().__init__(engine, form)
        self._words = words.strip()
        self._plan = plan
        self._run = run or (lambda memory, chosen: run_purge(memory, plan, chosen))
        self.chosen = plan.default_places()

    @property
    def keys(self) -> tuple[Key, ...]:
        return PURGE_KEYS

    def below(self) -> ComposeResult:
        yield AskBar(id="ask")

    def on_mount(self) -> None:
        super().on_mount()
        if self._words:
            self.call_after_refresh(self._ask_again)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys to the line while one types in it."""
        return not self.has_class("-asking") or action not in {key.action.partition("(")[0] for key in PURGE_KEYS}

    def draw(self) -> None:
        self.row_list.set_rows(PurgeRows(self._plan, self.chosen))
        going, places = self._plan.going, self._plan.places
        named = f" {going[0].citation}" if len(going) == 1 else ""
        self.query_one("#purge-title", Split).put_both(
            [(f"ERASE{named}  with all old versions", "bold")], [("This cannot be undone", "$text-error")]
        )
        left: list[Piece] = [(f"{format_count(len(going), 'record')} to erase", "bold")]
        if self._working:
            left = [("Erasing, and checking every byte …", "$text-warning")]
        elif places:
            left.append((f"  in {len(self.chosen):,} of {format_count(len(places), 'other place')} too", ""))
        else:
            left.append(("  no other place holds these words", "$dim"))
        staying = len(places) - len(self.chosen)
        right: list[Piece] = [(f"{staying:,} {'keeps' if staying == 1 else 'keep'} them", "$text-warning")]
        self.query_one("#purge-count", Split).put_both(left, right if staying and not self._working else [])

    def describe(self, index: int) -> list[StyledLine]:
        at = index - len(self._plan.going)
        if at < 0:
            one = self._plan.going[index]
            lines: list[StyledLine] = [
                [(one.citation, "cite"), (f"  {one.kind}", "dim")],
                [(one.text, "title")],
                [],
            ]
            if one.why:
                lines.append([(f"It is erased because it {_reason_words(one.why)}.", "")])
            return [
                *lines,
                [("Erased from its table, its history, the search index and the vectors.", "dim")],
                [("What stays is that something was here, and a keyed hash that knows the text again.", "dim")],
            ]
        place = self._plan.places[at]
        lines = [
            [(place.citation, "cite"), (f"  {place.what}", "dim")],
            [(place.text, "title")],
            [],
            [(_place_effect(place, at in self.chosen), "" if at in self.chosen else "warning")],
        ]
        return [*lines, [(f"{_capitalize(place.note)}.", "dim")]] if place.note else lines

    def toggle(self, index: int) -> None:
        """Toggle whether a place is scrubbed."""
        at = index - len(self._plan.going)
        if at < 0:
            self.tell("This record is erased. Leave, and choose other records, to keep it.")
        elif not self._plan.places[at].can:
            self.tell(
                f"{self._plan.places[at].citation} is not Memoranda's to change: {self._plan.places[at].what}."
            )
        else:
            self._choose(self.chosen ^ {at})

    def action_all(self) -> None:
        """Select all places that can be scrubbed, or none."""
        every = self._plan.default_places()
        self._choose(frozenset() if self.chosen == every else every)

    def _choose(self, chosen: frozenset[int]) -> None:
        self.chosen = chosen
        self.draw()
        self.show_row(self.row_list.cursor_key)  # the preview shows the effect on the place

    # apply

    def action_leave(self) -> None:
        if not self._working:
            super().action_leave()

    def action_apply(self) -> None:
        if self._working:
            return
        if self._words:
            self._ask_again()
        else:
            self._erase()

    def _ask_again(self) -> None:
        """Let the words be typed again."""
        self.query_one(AskBar).ask(f"type “{self._words}” again to erase it", "", self._check_typed)
        self.query_one(Footer).hint(
            (" enter", PURGE_KEY_STYLE, "submit"),
            (" erases it ", "", "submit"),
            (" esc", PURGE_KEY_STYLE, "back"),
            (" to choose ", "", "back"),
        )

    def _check_typed(self, text: str) -> None:
        if text.strip().casefold() == self._words.casefold():
            self._erase()
        else:
            self.tell(f"That is not “{self._words}”: nothing was erased.")

    def on_ask_bar_left(self, event: AskBar.Left) -> None:
        self.query_one(AskBar).hide()
        self.row_list.focus()
        self.query_one(Footer).show_keys(self.keys)
        if event.answer is not None:
            event.answer()
        cast("Application", self.app).release_keys()

    def action_submit(self) -> None:
        """Enter, for a click."""
        self.query_one(AskBar).submit()

    def action_back(self) -> None:
        """Escape, for a click."""
        self.query_one(AskBar).leave()

    def _erase(self) -> None:
        run, chosen = self._run, self.chosen
        self.run_task(lambda memory: run(memory, chosen))
        self.draw()

    def _finish(self, result: object, error: MemorandaError | None) -> None:
        if error is None:
            self._engine.subjects.clear()  # cached texts of purged records
        super()._finish(result, error)


def _reason_words(why: str) -> str:
    """Return a reason as the end of a sentence."""
    return f"is {why}" if why.startswith("replaced") else why


def _place_effect(place: RemainingMatch, chosen: bool) -> str:
    """Describe the effect of a purge on a place."""
    if not place.can:
        return "Memoranda does not change it: it is named, so that you can."
    if place.table == "file":
        cut = "This is cut out of your file, and nothing else. This cannot be undone."
        return cut if chosen else "It stays. Chosen, this is cut out of your file, and nothing else."
    return "Its words are cut, also from its past; the rest of it stays." if chosen else "It stays as it is."


def _capitalize(words: str) -> str:
    """Capitalize the first letter."""
    return words[:1].upper() + words[1:]
