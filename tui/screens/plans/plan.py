"""Preview changes before applying them: a restore, an undo of a step or of all of an origin; or show past changes.

Every record has a checkbox, and both of its states in the preview. The selection is applied as one new step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from store.base.clock import ago, how_long_ago
from store.history.change_summary import FOLLOWS, happened
from store.history.change_summary import sign as sign_of
from tui.input.key import Key
from tui.input.key_table import named
from tui.input.plan_keys import LOOKING_KEYS, PLAN_KEYS
from tui.lists.numbered_rows import NumberedRows
from tui.lists.record_rows import WIDE as ROOMY
from tui.lists.wrapping import Pairs, row
from tui.render.field_diff import Line, compare, who
from tui.render.line_parts import writer
from tui.render.plurals import count
from tui.screens.plans.selection import ChoosingScreen, bound
from tui.theme.escape import visible
from tui.theme.pieces import Piece, width
from tui.widgets.bars import Footer, Split
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from store.history.restore_plan import Plan, PlannedChange
    from tui.workers.engine import Engine

SIGNS = {"+": ("+", "added"), "-": ("−", "removed"), "~": ("~", "glyph-aging")}
EDGES = 4  # cells around the two parts of a line, and between them
STRATEGIES = {"replace": "replace", "mine": "keep mine", "add": "only add"}
KINDS = {
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

    def __init__(self, plan: Plan, chosen: frozenset[int], now: str, looking: bool, only: str | None = None) -> None:
        self._plan = plan
        every = range(len(plan.changes))
        self._order = [at for at in every if only in (None, plan.changes[at].kind) or at in chosen]
        self._place = {at: index for index, at in enumerate(self._order)}
        self._chosen = chosen
        self._now = now
        self._looking = looking

    def __len__(self) -> int:
        return len(self._order)

    def key(self, index: int) -> Hashable:
        return self._order[index]

    def index_of(self, key: Hashable) -> int | None:
        return self._place.get(key) if isinstance(key, int) else None

    def lines(self, index: int, width: int) -> list[Pairs]:
        at = self._order[index]
        change = self._plan.changes[at]
        sign, look = SIGNS[sign_of(change.then, change.now) if self._looking else change.sign]
        by = visible(f" · {writer(change.by.actor)}, {ago(self._now, change.by.at)}") if change.by else ""
        says = visible(happened(change.then, change.now) if self._looking else change.says)
        chosen = at in self._chosen
        quiet = "" if chosen or self._looking else "dim"
        head: Pairs = [] if self._looking else [_box(change, chosen)]
        name, text = _link(change) if change.kind == "link" else (change.citation, change.title)
        head += [(f"{sign} ", look if chosen or self._looking else "dim"), (f"{visible(name):<9} ", "dim")]
        return row(head, visible(text), quiet, [(f"{says}{by if width >= ROOMY else ''}", "dim")], width)


def _link(change: PlannedChange) -> tuple[str, str]:
    """Return that it is a link, and which commit does what to which decision."""
    commit, _, decision = change.citation.partition(" ")
    return "link", f"{commit} {'relates to' if change.title == 'relates' else change.title} {decision}"


def _box(change: PlannedChange, chosen: bool) -> tuple[str, str]:
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
    BINDINGS: ClassVar[list[BindingType]] = bound(PLAN_KEYS)

    def __init__(self, engine: Engine, plan: Plan, title: str, note: str, kind: str, form: str) -> None:
        """`kind` is checkpoint, step, origin or since; `note` is shown in the bottom line beside the count."""
        super().__init__(engine, form)
        self._plan = self._whole = plan
        self._heading = title
        self._note = note
        self._kind = kind
        self._strategy = "replace"
        self._only: str | None = None
        self._by_hand: dict[int, bool] = {}  # selected or cleared by the user: overrides proposals
        self.chosen = engine.proposed(plan, self._strategy)

    @property
    def looking(self) -> bool:
        """Return whether the plan only shows past changes."""
        return self._kind == "since"

    @property
    def keys(self) -> tuple[Key, ...]:
        if self.looking:
            return LOOKING_KEYS
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
        self.rows.set_rows(rows)
        self.query_one("#plan-title", Split).put_both([(visible(self._heading), "bold")], [])
        if not self.looking:
            strategies: list[Piece] = []
            if self._kind == "checkpoint":
                looks = {name: "bold $text-accent" if name == self._strategy else "$dim" for name in STRATEGIES}
                strategies = [("strategy ", "$dim", "strategy")]
                strategies += [
                    (f" {word} ", looks[name], f"choose_strategy('{name}')") for name, word in STRATEGIES.items()
                ]
            column: Piece = (f"{self._if} · last changed by", "$dim")
            self.query_one("#plan-columns", Split).put_both(strategies, [column])
            words = {"plan.kind": KINDS[self._next_kind], "plan.all": "none" if self.chosen else "all"}
            self.query_one(Footer).show_keys(self.keys, words)
        changes = self._plan.changes
        left: list[Piece] = [(count(len(changes), "record"), "")]
        note = self._note
        if not self.looking:
            left = [
                (f"{len(self.chosen):,} of {len(changes):,} chosen", "bold"),
                (f"  {KINDS[self._only]}{self._together()}", "", "kind"),
            ]
            narrow = self.has_class("-narrow")
            if clashes := sum(change.clash and not change.blocked for change in changes):
                why = "" if narrow else "changed since: "
                left.append((f"  [!] {clashes:,} {why}kept unless chosen", "$text-warning"))
            if stuck := sum(bool(change.blocked) for change in changes):
                left.append((f"  [-] {stuck:,} cannot{'' if narrow else ' change'}", "$dim"))
            if width(left) + len(note) + EDGES > self.app.size.width:  # of the note, keep at least how to undo
                note = note.rpartition("; ")[2]
        self.query_one("#plan-count", Split).put_both(left, [(note, "$dim")])

    def _together(self) -> str:
        """Return what is chosen together with the records of the one kind that is."""
        others = Counter(self._plan.changes[at].kind for at in self.chosen)
        if self._only is None or not others.pop(self._only, 0) or not others:
            return ""
        return f", with {', '.join(count(number, kind) for kind, number in sorted(others.items()))}"

    def describe(self, index: int) -> list[Line]:
        change = self._plan.changes[index]
        says = happened(change.then, change.now) if self.looking else f"{self._if}: {change.says}"
        lines: list[Line] = [
            [(change.citation, "cite"), (f"  {change.kind} · {says}", "dim")],
            [(change.title, "title")],
        ]
        if change.by is not None:
            when = how_long_ago(self._engine.now, change.by.at)
            what = f"{who(change.by.actor)}, {change.by.door}, {when}, step {change.by.seq}: {change.by.reason}"
            lines.append([("last changed by ", "dim"), (what, "")])
        if change.blocked:
            lines += [[], [(f"Cannot be applied: {change.blocked}", "warning")]]
        elif change.clash and not self.looking:
            lines += [
                [],
                [("It was changed since. Chosen, that change is overwritten; not chosen, it stays.", "warning")],
            ]
        elif self._strategy == "mine" and change.mine:
            stays = ", ".join(name.replace("_", " ") for name in change.mine if name not in FOLLOWS)
            kept = f"You changed its {stays} since: "
            kept += "chosen, that is overwritten." if change.by_hand else "that stays, and the rest goes back."
            lines += [[], [(kept, "warning" if change.by_hand else "dim")]]
        if change.needs and not self.looking:
            lines += [[], [("Goes together with ", "dim"), *self._others(change)]]
        now, then = change.now, change.then
        states = compare(then, now) if self.looking else compare(now, then)
        words = "Before − and after +" if self.looking else "As it is − and as it would be +"
        return [*lines, [], [(words, "heading")], *states]

    def _others(self, change: PlannedChange) -> Line:
        """Return the records that a change needs, each once; of its own links only the commit."""
        line: Line = []
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
            self.chosen -= self._plan.against(index)
        else:
            wanted = self._plan.required_with(index)
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
        kinds = [None, *(kind for kind in KINDS if any(change.kind == kind for change in self._plan.changes))]
        return kinds[(kinds.index(self._only) + 1) % len(kinds)]

    def action_kind(self) -> None:
        self._only = self._next_kind
        self._propose()

    def action_strategy(self) -> None:
        names = list(STRATEGIES)
        if self._kind == "checkpoint":
            self.action_choose_strategy(names[(names.index(self._strategy) + 1) % len(names)])

    def action_choose_strategy(self, name: str) -> None:
        self._strategy = name
        self._plan = self._engine.keeping_mine(self._whole) if name == "mine" else self._whole
        self._propose()
        self.show(self.rows.cursor_key)

    def _propose(self) -> None:
        proposed = self._engine.proposed(self._plan, self._strategy)
        if self._only is None:
            self.chosen = proposed
        else:
            mine = [index for index in proposed if self._plan.changes[index].kind == self._only]
            self.chosen = frozenset().union(*map(self._plan.required_with, mine))
        for index, wanted in self._by_hand.items():
            if self._only in (None, self._plan.changes[index].kind):
                self.chosen = (
                    self.chosen | self._plan.required_with(index) if wanted else self.chosen - self._plan.against(index)
                )
        self.draw()
        mine = [at for at in self.chosen if self._plan.changes[at].kind == self._only]
        if mine:
            self.rows.select(min(mine))  # may be scrolled out

    # apply

    def on_record_list_chosen(self, event: RecordList.Chosen) -> None:
        """Handle a double click."""
        if self.looking:
            self.action_apply()

    def action_apply(self) -> None:
        if self.looking:
            key = self.rows.cursor_key
            if isinstance(key, int):
                self.dismiss(self._plan.changes[key].citation.split(" ")[0])
        elif not self.chosen:
            self.tell(f"Nothing is chosen: {named('plan.choose')} chooses a record, {named('plan.leave')} leaves.")
        elif not self._working:
            plan, chosen = self._plan, self.chosen
            self.work(lambda memory: memory.plans.apply(plan, chosen))
