"""Show what would happen, before anything does: a restore, an undo, an erasure; or what changed between two moments.

Every line has a checkbox, and both of its states in the preview. Enter dismisses with what is chosen; whoever showed
the plan carries it out, as one step of history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical

from store.memory import Memory
from store.text.display import format_count, visible
from tui.input.key_table import PLAN_KEYS, key_name
from tui.lists.record_rows import ListedRows, Row, RowLine, row_lines
from tui.render.lines import StyledLine
from tui.screens.base import HelpedScreen
from tui.screens.dialogs import Form, FormField
from tui.theme.line_filters import Piece, pieces_width
from tui.theme.styles import read_css
from tui.widgets.bars import Bar, Split, bind_key
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList

PLAN_KEY_STYLE = "$footer-key-foreground bold"
# cells of a citation, at least
CITED_CELLS = 9
# kinds in the order in which they are shown alone; then others
FIRST_KINDS = ("decision", "fact", "link", "task")
# cells around the two parts of a line, and between them
LINE_EDGES = 4


class PlanLine(NamedTuple):
    """What would happen to one thing: a sign with its look, what it is, its text and a note at the right. `describe`
    gets whether it is chosen. `stuck` says why it cannot be chosen, `stays` why it cannot be left out; `warned` marks
    what overwrites another change. Enter opens `opens` where there is nothing to choose."""

    key: Hashable
    text: str
    cited: str = ""
    note: str = ""
    sign: tuple[str, str] = ("  ", "")
    kind: str = ""
    describe: Callable[[bool], list[StyledLine]] = lambda chosen: []
    stuck: str = ""
    stays: str = ""
    warned: bool = False
    opens: str = ""


def _alone(key: Hashable) -> frozenset[Hashable]:
    return frozenset((key,))


@dataclass(frozen=True)
class Plan:
    """What would happen: its lines, those `chosen` at first, and `do`, which gets the memory and what was chosen.
    `requires` and `dependents` return the lines that are chosen, or left out, together with one. `strategies` make
    other plans of the same title; `word` must be typed again before it is done; with `looks` it only shows, and Enter
    opens a record."""

    title: str
    lines: Sequence[PlanLine]
    do: Callable[[Memory, frozenset[Any]], Any]
    chosen: frozenset[Hashable] = frozenset()
    note: str = ""
    column: str = ""
    does: str = "apply"
    requires: Callable[[Any], frozenset[Hashable]] = _alone
    dependents: Callable[[Any], frozenset[Hashable]] = _alone
    strategies: Mapping[str, Callable[[], Plan]] = field(default_factory=dict)
    strategy: str = ""
    word: str = ""
    looks: bool = False


def plan_rows(plan: Plan, chosen: frozenset[Hashable], only: str = "") -> ListedRows:
    """Return the lines of a plan with their checkboxes; of one kind `only`, with what is chosen."""
    lines = [one for one in plan.lines if only in ("", one.kind) or one.key in chosen]
    cells = max([CITED_CELLS, *(len(one.cited) for one in lines)])
    return ListedRows(
        [Row(one.key, partial(_draw_line, one, plan.looks, one.key in chosen, cells), one) for one in lines]
    )


def _draw_line(one: PlanLine, looks: bool, chosen: bool, most_cells: int, width: int) -> list[RowLine]:
    """Draw a line of a plan, with its checkbox unless the plan only `looks`."""
    chosen = chosen or bool(one.stays)
    quiet = "" if chosen or looks else "dim"
    head: RowLine = [] if looks else [_check_box(one, chosen)]
    cells = min(most_cells, max(CITED_CELLS, width // 4))
    sign, look = one.sign
    head += [(f"{sign} ", quiet or look), (f"{visible(one.cited):<{cells}} ", "dim")]
    return row_lines(head, visible(one.text), quiet, [(visible(one.note), "dim")], width)


def _check_box(one: PlanLine, chosen: bool) -> tuple[str, str]:
    """Return the checkbox of a line, with its look."""
    if one.stuck:
        return "[-] ", "rule"
    if chosen:
        return "[x] ", "removed" if one.stays else "accent"
    return ("[!] ", "warning") if one.warned else ("[ ] ", "dim")


class PlanScreen(HelpedScreen[Any]):
    """Choose the lines of a plan. Dismisses with (the plan, the keys chosen), with the citation of a record to open, or
    with None."""

    BINDINGS: ClassVar[list[BindingType]] = [bind_key(key, priority=True) for key in PLAN_KEYS]
    DEFAULT_CSS = read_css(__file__)

    def __init__(self, plan: Plan, form: str) -> None:
        """`form` is the layout's class."""
        super().__init__(classes=form)
        self.plan = plan
        self.chosen = plan.chosen
        # the kind that is shown alone
        self._only = ""
        # chosen or left out by the person, whatever is proposed
        self._by_hand: dict[Hashable, bool] = {}
        self._lines = {one.key: one for one in plan.lines}

    def compose(self) -> ComposeResult:
        yield Split(id="plan-title", classes="plan-bar")
        with Container(id="plan-body"):
            with Vertical(id="plan-rows"):
                if self.plan.column or self.plan.strategies:
                    yield Split(id="plan-columns", classes="plan-bar")
                yield RecordList(id="plan", empty_text="Nothing changed.")
            with Vertical(id="plan-more"):
                yield Preview(id="plan-preview")
        yield Split(id="plan-count", classes="plan-bar")
        yield Bar(id="plan-footer")

    def on_mount(self) -> None:
        self.draw()
        self.row_list.mark_cells = 1 if self.plan.looks else 1 + len("[x]")
        self.row_list.focus()

    @property
    def row_list(self) -> RecordList:
        return self.query_one("#plan", RecordList)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave only the keys that do something to this plan; all to the form that is open over it."""
        hidden = {"choose", "all", "kind", "strategy"} if self.plan.looks else set()
        hidden |= set() if self.plan.strategies else {"strategy"}
        return self.app.screen is self and action not in hidden

    def draw(self) -> None:
        """Show the lines with their checkboxes, the title, the count and the keys."""
        plan, lines = self.plan, self.plan.lines
        self.row_list.set_rows(plan_rows(plan, self.chosen, self._only))
        self.query_one("#plan-title", Split).put_both([(visible(plan.title), "bold")], [])
        if plan.column or plan.strategies:
            looks = {name: "bold $text-accent" if name == plan.strategy else "$dim" for name in plan.strategies}
            ways: list[Piece] = [
                (f" {name} ", looks[name], f"take_strategy({name!r})") for name in plan.strategies
            ]
            left: list[Piece] = [("strategy ", "$dim", "strategy"), *ways] if ways else []
            self.query_one("#plan-columns", Split).put_both(left, [(plan.column, "$dim")])
        left = [(format_count(len(lines), "record"), "")]
        narrow, note = self.has_class("-narrow"), plan.note
        if not plan.looks:
            going = sum(bool(one.stays) for one in lines)
            count = f"{len(self.chosen) + going:,} of {len(lines):,} chosen"
            left = [(count, "bold"), (f"  {self._kind_words}", "", "kind")] if self._kinds else [(count, "bold")]
            if clashes := sum(one.warned and not one.stuck for one in lines):
                why = "" if narrow else "changed since: "
                left.append((f"  [!] {clashes:,} {why}kept unless chosen", "$text-warning"))
            if stuck := sum(bool(one.stuck) for one in lines):
                left.append((f"  [-] {stuck:,} cannot{'' if narrow else ' change'}", "$dim"))
            if pieces_width(left) + len(note) + LINE_EDGES > self.app.size.width:
                # of the note, keep at least how to undo
                note = note.rpartition("; ")[2]
        look = "$text-error" if plan.word else "$dim"
        self.query_one("#plan-count", Split).put_both(left, [(note, look)])
        self._draw_keys()

    def _draw_keys(self) -> None:
        words = {"plan.apply": self.plan.does, "plan.all": "none" if self.chosen else "all"}
        words["plan.kind"] = f"only {self._next_kind}s" if self._next_kind else "all kinds"
        pieces: list[Piece] = []
        for key in PLAN_KEYS:
            shown = key.label and self.check_action(key.action, ()) is not False
            if shown and (key.id != "plan.kind" or self._kinds):
                word = words.get(key.id, key.label)
                pieces += [(f" {key_name(key.id)}", PLAN_KEY_STYLE, key.action), (f" {word} ", "", key.action)]
        self.query_one("#plan-footer", Bar).set_pieces(*pieces)

    # the kinds

    @property
    def _kinds(self) -> list[str]:
        """The kinds of the records, if there are several."""
        there = dict.fromkeys(one.kind for one in self.plan.lines if one.kind)
        kinds = [kind for kind in dict.fromkeys((*FIRST_KINDS, *there)) if kind in there]
        return kinds if len(kinds) > 1 else []

    @property
    def _next_kind(self) -> str:
        order = ["", *self._kinds]
        return order[(order.index(self._only) + 1) % len(order)] if self._only in order else ""

    @property
    def _kind_words(self) -> str:
        """What is shown alone, and what is chosen in addition to it."""
        if not self._only:
            return "all kinds"
        others = Counter(self._lines[key].kind for key in self.chosen)
        others.pop(self._only, None)
        more = ", ".join(format_count(number, kind) for kind, number in sorted(others.items()))
        return f"only {self._only}s{f', with {more}' if more else ''}"

    def action_kind(self) -> None:
        self._only = self._next_kind
        self._propose()

    # the preview

    def on_record_list_highlighted(self) -> None:
        self._describe()

    def _describe(self) -> None:
        key = self.row_list.cursor_key
        line = self._lines.get(key)
        self.query_one(Preview).show_lines([] if line is None else line.describe(key in self.chosen))

    def action_scroll_preview(self, step: int) -> None:
        self.query_one(Preview).scroll_relative(y=step * 4, animate=False, force=True)

    # choosing

    def action_choose(self) -> None:
        if self.row_list.cursor_key is not None:
            self._toggle(self.row_list.cursor_key)
            self.row_list.action_move(1)

    def on_record_list_marked(self, event: RecordList.Marked) -> None:
        """Handle a click on the checkbox, or with ctrl."""
        marks = event.record_list.marks
        event.record_list.unmark()
        for key in marks if not self.plan.looks else ():
            self._toggle(key)

    def _toggle(self, key: Hashable) -> None:
        """Choose a line with those that it requires, or leave it out with all that depend on it."""
        on = key not in self.chosen
        with_it = self.plan.requires(key) if on else self.plan.dependents(key)
        reasons = [line.stays or line.stuck for line in map(self._lines.__getitem__, with_it)]
        if on and any(reasons):
            self._warn(next(filter(None, reasons)))
            return
        self._by_hand[key] = on
        self.chosen = self.chosen | with_it if on else self.chosen - with_it
        self.draw()
        self._describe()

    def action_all(self) -> None:
        every = frozenset(one.key for one in self.plan.lines if not one.stuck and not one.stays)
        self.chosen = frozenset() if self.chosen else every
        self._only, self._by_hand = "", {}
        self.draw()

    def action_strategy(self) -> None:
        names = list(self.plan.strategies)
        self.action_take_strategy(names[(names.index(self.plan.strategy) + 1) % len(names)])

    def action_take_strategy(self, name: str) -> None:
        self.plan = self.plan.strategies[name]()
        self._lines = {one.key: one for one in self.plan.lines}
        self._propose()
        self._describe()

    def _propose(self) -> None:
        """Choose what the plan proposes, of one kind if only that is shown; what was chosen by hand stays."""
        proposed = self.plan.chosen
        if self._only:
            mine = [key for key in proposed if self._lines[key].kind == self._only]
            proposed = frozenset().union(*map(self.plan.requires, mine))
        for key, wanted in self._by_hand.items():
            if self._only in ("", self._lines[key].kind):
                proposed = proposed | self.plan.requires(key) if wanted else proposed - self.plan.dependents(key)
        self.chosen = proposed
        self.draw()
        mine = [one.key for one in self.plan.lines if one.key in proposed and one.kind == self._only]
        if mine:
            # may be scrolled out
            self.row_list.select(mine[0])

    # the end

    def on_record_list_chosen(self) -> None:
        """Handle a double click."""
        if self.plan.looks:
            self.action_apply()

    def action_apply(self) -> None:
        line = self._lines.get(self.row_list.cursor_key)
        if self.plan.looks:
            self.dismiss(line.opens if line is not None else None)
        elif not self.chosen and not any(one.stays for one in self.plan.lines):
            said = f"Nothing is chosen: {key_name('plan.choose')} chooses, {key_name('plan.leave')} leaves."
            self._warn(said)
        elif self.plan.word:
            typed = FormField("word", f"This cannot be undone. Type {self.plan.word} to go on.")
            self.app.push_screen(Form(self.plan.title, [typed], does=self.plan.does), self._check_word)
        else:
            self.dismiss((self.plan, self.chosen))

    def _check_word(self, given: Mapping[str, str] | None) -> None:
        if given is None:
            return
        if given["word"].strip().casefold() == self.plan.word.casefold():
            self.dismiss((self.plan, self.chosen))
        else:
            self._warn(f"That is not “{self.plan.word}”: nothing was changed.")

    def _warn(self, said: str) -> None:
        self.app.notify(visible(said), severity="warning", markup=False)

    def action_leave(self) -> None:
        self.dismiss(None)
