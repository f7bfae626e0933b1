"""Before a text goes for good: what goes, what else holds the same words, and which of that is scrubbed too."""

from __future__ import annotations

from collections.abc import Hashable, Set
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical

from store.errors import MemorandaError
from tui.commands import count
from tui.commands.purging import box
from tui.compare import Line
from tui.display import fit
from tui.keys import PURGE_KEYS
from tui.responsive import ResponsiveScreen
from tui.rows import Pairs
from tui.screens.view import HUGE, WIDE
from tui.visible import visible
from tui.widgets.bars import Footer, Piece, Split
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from store.memory import Memory
    from store.purge import Done, PurgePlan, Verdict
    from tui.engine import Engine

NAME, WHY = 13, 18  # cells of a citation, and of what stands behind the text


class PurgeRows:
    """First the records that go, then the other places that hold their words, one a line."""

    def __init__(self, plan: PurgePlan, chosen: frozenset[int]) -> None:
        self._plan = plan
        self._chosen = chosen

    def __len__(self) -> int:
        return len(self._plan.going) + len(self._plan.places)

    def selectable(self, index: int) -> bool:
        return True

    def key(self, index: int) -> Hashable:
        return index

    def index_of(self, key: Hashable) -> int | None:
        return key if isinstance(key, int) and key < len(self) else None

    def among(self, keys: Set[Hashable]) -> frozenset[Hashable]:
        return frozenset(key for key in keys if self.index_of(key) is not None)

    def segments(self, index: int, width: int) -> Pairs:
        at = index - len(self._plan.going)
        if at < 0:
            one = self._plan.going[index]
            mark, look, sign, quiet = "[x] ", "removed", "− ", ""
            cited, text, says = one.citation, one.text, one.why or "goes"
        else:
            place = self._plan.places[at]
            chosen = at in self._chosen
            mark, look = f"{box(place, chosen)} ", "accent" if chosen else "dim" if place.can else "rule"
            sign, quiet = ("~ " if place.can else "  "), "" if chosen else "dim"
            cited, text, says = place.citation, place.text, place.what
        cells = WHY if width >= 60 else 0
        body = max(4, width - 7 - NAME - (cells + 2 if cells else 0))
        return [
            (mark, look),
            (sign, "removed" if at < 0 else look),
            (fit(visible(cited), NAME) + " ", "dim"),
            (fit(visible(text), body), quiet),
            (f"  {fit(visible(says), cells)}" if cells else "", "dim"),
        ]


class PurgeScreen(ResponsiveScreen[object]):
    """Ask once, showing all of it. Ends with (what was done, the proof), or None."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide"), (HUGE, "-huge")]  # noqa: RUF012 - as Screen declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key.keys, key.action, key.label or key.help, show=False, id=key.id, tooltip=key.help, priority=True)
        for key in PURGE_KEYS
    ]
    DEFAULT_CSS = """
    PurgeScreen {
        layout: vertical; overflow: hidden;
        .plan-bar { height: 1; padding: 0 1; background: $panel; }
        #purge-body { height: 1fr; layout: horizontal; }
        #purge-pane { width: 3fr; height: 1fr; }
        #purge-preview-pane { width: 2fr; height: 1fr; padding: 0 0 0 1; border-left: solid $line; }
        &.-narrow #purge-body { layout: vertical; }
        &.-narrow #purge-pane, &.-narrow #purge-preview-pane { width: 1fr; border-left: none; }
        &.-narrow #purge-preview-pane { border-top: solid $line; }
        Footer { height: 1; background: $footer-background; }
    }
    """

    def __init__(self, engine: Engine, plan: PurgePlan, form: str) -> None:
        super().__init__(classes=form)
        self._engine = engine
        self._plan = plan
        self._purging = False
        self.chosen = plan.proposed()

    def compose(self) -> ComposeResult:
        yield Split(id="purge-title", classes="plan-bar")
        with Container(id="purge-body"):
            with Vertical(id="purge-pane"):
                yield RecordList(id="purge")
            with Vertical(id="purge-preview-pane"):
                yield Preview(id="purge-preview")
        yield Split(id="purge-count", classes="plan-bar")
        yield Footer(id="purge-footer")

    def on_mount(self) -> None:
        self.app.clear_notifications()  # what was said before would cover what is asked here
        footer = self.query_one(Footer)
        footer.remapped = self.app.remapped  # type: ignore[attr-defined]
        footer.show_keys(PURGE_KEYS)
        self._draw()
        rows = self.query_one("#purge", RecordList)
        rows.mark_cells = 1 + len("[x]")
        rows.focus()

    def _draw(self) -> None:
        rows = self.query_one("#purge", RecordList)
        rows.set_rows(PurgeRows(self._plan, self.chosen))
        rows.refresh_rows()
        going, places = self._plan.going, self._plan.places
        named = f" {going[0].citation}" if len(going) == 1 else ""
        self.query_one("#purge-title", Split).put_both(
            [(f"PURGE{named}  out for good, with its past", "bold")], [("no undo brings it back", "$text-error")]
        )
        left: list[Piece] = [(f"{count(len(going), 'record')} {'goes' if len(going) == 1 else 'go'}", "bold")]
        if self._purging:
            left = [("Purging, and reading every byte to prove it …", "$text-warning")]
        elif places:
            left.append((f"  {len(self.chosen):,} of {count(len(places), 'other place')} scrubbed", ""))
        else:
            left.append(("  no other place holds these words", "$dim"))
        staying = len(places) - len(self.chosen)
        right: list[Piece] = [(f"{staying:,} {'keeps' if staying == 1 else 'keep'} them", "$text-warning")]
        self.query_one("#purge-count", Split).put_both(left, right if staying and not self._purging else [])

    # the preview

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        index = event.key
        self.query_one(Preview).show(self._describe(index) if isinstance(index, int) else [])

    def _describe(self, index: int) -> list[Line]:
        at = index - len(self._plan.going)
        if at < 0:
            one = self._plan.going[index]
            lines: list[Line] = [[(one.citation, "cite"), (f"  {one.kind}", "dim")], [(one.text, "title")], []]
            if one.why:
                lines.append([(f"It goes because it {_verb(one.why)}.", "")])
            return [
                *lines,
                [("Goes from its table, its history, the search index and the vectors.", "dim")],
                [("What stays is that something was here, and a keyed hash that knows the text again.", "dim")],
            ]
        place = self._plan.places[at]
        what = (
            "Its words are cut, also from its past; the rest of it stays."
            if at in self.chosen
            else "It stays as it is."
        )
        if not place.can:
            what = "Memoranda does not change it: it is named, so that you can."
        return [
            [(place.citation, "cite"), (f"  {place.what}", "dim")],
            [(place.text, "title")],
            [],
            [(what, "" if at in self.chosen else "warning")],
        ]

    def action_scroll_preview(self, step: int) -> None:
        self.query_one(Preview).scroll_relative(y=step * 4, animate=False, force=True)

    # choosing

    def action_choose(self) -> None:
        rows = self.query_one("#purge", RecordList)
        if isinstance(rows.cursor_key, int):
            self.toggle(rows.cursor_key)
            rows.action_move(1)

    def on_record_list_marked(self, event: RecordList.Marked) -> None:
        """A click on the box, or with ctrl."""
        marks = event.record_list.marks
        event.record_list.unmark()
        for key in marks:
            if isinstance(key, int):
                self.toggle(key)

    def toggle(self, index: int) -> None:
        """Scrub a place too, or leave it as it is."""
        at = index - len(self._plan.going)
        if at < 0:
            self._tell("That is what goes. Leave, and choose other records, if it should stay.")
        elif not self._plan.places[at].can:
            self._tell(f"{self._plan.places[at].citation} is not Memoranda's to change: {self._plan.places[at].what}.")
        else:
            self.chosen ^= {at}
            self._draw()

    def action_all(self) -> None:
        every = frozenset(at for at, place in enumerate(self._plan.places) if place.can)
        self.chosen = frozenset() if self.chosen == every else every
        self._draw()

    # the end

    def action_leave(self) -> None:
        if not self._purging:
            self.dismiss(None)

    def action_apply(self) -> None:
        if self._purging:
            return
        self._purging = True
        self._draw()
        plan, chosen = self._plan, self.chosen
        self._engine.write(lambda memory: _purge(memory, plan, chosen), self._done)

    def _done(self, result: object, error: MemorandaError | None) -> None:
        if not self._engine.closed and self.app.is_running:
            self.app.call_from_thread(self._finish, result, error)

    def _finish(self, result: object, error: MemorandaError | None) -> None:
        self._purging = False
        if error is not None:
            self._draw()
            self.app.notify(visible(str(error)), severity="error", timeout=8, markup=False)
        else:
            self._engine.subjects.clear()  # texts that were shown
            self.dismiss(result)

    def _tell(self, sentence: str) -> None:
        self.app.notify(visible(sentence), severity="warning", markup=False)


def _purge(memory: Memory, plan: PurgePlan, chosen: frozenset[int]) -> tuple[Done, list[Verdict]]:
    from tui.commands.purging import verified

    done = memory.purge.run(plan, chosen)
    return done, verified(memory, plan, done)


def _verb(why: str) -> str:
    return f"is {why}" if why.startswith("superseded") else why
